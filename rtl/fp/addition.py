"""Exact sums of two terms that alignment.py brings to one exponent."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data

from ctm.rtl.fp.alignment import LOW_BITS
from ctm.rtl.fp.number import raw_layout

_BESIDE_SUM = raw_layout(0)
_UNCHANGED = ("exponent", "zero_sign", "infinite", "nan", "truncate")


def raw_beside_sum(m: Module, left: data.View, right: data.View, shift: data.View, *, headroom: int) -> data.View:
    """The raw sum as far as exponents, signs and special values decide it.

    `left` and `right` are operands or terms, `shift` their distance; `headroom` bits lie above the leading one of the
    term that is not shifted. There is no significand yet, which `add` gives.
    """
    raw = Signal(_BESIDE_SUM, name="raw_beside_sum")
    # Which term is larger is known last.
    left_sign = Mux(right.infinite & ~left.infinite, right.sign, left.sign)
    right_sign = Mux(left.infinite, left.sign, right.sign)
    m.d.comb += [
        raw.exponent.eq(shift.exponent + headroom),
        raw.sign.eq(Mux(shift.shifts_left_term, right_sign, left_sign)),
        raw.zero_sign.eq(left.zero & right.zero & left.sign & right.sign),
        raw.nan.eq(left.nan | right.nan | (left.infinite & right.infinite & (left.sign != right.sign))),
        raw.infinite.eq(left.infinite | right.infinite),
    ]
    return raw


def add(m: Module, raw: data.View, larger: Value, smaller: Value, subtract: Value) -> data.View:
    """`raw` with the sum or difference of `larger` and the aligned `smaller`.

    Both differences are computed at once, because of terms of about one exponent either may be larger.
    """
    forward, backward, swapped = _forward(m, larger, smaller, subtract), Signal(len(larger) + LOW_BITS + 1), Signal()
    total = Signal(raw_layout(len(forward)), name="total")
    m.d.comb += [
        backward.eq(smaller - _widened(larger)),
        swapped.eq(subtract & forward[-1]),
        *(getattr(total, name).eq(getattr(raw, name)) for name in _UNCHANGED),
        total.significand.eq(Mux(swapped, backward, forward)),
        total.sign.eq(raw.sign ^ (swapped & ~raw.infinite)),
    ]
    return total


def add_in_order(m: Module, raw: data.View, larger: Value, smaller: Value, subtract: Value) -> data.View:
    """As `add`, where `larger` is known to be no smaller."""
    forward = _forward(m, larger, smaller, subtract)
    total = Signal(raw_layout(len(forward)), name="total")
    m.d.comb += [
        *(getattr(total, name).eq(getattr(raw, name)) for name in (*_UNCHANGED, "sign")),
        total.significand.eq(forward),
    ]
    return total


def _forward(m: Module, larger: Value, smaller: Value, subtract: Value) -> Signal:
    """The sum, or `larger` - `smaller`, by one carry chain: of a difference the complement, and a carry from below."""
    wide_larger = _widened(larger)
    bits = len(wide_larger) + 1
    forward = Signal(bits, name="forward")
    complement = Cat(smaller, Const(0, bits - len(smaller))) ^ subtract.replicate(bits)
    m.d.comb += forward.eq((Cat(subtract, wide_larger) + Cat(subtract, complement))[1:])
    return forward


def _widened(larger: Value) -> Value:
    return Cat(Const(0, LOW_BITS), larger)
