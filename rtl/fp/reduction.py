"""First half of the transcendental unit: from an operand to a table address and the distance from a segment's middle.

Source: docs/arithmetic.md, steps 1 and 2.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, FRACTION_BITS, SIGNIFICAND_BITS, WIDE_EXPONENT, Operand, Word, unpack
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.transcendental import (
    ADDRESS_BITS,
    ARGUMENT_BITS,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    POWER,
    RECIPROCAL,
    ROOT_EVEN,
    ROOT_ODD,
    SINE,
    Region,
)
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import shift_left
from ctm.rtl.lib.views import record, view


class Function(enum.Enum, shape=3):
    """What a transcendental unit computes."""

    EX2 = 0
    LN2 = 1
    RCP = 2
    RSQ = 3
    SIN = 4
    COS = 5


REGIONS = (RECIPROCAL, ROOT_EVEN, ROOT_ODD, POWER, SINE, *LOGARITHM)
DISTANCE_BITS = max(region.width_bits for region in REGIONS)

WHOLE_BITS = 8
"""EX2's operand before the binary point, with a sign; a logarithm's integer part."""
_QUARTER = ARGUMENT_BITS + 1
"""First of the two bits of SIN's and COS's operand that number quarters of a circle; bit 0 is for rounding."""
_FIXED_BITS = 1 + ARGUMENT_BITS + WHOLE_BITS
_RANGE_EXPONENT = BIAS + 7
"""Exponent of 128: EX2 of it is too large, of -128 too small."""


class Reduced(data.Struct):
    """What the second half needs: the result's magnitude is abs(integer + value of the table) * 2^exponent.

    `one` makes the sum 1, `zero` makes it 0; `zero_sign` is a zero's sign. `infinite` and `nan` have priority.
    """

    address: ADDRESS_BITS
    distance: signed(DISTANCE_BITS)
    integer: signed(WHOLE_BITS)
    exponent: WIDE_EXPONENT
    sign: 1
    zero_sign: 1
    zero: 1
    one: 1
    infinite: 1
    nan: 1


class Reduction(wiring.Component):
    """Reduces an operand to an address and a distance.

    Latency is `operands` of the configuration; one operand per cycle.

    Members
    -------
    word : ``In(32)``
    function : ``In(Function)``
    reduced : ``Out(Reduced)``
    """

    word: In(WORD_BITS)
    function: In(Function)
    reduced: Out(Reduced)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.operands
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operand = unpack(m, self.word, name="operand")
        circular = (self.function == Function.SIN) | (self.function == Function.COS)
        early = record(Reduced)
        self._look_up(m, early, operand)
        self._finish(m, early, operand)
        fixed = _fixed_point(m, self.word, circular)
        early = delay(m, early, self.latency)
        fixed, circular, sign, cosine, power = (
            delay(m, value, self.latency)
            for value in (
                fixed,
                circular,
                operand.sign,
                self.function == Function.COS,
                self.function == Function.EX2,
            )
        )

        # -floor(f / 2 + 1/2) = floor(~f / 2 + 1/2): rounding and changing the sign take one addition. An odd quarter of
        # a circle is reversed; a carry into the next quarter ends at its end, which is the same point.
        quarter = Signal(2)
        m.d.comb += quarter.eq(fixed[_QUARTER : _QUARTER + 2] + cosine)
        invert = Mux(circular, quarter[0], sign)
        within, beyond = fixed[:_QUARTER] ^ invert.replicate(_QUARTER), fixed[_QUARTER:] ^ invert.replicate(WHOLE_BITS)
        rounded = Signal(_FIXED_BITS - 1)
        m.d.comb += rounded.eq(Cat(within[1:], Mux(circular, 0, beyond)) + within[0])
        whole = rounded[ARGUMENT_BITS:].as_signed()

        m.d.comb += self.reduced.eq(early)
        with m.If(circular | power):
            # POWER and SINE are equally fine, so only the base, which is there already, tells them apart.
            m.d.comb += [
                self.reduced.address[: POWER.index_bits].eq(_index(POWER, rounded)),
                self.reduced.distance.eq(_distance(POWER, rounded)),
            ]
        with m.If(circular):
            m.d.comb += [self.reduced.one.eq(whole[0]), self.reduced.sign.eq(early.sign ^ quarter[1])]
        with m.If(power):
            m.d.comb += self.reduced.exponent.eq(whole)
        return m

    def _look_up(self, m: Module, reduced: Reduced, operand: Operand) -> None:
        """Address and distance as far as they do not need the operand in fixed point."""
        # Of a zero or a denormal the table's value is not used.
        x = Cat(Const(0, ARGUMENT_BITS - FRACTION_BITS), view(Word, self.word).fraction)

        def choose(region: Region) -> None:
            base = Const(region.base >> region.index_bits, ADDRESS_BITS - region.index_bits)
            m.d.comb += [
                reduced.address.eq(Cat(_index(region, x), base)),
                reduced.distance.eq(_distance(region, x)),
            ]

        with m.Switch(self.function):
            with m.Case(Function.RCP):
                choose(RECIPROCAL)
            with m.Case(Function.RSQ):
                # The bias is odd.
                with m.If(Value.cast(operand.exponent)[0]):
                    choose(ROOT_EVEN)
                with m.Else():
                    choose(ROOT_ODD)
            with m.Case(Function.EX2):
                choose(POWER)
            with m.Case(Function.SIN, Function.COS):
                choose(SINE)
            with m.Case(Function.LN2):
                with m.Switch(x[-LOGARITHM_SELECT_BITS:]):
                    for select, region in enumerate(LOGARITHM):
                        with m.Case(select):
                            choose(region)

    def _finish(self, m: Module, reduced: Reduced, operand: Operand) -> None:
        """Exponent, signs, and results that do not come from the table."""
        unbiased = Signal(signed(WHOLE_BITS))
        negative = operand.sign & ~operand.zero
        m.d.comb += [unbiased.eq(operand.exponent - BIAS), reduced.nan.eq(operand.nan)]
        with m.Switch(self.function):
            with m.Case(Function.RCP):
                m.d.comb += [
                    reduced.exponent.eq(-unbiased - 1),
                    reduced.sign.eq(operand.sign),
                    reduced.infinite.eq(operand.zero),
                    reduced.zero.eq(operand.infinite),
                    reduced.zero_sign.eq(operand.sign),
                ]
            with m.Case(Function.RSQ):
                m.d.comb += [
                    reduced.exponent.eq(-(unbiased >> 1) - 1),
                    reduced.infinite.eq(operand.zero),
                    reduced.zero.eq(operand.infinite),
                    reduced.nan.eq(operand.nan | negative),
                ]
            with m.Case(Function.EX2):
                out_of_range = operand.exponent >= _RANGE_EXPONENT
                m.d.comb += [
                    reduced.infinite.eq(out_of_range & ~operand.sign),
                    reduced.zero.eq(out_of_range & operand.sign),
                ]
            with m.Case(Function.LN2):
                m.d.comb += [
                    reduced.integer.eq(unbiased),
                    reduced.sign.eq(operand.exponent < BIAS),
                    reduced.infinite.eq(operand.zero | operand.infinite),
                    reduced.nan.eq(operand.nan | negative),
                ]
            with m.Case(Function.SIN):
                m.d.comb += [
                    reduced.sign.eq(operand.sign),
                    reduced.zero_sign.eq(operand.sign),
                    reduced.nan.eq(operand.nan | operand.infinite),
                ]
            with m.Case(Function.COS):
                m.d.comb += reduced.nan.eq(operand.nan | operand.infinite)


def _index(region: Region, x: Value) -> Value:
    """Number of the segment within a region."""
    return x[region.width_bits : region.width_bits + region.index_bits]


def _distance(region: Region, x: Value) -> Value:
    """Signed distance from the segment's middle."""
    return Cat(x[: region.width_bits - 1], ~x[region.width_bits - 1]).as_signed()


def _fixed_point(m: Module, word: Value, circular: Value) -> Value:
    """The magnitude in fixed point, without what is above the point's WHOLE_BITS and with one bit for rounding.

    SIN and COS have two fraction bits more than the argument, for the quarter; EX2 has as many. Zeros and denormals are
    0 because they are too small.
    """
    fields = view(Word, word)
    # The significand starts with its leading bit just below the lowest kept bit.
    below = SIGNIFICAND_BITS
    smallest_ex2 = BIAS - 1 - ARGUMENT_BITS - 1
    smallest_circular = smallest_ex2 - 2
    amount = Signal(signed(len(fields.exponent) + 1))
    m.d.comb += amount.eq(fields.exponent - Mux(circular, smallest_circular, smallest_ex2))
    width = below + _FIXED_BITS
    amount_bits = (width - 1).bit_length()
    shifted = shift_left(m, Cat(fields.fraction, 1), amount[:amount_bits], width)
    return Mux(amount[amount_bits:].any(), 0, shifted[below:])
