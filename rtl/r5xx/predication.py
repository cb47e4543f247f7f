"""Predicates as gates of writes.

Source: CTM Guide p. 29.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import PredicateSelect

_ALPHA = 3


def gates(m: Module, common: data.View, predicates: Value) -> Value:
    """Channels, 4 bits, that a lane's predicates (red in bit 0) let an instruction write. Combinational.

    `common` is the instruction's `COMMON` word.
    """
    rgb = _gate(m, Value.cast(common.rgb_pred_sel), common.rgb_pred_inv, predicates)
    alpha = _gate(m, Value.cast(common.alpha_pred_sel), common.alpha_pred_inv, predicates)
    return Cat(rgb[:_ALPHA], alpha[_ALPHA])


def _gate(m: Module, select: Value, inverted: Value, predicates: Value) -> Signal:
    """For each channel, whether the selected predicate lets it write; no predicate, inverted, never does."""
    bits = Signal(CHANNELS, name="gate")
    m.d.comb += bits.eq(~inverted.replicate(CHANNELS))
    with m.Switch(select):
        with m.Case(PredicateSelect.RGBA.value):
            m.d.comb += bits.eq(predicates ^ inverted.replicate(CHANNELS))
        for channel in range(CHANNELS):
            with m.Case(PredicateSelect.RRRR.value + channel):
                m.d.comb += bits.eq((predicates[channel] ^ inverted).replicate(CHANNELS))
    return bits
