"""The rounding unit: normalises and rounds all results.

Source: CTM Guide pp. 41-42; docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, FRACTION_BITS, SIGNIFICAND_BITS, Rounded, raw_layout
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_left
from ctm.rtl.lib.zeros import leading_zeros

_NIBBLE = 4
_KEPT = SIGNIFICAND_BITS + _NIBBLE
"""Bits that a shift by less than a nibble can still bring to, or next to, the rounding point."""
LEAST_BITS = _KEPT
"""Bits that an exact result has at least."""
_FLAGS = ("sign", "zero", "infinite", "nan")


class Rounding(wiring.Component):
    """Normalises an exact result and rounds it to 24 bits: to nearest, ties to even, or towards zero.

    Latency is `addition` + `normalisation` + `rounding` of the configuration: the raw result is held here, not where it
    comes from. The significand is shifted left by whole nibbles first, then by what is missing, so that both steps are
    short.

    Members
    -------
    raw : ``In(raw_layout(significand_bits))``
    substitute : ``In(Rounded)``
        What `rounded` is instead with `substitutes`; both `rounding` cycles before `rounded`. 0 without it, because the
        sum that rounds adds either.
    substitutes : ``In(1)``
    rounded : ``Out(Rounded)``
        The exponent is not limited yet.
    """

    def __init__(self, significand_bits: int, config: PipelineConfig) -> None:
        if significand_bits < _KEPT:
            raise ValueError(f"significand_bits must be at least {_KEPT}, not {significand_bits}")
        self._config = config
        self.latency = config.addition + config.normalisation + config.rounding
        super().__init__(
            {
                "raw": In(raw_layout(significand_bits)),
                "substitute": In(Rounded),
                "substitutes": In(1),
                "rounded": Out(Rounded),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        raw = delay(m, self.raw, self._config.addition, name="raw")
        padding = -len(raw.significand) % _NIBBLE
        significand = Cat(Const(0, padding), raw.significand)
        nibbles = [significand[low : low + _NIBBLE] for low in range(0, len(significand), _NIBBLE)]
        ones = Signal(len(nibbles))
        m.d.comb += ones.eq(Cat(nibble.any() for nibble in nibbles))
        count = leading_zeros(m, ones)
        coarse = shift_left(m, significand, Cat(Const(0, _NIBBLE.bit_length() - 1), count), len(significand))

        cycles = self._config.normalisation
        top = delay(m, coarse[len(significand) - _KEPT :], cycles, name="top")
        # The bits below the kept ones follow from the count; the shifter need not be waited for.
        below = len(nibbles) - _KEPT // _NIBBLE
        lost = Cat(ones[nibble] & (count < below - nibble) for nibble in range(below))
        sticky = delay(m, lost.any(), cycles, name="sticky")
        exponent = delay(m, (raw.exponent + BIAS - _NIBBLE * count).as_signed(), cycles, name="exponent")
        zero = delay(m, ~ones.any() & ~raw.infinite & ~raw.nan, cycles, name="zero")
        flags = delay(m, Cat(raw.sign, raw.zero_sign, raw.infinite, raw.nan, raw.truncate), cycles, name="flags")
        sign, zero_sign, infinite, nan, truncate = flags

        top &= ~self.substitutes.replicate(_KEPT)
        fine = leading_zeros(m, top[-_NIBBLE:])
        normalised = shift_left(m, top, fine, _KEPT)
        kept, half, discarded = normalised[_NIBBLE:], normalised[_NIBBLE - 1], normalised[: _NIBBLE - 1].any() | sticky
        increment = ~truncate & half & (discarded | kept[0])
        rounded, substitute = Signal(Rounded), self.substitute
        finite_exponent = (exponent - fine) & ~self.substitutes.replicate(len(exponent))
        # Rounding up to a power of two leaves a fraction of 0, and the carry goes into the exponent.
        magnitude = Cat(kept[:FRACTION_BITS] | substitute.fraction, finite_exponent | Value.cast(substitute.exponent))
        total = Signal(len(magnitude))
        m.d.comb += [
            total.eq(magnitude + increment),
            rounded.fraction.eq(total[:FRACTION_BITS]),
            rounded.exponent.eq(total[FRACTION_BITS:]),
            rounded.sign.eq(Mux(zero, zero_sign, sign)),
            rounded.zero.eq(zero),
            rounded.infinite.eq(infinite),
            rounded.nan.eq(nan),
        ]
        with m.If(self.substitutes):
            m.d.comb += [getattr(rounded, name).eq(getattr(substitute, name)) for name in _FLAGS]
        m.d.comb += self.rounded.eq(delay(m, rounded, self._config.rounding, name="rounded"))
        return m
