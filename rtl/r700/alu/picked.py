"""The group that the ALU decodes.

Source: docs/design/r700-core.md.
"""

from dataclasses import dataclass

from amaranth import Signal, Value
from amaranth.lib import data


@dataclass(frozen=True, kw_only=True, eq=False)
class PickedGroup:
    """The group that is decoded; `now`: there is one, and its decoding is complete.

    `falling`: it was issued for some pixels; `pixels` are those for which it is still to be issued.
    """

    now: Value
    context: Signal
    group: data.View
    clause: data.View
    masks: data.View
    falling: Value
    pixels: Signal
