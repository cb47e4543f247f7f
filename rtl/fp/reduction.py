"""First half of the transcendental unit: from an operand to a table address and the distance from a segment's middle.

Source: docs/arithmetic.md, steps 1 and 2.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import PipelineConfig
from rtl.fp.number import BIAS, FRACTION_BITS, SIGNIFICAND_BITS, WIDE_EXPONENT, WORD_BITS, Operand, unpack
from rtl.isa.transcendental import (
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
from rtl.lib.pipeline import delay
from rtl.lib.shift import shift_left


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
"""First of the two bits of SIN's and COS's operand that number quarter turns; bit 0 is for rounding."""
_FIXED_BITS = 1 + ARGUMENT_BITS + WHOLE_BITS
_RANGE_EXPONENT = BIAS + 7
"""Exponent of 128: EX2 of it is too large, of -128 too small."""


class Reduced(data.Struct):
    """What the second half needs: the result's magnitude is abs(integer + value of the table) * 2^exponent.

    `one` makes the sum 1, `zero` makes it 0; `zero_sign` is a zero's sign. `infinite` and `nan` stand above the rest.
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
        turns = (self.function == Function.SIN) | (self.function == Function.COS)
        operand = unpack(m, self.word, name="operand")
        fixed = delay(m, _fixed_point(m, operand, turns), self.latency, name="fixed")
        operand = delay(m, operand, self.latency, name="operand")
        turns = delay(m, turns, self.latency, name="turns")
        function = delay(m, self.function, self.latency, name="function")

        # -floor(f / 2 + 1/2) = floor(~f / 2 + 1/2): rounding and changing the sign take one addition. An odd quarter of
        # a turn is gone through backwards; a carry into the next quarter ends at its end, which is the same place.
        quarter = Signal(2)
        m.d.comb += quarter.eq(fixed[_QUARTER : _QUARTER + 2] + (function == Function.COS))
        invert = Mux(turns, quarter[0], operand.sign)
        within, beyond = fixed[:_QUARTER] ^ invert.replicate(_QUARTER), fixed[_QUARTER:] ^ invert.replicate(WHOLE_BITS)
        numerator = Cat(within, Mux(turns, 0, beyond))
        rounded = Signal(_FIXED_BITS - 1)
        m.d.comb += rounded.eq(numerator[1:] + numerator[0])
        whole = rounded[ARGUMENT_BITS:].as_signed()
        uses_fixed = turns | (function == Function.EX2)
        x = Signal(ARGUMENT_BITS)
        m.d.comb += x.eq(Mux(uses_fixed, rounded, operand.significand << (ARGUMENT_BITS - FRACTION_BITS)))

        reduced = self.reduced
        unbiased = Signal(signed(WHOLE_BITS))
        m.d.comb += [unbiased.eq(operand.exponent - BIAS), reduced.one.eq(turns & whole[0])]
        self._look_up(m, function, x, odd=unbiased[0])
        self._special(m, function, operand)
        with m.Switch(function):
            with m.Case(Function.RCP):
                m.d.comb += [reduced.exponent.eq(-unbiased - 1), reduced.sign.eq(operand.sign)]
            with m.Case(Function.RSQ):
                m.d.comb += reduced.exponent.eq(-(unbiased >> 1) - 1)
            with m.Case(Function.EX2):
                m.d.comb += reduced.exponent.eq(whole)
            with m.Case(Function.LN2):
                m.d.comb += [reduced.integer.eq(unbiased), reduced.sign.eq(operand.exponent < BIAS)]
            with m.Case(Function.SIN):
                m.d.comb += [reduced.sign.eq(operand.sign ^ quarter[1]), reduced.zero_sign.eq(operand.sign)]
            with m.Case(Function.COS):
                m.d.comb += reduced.sign.eq(quarter[1])
        return m

    def _look_up(self, m: Module, function: Value, x: Value, *, odd: Value) -> None:
        """Address and distance: the upper bits of x choose the entry of the function's region."""

        def choose(region: Region) -> None:
            index = x[region.width_bits : region.width_bits + region.index_bits]
            distance = Cat(x[: region.width_bits - 1], ~x[region.width_bits - 1]).as_signed()
            base = Const(region.base >> region.index_bits, ADDRESS_BITS - region.index_bits)
            m.d.comb += [self.reduced.address.eq(Cat(index, base)), self.reduced.distance.eq(distance)]

        with m.Switch(function):
            with m.Case(Function.RCP):
                choose(RECIPROCAL)
            with m.Case(Function.RSQ):
                with m.If(odd):
                    choose(ROOT_ODD)
                with m.Else():
                    choose(ROOT_EVEN)
            with m.Case(Function.EX2):
                choose(POWER)
            with m.Case(Function.SIN, Function.COS):
                choose(SINE)
            with m.Case(Function.LN2):
                with m.Switch(x[-LOGARITHM_SELECT_BITS:]):
                    for select, region in enumerate(LOGARITHM):
                        with m.Case(select):
                            choose(region)

    def _special(self, m: Module, function: Value, operand: Operand) -> None:
        """Results that do not come from the table."""
        reduced = self.reduced
        negative = operand.sign & ~operand.zero
        m.d.comb += reduced.nan.eq(operand.nan)
        with m.Switch(function):
            with m.Case(Function.RCP):
                m.d.comb += [
                    reduced.infinite.eq(operand.zero),
                    reduced.zero.eq(operand.infinite),
                    reduced.zero_sign.eq(operand.sign),
                ]
            with m.Case(Function.RSQ):
                m.d.comb += [
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
                    reduced.infinite.eq(operand.zero | operand.infinite),
                    reduced.nan.eq(operand.nan | negative),
                ]
            with m.Case(Function.SIN, Function.COS):
                m.d.comb += reduced.nan.eq(operand.nan | operand.infinite)


def _fixed_point(m: Module, operand: Operand, turns: Value) -> Value:
    """The magnitude in fixed point, without what is above the point's WHOLE_BITS and with one bit for rounding.

    SIN and COS have two fraction bits more than the argument, for the quarter; EX2 has as many.
    """
    # The significand starts with its leading bit just below the lowest kept bit.
    below = SIGNIFICAND_BITS
    smallest_ex2 = BIAS - 1 - ARGUMENT_BITS - 1
    smallest_turns = smallest_ex2 - 2
    amount = Signal(signed(len(operand.exponent) + 1))
    m.d.comb += amount.eq(operand.exponent - Mux(turns, smallest_turns, smallest_ex2))
    width = below + _FIXED_BITS
    amount_bits = (width - 1).bit_length()
    shifted = shift_left(m, operand.significand, amount[:amount_bits], width)
    return Mux(amount[amount_bits:].any(), 0, shifted[below:])
