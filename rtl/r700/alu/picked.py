"""The group that the ALU decodes in an interval, to issue it in the next one.

Source: docs/design/r700-core.md.
"""

from dataclasses import dataclass

from amaranth import Signal, Value
from amaranth.lib import data

from ctm.rtl.r700.alu.decode import GroupDecode


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


@dataclass(frozen=True, kw_only=True, eq=False)
class VerifiedGroup:
    """What becomes of it: it stops its wavefront by a `problem`, it `misses` constants, or it `goes` to the pipeline.

    It goes for `pixels`. It has to be issued again for the `others`, unless it is the `last` time. Its wavefront may
    execute `budget` more instructions.
    """

    decode: GroupDecode
    budget: Value
    problem: data.View
    stops: Value
    misses: Value
    goes: Signal
    last: Signal
    others: Signal
    pixels: Value
