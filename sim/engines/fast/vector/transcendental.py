"""RCP, RSQ, EX2, LN2, SIN and COS: reductions around the table, special values, one rounding.

Integers of the datapath are float64, as none has more than 50 bits. Source: CTM Guide p. 28; docs/arithmetic.md.
"""

from functools import cached_property

from llvmlite import ir

from ctm.rtl.isa.limits import QUAD, WORD_BYTES
from ctm.rtl.isa.transcendental import (
    ARGUMENT_BITS,
    C0_FRACTION,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    POWER,
    RECIPROCAL,
    ROOT_EVEN,
    ROOT_ODD,
    SINE,
    Region,
)
from ctm.sim.engines.fast.vector import tables
from ctm.sim.engines.fast.vector.lanes import BYTE, INT, LONG, MAGNITUDE, SIGN, Lanes, Value

_BIAS, _FRACTION_BITS = 127, 23
_DOUBLE_FRACTION_BITS = 52
_WIDTH_BITS = 5
"""Enough for the width of a segment, log2."""
_UNITS = 1 << ARGUMENT_BITS
_NAN, _INFINITY = 0x7FFF_FFFF, 0x7F80_0000
_SMALLEST_NORMAL = 0x0080_0000


class Transcendental:
    """The unit; `table` points at `tables.table()`. Results have the machine's NaN."""

    def __init__(self, lanes: Lanes, table: Value) -> None:
        self._lanes, self._table = lanes, table
        self._others: dict[int, Transcendental] = {lanes.width: self}
        """For vectors of other widths, by these."""

    def apply(self, name: str, a: Value) -> Value:
        """The operation of this name, on a vector of any width."""
        lanes = self._lanes.of(a)
        if lanes is not self._lanes:
            # The table is read by quads.
            wider = lanes.at(max(lanes.width, QUAD))
            return lanes.contracted(self._of(wider).apply(name, wider.spread(a)))
        function = {
            "RCP": self._rcp, "RSQ": self._rsq, "EX2": self._ex2, "LN2": self._ln2, "SIN": self._sin, "COS": self._cos,
        }[name]  # fmt: skip
        return function(a)

    def _of(self, lanes: Lanes) -> "Transcendental":
        if lanes.width not in self._others:
            self._others[lanes.width] = Transcendental(lanes, self._table)
        return self._others[lanes.width]

    @cached_property
    def _entries(self) -> Value:
        return self._lanes.memory()

    def _rcp(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        words = lanes.words(a)
        total = self._normalised(self._interpolate(RECIPROCAL, self._argument(words)))
        exponent = builder.and_(words, lanes.integer(_INFINITY))
        # Of infinity the field becomes less than that of a normal number, too.
        field = builder.sub(lanes.integer(_BIAS - 1 - C0_FRACTION << _FRACTION_BITS), exponent)
        result = self._flushed(builder.add(total, field))
        sign = builder.and_(words, lanes.integer(SIGN))
        is_zero = builder.icmp_unsigned("==", exponent, lanes.none)
        result = lanes.choose(is_zero, lanes.integer(_INFINITY), result)
        return lanes.as_floats(self._nan_where(builder.fcmp_unordered("uno", a, a), builder.or_(result, sign)))

    def _rsq(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        words = lanes.words(a)
        exponent = self._exponent(words)
        # An odd exponent leaves a factor of 2 under the root, which has its own region.
        odd = builder.mul(builder.and_(exponent, lanes.integer(1)), lanes.integer(ROOT_ODD.base - ROOT_EVEN.base))
        base = builder.add(odd, lanes.integer(ROOT_EVEN.base))
        total = self._normalised(self._interpolate(ROOT_EVEN, self._argument(words), base))
        half = builder.ashr(exponent, lanes.integer(1))
        result = self._scaled(total, builder.sub(lanes.integer(-1), half))
        return self._specials(a, result, of_zero=_INFINITY, of_infinity=0)

    def _ex2(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        # Beyond this every result is an infinity or a zero, as it is there. A NaN becomes a number, too.
        limited = lanes.choose(builder.fcmp_ordered("<", a, lanes.single(_BIAS + 1)), a, lanes.single(_BIAS + 1))
        limited = lanes.choose(builder.fcmp_ordered(">", limited, lanes.single(-_BIAS)), limited, lanes.single(-_BIAS))
        whole = builder.fptosi(limited, lanes.integers)
        remainder = builder.fsub(limited, builder.sitofp(whole, lanes.floats))
        units = self._rounded(builder.fmul(remainder, lanes.single(_UNITS)))
        whole = builder.add(whole, builder.ashr(units, lanes.integer(ARGUMENT_BITS)))
        total = self._interpolate(POWER, builder.and_(units, lanes.integer(_UNITS - 1)))
        result = self._flushed(self._scaled(self._normalised(total), whole))
        return lanes.as_floats(self._nan_where(builder.fcmp_unordered("uno", a, a), result))

    def _ln2(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        words = lanes.words(a)
        argument = self._argument(words)
        width, address = self._segment(argument)
        one = builder.shl(lanes.integer(1), width)
        low = builder.and_(argument, builder.sub(one, lanes.integer(1)))
        total = self._quadratic(address, low, builder.lshr(one, lanes.integer(1)))
        exponent = builder.sitofp(self._exponent(words), lanes.doubles)
        result = lanes.narrow(self._sum(exponent, self._floor(total), lanes.double(2.0**-C0_FRACTION)))
        return self._specials(a, lanes.words(result), of_zero=SIGN | _INFINITY, of_infinity=_INFINITY)

    def _sin(self, a: Value) -> Value:
        lanes = self._lanes
        sign = lanes.builder.and_(lanes.words(a), lanes.integer(SIGN))
        return self._wave(a, 0, sign)

    def _cos(self, a: Value) -> Value:
        return self._wave(a, _UNITS, self._lanes.integer(0))

    def _wave(self, a: Value, phase: int, sign: Value) -> Value:
        """Sine of |a| periods and a `phase`, with its sign inverted by `sign`; a NaN where a is not finite.

        Arguments and the phase count in units of a quarter period / 2^ARGUMENT_BITS.
        """
        lanes, builder = self._lanes, self._lanes.builder
        magnitude = lanes.apply("fabs", a)
        is_finite = builder.fcmp_ordered("<", magnitude, lanes.single(float("inf")))
        periods = lanes.choose(is_finite, magnitude, lanes.single(0))
        periods = builder.fmul(builder.fsub(periods, self._floor(periods)), lanes.single(4.0 * _UNITS))
        angle = builder.add(self._rounded(periods), lanes.integer(phase))
        # Distance from the nearest half period: rises through the first quarter, falls through the second.
        offset = builder.sub(builder.and_(angle, lanes.integer(2 * _UNITS - 1)), lanes.integer(_UNITS))
        is_rising = builder.icmp_signed("<", offset, lanes.integer(0))
        falling = lanes.choose(is_rising, builder.sub(lanes.integer(0), offset), offset)
        argument = builder.sub(lanes.integer(_UNITS), falling)
        total = lanes.narrow(self._floor(self._interpolate(SINE, argument)))
        is_top = builder.icmp_unsigned("==", argument, lanes.integer(_UNITS))
        total = lanes.choose(is_top, lanes.single(1 << C0_FRACTION), total)
        result = lanes.words(builder.fmul(total, lanes.single(2.0**-C0_FRACTION)))
        half = builder.and_(builder.shl(angle, lanes.integer(31 - (ARGUMENT_BITS + 1))), lanes.integer(SIGN))
        is_zero = builder.icmp_unsigned("==", argument, lanes.integer(0))
        half = lanes.choose(is_zero, lanes.integer(0), half)
        result = builder.or_(result, builder.xor(half, sign))
        return lanes.as_floats(lanes.choose(is_finite, result, lanes.integer(_NAN)))

    def _specials(self, a: Value, result: Value, *, of_zero: int, of_infinity: int) -> Value:
        """The words `result` for positive normal numbers; a NaN for what is below zero."""
        lanes, builder = self._lanes, self._lanes.builder
        words = lanes.words(a)
        # As integers, the words from 2^-126 to the largest number are one range.
        above = builder.sub(words, lanes.integer(_SMALLEST_NORMAL))
        is_normal = builder.icmp_unsigned("<", above, lanes.integer(_INFINITY - _SMALLEST_NORMAL))
        special = lanes.integer(_NAN)
        is_infinite = builder.icmp_unsigned("==", words, lanes.integer(_INFINITY))
        special = lanes.choose(is_infinite, lanes.integer(of_infinity), special)
        magnitude = builder.and_(words, lanes.integer(MAGNITUDE))
        is_zero = builder.icmp_unsigned("<", magnitude, lanes.integer(_SMALLEST_NORMAL))
        special = lanes.choose(is_zero, lanes.integer(of_zero), special)
        return lanes.as_floats(lanes.choose(is_normal, result, special))

    def _nan_where(self, bits: Value, words: Value) -> Value:
        return self._lanes.choose(bits, self._lanes.integer(_NAN), words)

    def _exponent(self, words: Value) -> Value:
        """Without bias."""
        lanes, builder = self._lanes, self._lanes.builder
        biased = builder.and_(builder.lshr(words, lanes.integer(_FRACTION_BITS)), lanes.integer(0xFF))
        return builder.sub(biased, lanes.integer(_BIAS))

    def _argument(self, words: Value) -> Value:
        """Fractions as arguments of the table."""
        lanes, builder = self._lanes, self._lanes.builder
        fraction = builder.and_(words, lanes.integer((1 << _FRACTION_BITS) - 1))
        return builder.shl(fraction, lanes.integer(ARGUMENT_BITS - _FRACTION_BITS))

    def _rounded(self, values: Value) -> Value:
        """Floats below 2^31 as integers; halves go away from zero."""
        builder, integers = self._lanes.builder, self._lanes.integers
        whole = builder.fptosi(values, integers)
        remainder = builder.fsub(values, builder.sitofp(whole, values.type))
        return builder.add(whole, builder.fptosi(builder.fadd(remainder, remainder), integers))

    def _normalised(self, total: Value) -> Value:
        """The words of a sum from 1 to 2, times 2^C0_FRACTION, rounded down to an integer and then to a float."""
        lanes, builder = self._lanes, self._lanes.builder
        fraction = _DOUBLE_FRACTION_BITS - C0_FRACTION
        whole = builder.and_(builder.bitcast(total, lanes.longs), lanes.long(-1 << fraction))
        return lanes.words(lanes.narrow(builder.bitcast(whole, lanes.doubles)))

    def _scaled(self, words: Value, exponent: Value) -> Value:
        """What is `_normalised`, times 2^(exponent - C0_FRACTION); the exponent may leave the range of floats."""
        lanes, builder = self._lanes, self._lanes.builder
        difference = builder.sub(exponent, lanes.integer(C0_FRACTION))
        return builder.add(words, builder.shl(difference, lanes.integer(_FRACTION_BITS)))

    def _flushed(self, words: Value) -> Value:
        """Zero for what is below every normal number."""
        lanes = self._lanes
        is_small = lanes.builder.icmp_signed("<", words, lanes.integer(_SMALLEST_NORMAL))
        return lanes.choose(is_small, lanes.none, words)

    def _interpolate(self, region: Region, argument: Value, base: Value | None = None) -> Value:
        """The unit's sum; `base` gives each lane its own region, shaped as `region`."""
        lanes, builder = self._lanes, self._lanes.builder
        low = builder.and_(argument, lanes.integer((1 << region.width_bits) - 1))
        segment = builder.lshr(argument, lanes.integer(region.width_bits))
        # Some arguments are one too large, or those of special values: their sum is not used, but must be readable.
        segment = builder.and_(segment, lanes.integer(region.entries - 1))
        address = builder.add(segment, lanes.integer(region.base) if base is None else base)
        return self._quadratic(address, low, lanes.integer(1 << (region.width_bits - 1)))

    def _quadratic(self, address: Value, low: Value, middle: Value) -> Value:
        """The unit's sum with all its bits; the distance from a segment's middle is `low` - `middle`."""
        lanes, builder = self._lanes, self._lanes.builder
        constant, linear, quadratic = self._coefficients(address)
        # After the leading bit of this power of two an integer is a fraction in units of 2^-DISTANCE_SHIFT.
        power = lanes.integer(_BIAS + _FRACTION_BITS - tables.DISTANCE_SHIFT << _FRACTION_BITS)
        low, middle = (lanes.as_floats(builder.or_(each, power)) for each in (low, middle))
        distance = lanes.widen(builder.fsub(low, middle))
        square = self._floor(builder.fmul(distance, distance))
        return self._sum(self._sum(constant, linear, distance), quadratic, square)

    def _sum(self, total: Value, one: Value, other: Value) -> Value:
        """A total and a product, all exact, so that it makes no difference whether they are fused."""
        if self._lanes.fused:
            return self._lanes.apply("fma", one, other, total)
        return self._lanes.builder.fadd(total, self._lanes.builder.fmul(one, other))

    def _floor(self, values: Value) -> Value:
        return self._lanes.apply("floor", values)

    def _segment(self, argument: Value) -> tuple[Value, Value]:
        """Of arguments of the logarithm the width of the segment, log2, and the number of the entry."""
        lanes, builder = self._lanes, self._lanes.builder
        region_bits = ARGUMENT_BITS - LOGARITHM_SELECT_BITS
        found, last = lanes.none, 0
        for number, region in enumerate(LOGARITHM):
            # What is added to the argument's upper bits, and how many are the lower ones.
            offset = region.base - (number << (region_bits - region.width_bits))
            packed = offset << _WIDTH_BITS | region.width_bits
            if packed != last:
                is_above = builder.icmp_signed(">=", argument, lanes.integer(number << region_bits))
                found, last = lanes.choose(is_above, lanes.integer(packed), found), packed
        width = builder.and_(found, lanes.integer((1 << _WIDTH_BITS) - 1))
        offset = builder.lshr(found, lanes.integer(_WIDTH_BITS))
        return width, builder.add(builder.lshr(argument, width), offset)

    def _coefficients(self, address: Value) -> tuple[Value, Value, Value]:
        """c0, c1 and c2 of each lane's entry."""
        lanes, builder = self._lanes, self._lanes.builder
        # Multiplied here and not in each pointer, which would cost an instruction for each lane.
        offsets = builder.mul(address, lanes.integer(tables.ENTRY_WORDS * WORD_BYTES))
        scalars = lanes.scalars_in(self._entries, offsets)
        pointers = [builder.gep(self._table, [builder.zext(at, LONG)], source_etype=BYTE) for at in scalars]
        low, high, linear, quadratic = lanes.gathered(pointers, tables.ENTRY_WORDS, WORD_BYTES)
        order = [half * lanes.width + lane for lane in range(lanes.width) for half in (0, 1)]
        words = builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(INT, len(order)), order))
        constant = builder.bitcast(words, lanes.doubles)
        return constant, lanes.widen(lanes.as_floats(linear)), lanes.widen(lanes.as_floats(quadratic))
