"""Numbers of the memory formats: normalised integers to float32 and back, coordinates to indices.

Source: CTM Guide pp. 6, 14; docs/arithmetic.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.number import BIAS, EXPONENT_BITS, FRACTION_BITS, SIGNIFICAND_BITS, Word, unpack
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.lib.shift import rotate_left, shift_left, shift_right_sticky
from ctm.rtl.lib.views import view
from ctm.rtl.lib.zeros import leading_zeros

INDEX_BITS = 12
LIMIT_BITS = INDEX_BITS + 1
_LEAST_BITS, _MOST_BITS = SIGNIFICAND_BITS + 2, 128
"""Of an integer that is rounded."""


class FromUnorm(wiring.Component):
    """n / (2^bits - 1), rounded to nearest.

    In binary that is 0.nnn..., n repeated for ever. So the significand is n, rotated until it starts with a one,
    repeated, and there is no tie. `bits` is 8 or 16. Latency is `result` of the configuration.

    Members
    -------
    number : ``In(bits)``
    result : ``Out(32)``
    """

    def __init__(self, bits: int, config: PipelineConfig) -> None:
        if bits not in (8, 16):
            raise ValueError(f"bits must be 8 or 16, not {bits}")
        self.latency = config.result
        super().__init__({"number": In(bits), "result": Out(WORD_BITS)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        number = self.number
        zeros = leading_zeros(m, number)
        rotated = rotate_left(m, number, zeros)
        pattern = Cat(rotated, rotated, rotated, rotated)[-SIGNIFICAND_BITS - 1 :]
        rounded, exponent = Signal(SIGNIFICAND_BITS + 1), Signal(EXPONENT_BITS)
        m.d.comb += [
            rounded.eq(pattern[1:] + pattern[0]),
            exponent.eq(BIAS - 1 - zeros + rounded[SIGNIFICAND_BITS]),
        ]
        word = Cat(rounded[:FRACTION_BITS], exponent)
        m.d.comb += self.result.eq(delay(m, Mux(number.any(), word, 0), self.latency, name="result"))
        return m


class ToUnorm(wiring.Component):
    """A word, clamped to [0, 1], times 2^bits - 1, rounded to the nearest integer, ties to even; NaN gives 0.

    `bits` is 8 or 16. Latency is `alignment` + `result` of the configuration.

    Members
    -------
    word : ``In(32)``
    result : ``Out(bits)``
    """

    def __init__(self, bits: int, config: PipelineConfig) -> None:
        if bits not in (8, 16):
            raise ValueError(f"bits must be 8 or 16, not {bits}")
        self._bits, self._config = bits, config
        self.latency = config.alignment + config.result
        super().__init__({"word": In(WORD_BITS), "result": Out(bits)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bits, config = self._bits, self._config
        operand = unpack(m, self.word, name="operand")
        # With exponent -1 the product's upper bits are the integer; below it one bit goes lost for each binary digit,
        # and 2^-bits / 4 is certain to give 0.
        product: Value = Signal(SIGNIFICAND_BITS + bits)
        distance = Signal(signed(EXPONENT_BITS + 1))
        m.d.comb += [
            product.eq(operand.significand.shift_left(bits) - operand.significand),
            distance.eq(BIAS - 1 - operand.exponent),
        ]
        amount_bits = (bits + 2).bit_length()
        zero = operand.nan | operand.sign | operand.zero | ((distance >> amount_bits) > 0)
        one = ~zero & (distance < 0)
        product, amount, zero, one = (
            delay(m, value, config.alignment) for value in (product, distance[:amount_bits], zero, one)
        )
        # What is below the half is discarded wherever it is shifted to.
        discarded, kept = product[: SIGNIFICAND_BITS - 1], product[SIGNIFICAND_BITS - 1 :]
        shifted, sticky = shift_right_sticky(m, kept, amount)
        half, integer = shifted[0], shifted[1:]
        rounded = (integer + (half & (discarded.any() | sticky | integer[0])))[:bits]
        result = Mux(zero, 0, Mux(one, (1 << bits) - 1, rounded))
        m.d.comb += self.result.eq(delay(m, result, config.result, name="result"))
        return m


class CoordinateIndex(wiring.Component):
    """floor(word), clamped to [0, limit - 1]; NaN gives 0.

    Latency is `result` of the configuration.

    Members
    -------
    word : ``In(32)``
    limit : ``In(13)``
        0 to 4096. With 0 nothing is inside, and the index means nothing.
    index : ``Out(12)``
    inside : ``Out(1)``
        Whether floor(word) is the index, not beyond an edge and not a NaN.
    """

    word: In(WORD_BITS)
    limit: In(LIMIT_BITS)
    index: Out(INDEX_BITS)
    inside: Out(1)

    def __init__(self, config: PipelineConfig) -> None:
        self.latency = config.result
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        operand = unpack(m, self.word, name="operand")
        below = operand.nan | (operand.sign & ~operand.zero)
        exponent, fraction = Value.cast(operand.exponent), view(Word, self.word).fraction
        amount = (BIAS + INDEX_BITS - 1 - exponent)[: INDEX_BITS.bit_length()]
        # From 1 to 2^12 the floor is in the significand's upper bits. Below it is 0; from there on everything is beyond
        # the edge, which a bit of the comparison says, so that the index waits for nothing but the comparison.
        floor = (Cat(fraction, 1)[-INDEX_BITS:] >> amount)[:INDEX_BITS]
        small, beyond = exponent < BIAS, exponent >= BIAS + INDEX_BITS
        above = Cat(floor, Const(0, LIMIT_BITS - INDEX_BITS), beyond) >= self.limit
        index = Mux(below | small, 0, Mux(above, self.limit - 1, floor))[:INDEX_BITS]
        inside = ~below & Mux(small, self.limit.any(), ~above)
        m.d.comb += [
            self.index.eq(delay(m, index, self.latency, name="index")),
            self.inside.eq(delay(m, inside, self.latency, name="inside")),
        ]
        return m


def from_integer(m: Module, number: Value) -> Value:
    """An unsigned number of at most 24 bits as a word, exactly."""
    if len(number) > SIGNIFICAND_BITS:
        raise ValueError(f"a number of {len(number)} bits has no exact word")
    zeros = leading_zeros(m, number)
    fraction = shift_left(m, number, zeros, len(number))[:-1]
    exponent = (BIAS + len(number) - 1 - zeros)[:EXPONENT_BITS]
    word = Cat(Const(0, FRACTION_BITS - len(fraction)), fraction, exponent)
    return Mux(number.any(), word, 0)


class FromInteger(wiring.Component):
    """A signed integer, rounded to the nearest word, ties to even. 0 gives +0.

    Latency is three cycles, throughput one result in each cycle.

    Members
    -------
    number : ``In(signed(bits))``
    result : ``Out(32)``
    """

    latency = 3

    def __init__(self, bits: int) -> None:
        if not _LEAST_BITS <= bits <= _MOST_BITS:
            raise ValueError(f"bits must be {_LEAST_BITS} to {_MOST_BITS}, not {bits}")
        self._bits = bits
        super().__init__({"number": In(signed(bits)), "result": Out(WORD_BITS)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bits = self._bits
        sign, shifted_sign, magnitude = Signal(), Signal(), Signal(bits)
        m.d.sync += [sign.eq(self.number[-1]), magnitude.eq(Mux(self.number[-1], -self.number, self.number))]
        zeros, shifted = leading_zeros(m, magnitude), Signal(bits)
        exponent = Signal(EXPONENT_BITS)
        m.d.sync += [
            shifted_sign.eq(sign),
            shifted.eq(shift_left(m, magnitude, zeros, bits)),
            exponent.eq(BIAS + bits - 1 - zeros),
        ]
        kept, half = shifted[-SIGNIFICAND_BITS:], shifted[-SIGNIFICAND_BITS - 1]
        increment = half & (kept[0] | shifted[: -SIGNIFICAND_BITS - 1].any())
        # The leading one counts up the exponent; so does a fraction that is rounded up to the next power of two.
        packed = Cat(kept[:FRACTION_BITS], exponent) + increment
        m.d.sync += self.result.eq(Mux(shifted[-1], Cat(packed[: WORD_BITS - 1], shifted_sign), 0))
        return m
