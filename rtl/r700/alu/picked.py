"""The group that the ALU picks for an interval and decodes in it, to issue it in the next one.

Source: docs/design/r700-core.md.
"""

from dataclasses import dataclass

from amaranth import Signal, Value
from amaranth.lib import data

from ctm.rtl.r700.alu.pixel_decode import PixelDecode


@dataclass(frozen=True, kw_only=True, eq=False)
class PickedGroup:
    """The group that was picked, valid in all cycles of the interval in which it is decoded."""

    now: Value
    """There is one, and this is the interval's last cycle, in which it is decoded."""
    context: Signal
    group: data.View
    """By `GROUP`."""
    clause: data.View
    """The context's clause, by `alu_clause_layout`."""
    masks: data.View
    """The context's masks, by `masks_layout`."""
    replays: Value
    """It was issued before, for other pixels with other indices."""
    pixels: Signal
    """The pixels for which it is still to be issued."""


@dataclass(frozen=True, kw_only=True, eq=False)
class VerifiedGroup:
    """The group at the end of its decoding, valid with `PickedGroup.now`: it stops, misses or is issued."""

    decode: PixelDecode
    budget: Value
    """Instructions that its wavefront may still execute, with this one."""
    problem: data.View
    """By `PROBLEM`."""
    stops: Value
    """It stops its wavefront by the problem."""
    misses: Value
    """It needs constants that are not loaded."""
    goes: Signal
    """It is issued, as it neither stops nor misses."""
    last: Signal
    """It needs no further issue for other pixels."""
    others: Signal
    """The pixels for which it has to be issued again, unless this is the last time."""
    pixels: Value
    """The pixels that have the indices of this issue: all, if it is not relative to AR."""
