"""RCP, RSQ, EX2, LN2, SIN and COS: reductions around the table, special values, one rounding.

Integers of the datapath are float64, as none has more than 50 bits. Source: CTM Guide p. 28; docs/arithmetic.md.
"""

from llvmlite import ir

from ctm.rtl.isa.limits import QUAD, WORD_BYTES
from ctm.rtl.isa.transcendental import (
    ARGUMENT_BITS,
    C0_FRACTION,
    POWER,
    RECIPROCAL,
    ROOT_EVEN,
    ROOT_ODD,
    SINE,
    SQUARE_SHIFT,
    Region,
)
from ctm.sim.engines.fast.vector import tables
from ctm.sim.engines.fast.vector.lanes import INT, LONG, MAGNITUDE, SIGN, Lanes, Value

_BIAS, _FRACTION_BITS = 127, 23
_DOUBLE_BIAS, _DOUBLE_FRACTION_BITS = 1023, 52
_UNITS = 1 << ARGUMENT_BITS
_NAN, _INFINITY = 0x7FFF_FFFF, 0x7F80_0000
_SMALLEST_NORMAL = 0x0080_0000


class Transcendental:
    """The unit; `table` points at `tables.table()`. Results have the machine's NaN."""

    def __init__(self, lanes: Lanes, table: Value) -> None:
        self._lanes, self._table = lanes, table

    def apply(self, name: str, a: Value) -> Value:
        """The operation of this name, on a vector of any width."""
        lanes = self._lanes.of(a)
        if lanes is not self._lanes:
            # The table is read by quads.
            wider = lanes.at(max(lanes.width, QUAD))
            return lanes.contracted(Transcendental(wider, self._table).apply(name, wider.spread(a)))
        function = {
            "RCP": self._rcp, "RSQ": self._rsq, "EX2": self._ex2, "LN2": self._ln2, "SIN": self._sin, "COS": self._cos,
        }[name]  # fmt: skip
        return function(a)

    def _rcp(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        exponent, argument = self._split(a)
        total = self._scale(self._interpolate(RECIPROCAL, argument), builder.sub(lanes.integer(-1), exponent))
        sign = builder.and_(lanes.words(a), lanes.integer(SIGN))
        result = builder.or_(lanes.words(lanes.narrow(total)), sign)
        magnitude = builder.and_(lanes.words(a), lanes.integer(MAGNITUDE))
        is_infinite = builder.icmp_unsigned("==", magnitude, lanes.integer(_INFINITY))
        is_zero = builder.icmp_unsigned("<", magnitude, lanes.integer(_SMALLEST_NORMAL))
        result = lanes.choose(is_infinite, sign, result)
        result = lanes.choose(is_zero, builder.or_(sign, lanes.integer(_INFINITY)), result)
        return lanes.as_floats(self._nan_where(builder.fcmp_unordered("uno", a, a), result))

    def _rsq(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        exponent, argument = self._split(a)
        # An odd exponent leaves a factor of 2 under the root, which has its own region.
        odd = builder.mul(builder.and_(exponent, lanes.integer(1)), lanes.integer(ROOT_ODD.base - ROOT_EVEN.base))
        base = builder.add(odd, lanes.integer(ROOT_EVEN.base))
        half = builder.ashr(exponent, lanes.integer(1))
        total = self._scale(self._interpolate(ROOT_EVEN, argument, base), builder.sub(lanes.integer(-1), half))
        result = lanes.words(lanes.narrow(total))
        return self._specials(a, result, of_zero=_INFINITY, of_infinity=0)

    def _ex2(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        wide = lanes.widen(a)
        magnitude, limit = lanes.apply("fabs", wide), lanes.double(2.0 * _BIAS)
        # Beyond this every result is an infinity or a zero. A NaN becomes a number, and the result is replaced below.
        limited = lanes.choose(builder.fcmp_ordered("<", magnitude, limit), magnitude, limit)
        units = self._floor(builder.fadd(builder.fmul(limited, lanes.double(_UNITS)), lanes.double(0.5)))
        units = lanes.apply("copysign", units, wide)
        whole = self._floor(builder.fmul(units, lanes.double(1 / _UNITS)))
        rest = builder.fsub(units, builder.fmul(whole, lanes.double(_UNITS)))
        total = self._interpolate(POWER, builder.fptosi(rest, lanes.integers))
        result = lanes.narrow(self._scale(total, builder.fptosi(whole, lanes.integers)))
        return lanes.as_floats(self._nan_where(builder.fcmp_unordered("uno", a, a), lanes.words(result)))

    def _ln2(self, a: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        exponent, argument = self._split(a)
        address, middle = self._segment(argument)
        distance = builder.sitofp(builder.sub(argument, middle), lanes.doubles)
        fraction = builder.fmul(self._quadratic(address, distance), lanes.double(2.0**-C0_FRACTION))
        result = lanes.narrow(builder.fadd(fraction, builder.sitofp(exponent, lanes.doubles)))
        return self._specials(a, lanes.words(result), of_zero=SIGN | _INFINITY, of_infinity=_INFINITY)

    def _sin(self, a: Value) -> Value:
        lanes = self._lanes
        sign = lanes.builder.and_(lanes.words(a), lanes.integer(SIGN))
        return self._wave(a, 0, sign)

    def _cos(self, a: Value) -> Value:
        return self._wave(a, _UNITS, self._lanes.integer(0))

    def _wave(self, a: Value, phase: int, sign: Value) -> Value:
        """Sine of |a| turns and a `phase`, with its sign turned by `sign`; a NaN where a is not finite.

        Arguments and the phase count in units of a quarter turn / 2^ARGUMENT_BITS.
        """
        lanes, builder = self._lanes, self._lanes.builder
        magnitude = lanes.apply("fabs", lanes.widen(a))
        is_finite = builder.fcmp_ordered("<", magnitude, lanes.double(float("inf")))
        turns = lanes.choose(is_finite, magnitude, lanes.double(0))
        turns = builder.fmul(builder.fsub(turns, self._floor(turns)), lanes.double(4.0 * _UNITS))
        angle = builder.fptosi(self._floor(builder.fadd(turns, lanes.double(phase + 0.5))), lanes.integers)
        # Distance from the nearest half turn: rises through the first quarter, falls through the second.
        offset = builder.sub(builder.and_(angle, lanes.integer(2 * _UNITS - 1)), lanes.integer(_UNITS))
        is_rising = builder.icmp_signed("<", offset, lanes.integer(0))
        falling = lanes.choose(is_rising, builder.sub(lanes.integer(0), offset), offset)
        argument = builder.sub(lanes.integer(_UNITS), falling)
        total = self._interpolate(SINE, argument)
        is_top = builder.icmp_unsigned("==", argument, lanes.integer(_UNITS))
        total = lanes.choose(is_top, lanes.double(float(1 << C0_FRACTION)), total)
        result = lanes.words(lanes.narrow(builder.fmul(total, lanes.double(2.0**-C0_FRACTION))))
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

    def _split(self, a: Value) -> tuple[Value, Value]:
        """Exponents without bias, and fractions as arguments of the table."""
        lanes, builder = self._lanes, self._lanes.builder
        words = lanes.words(a)
        biased = builder.and_(builder.lshr(words, lanes.integer(_FRACTION_BITS)), lanes.integer(0xFF))
        fraction = builder.and_(words, lanes.integer((1 << _FRACTION_BITS) - 1))
        argument = builder.shl(fraction, lanes.integer(ARGUMENT_BITS - _FRACTION_BITS))
        return builder.sub(biased, lanes.integer(_BIAS)), argument

    def _scale(self, total: Value, exponent: Value) -> Value:
        """A sum of the table times 2^exponent."""
        lanes, builder = self._lanes, self._lanes.builder
        power = builder.add(builder.sext(exponent, lanes.longs), lanes.long(_DOUBLE_BIAS - C0_FRACTION))
        power = builder.shl(power, lanes.long(_DOUBLE_FRACTION_BITS))
        return builder.fmul(total, builder.bitcast(power, lanes.doubles))

    def _interpolate(self, region: Region, argument: Value, base: Value | None = None) -> Value:
        """The unit's sum; `base` gives each lane its own region, shaped as `region`."""
        lanes, builder = self._lanes, self._lanes.builder
        low = builder.and_(argument, lanes.integer((1 << region.width_bits) - 1))
        distance = builder.sub(low, lanes.integer(1 << (region.width_bits - 1)))
        segment = builder.lshr(argument, lanes.integer(region.width_bits))
        # Some arguments are one too large, or those of special values: nobody uses their sum, but it must be readable.
        segment = builder.and_(segment, lanes.integer(region.entries - 1))
        address = builder.add(segment, lanes.integer(region.base) if base is None else base)
        return self._quadratic(address, builder.sitofp(distance, lanes.doubles))

    def _quadratic(self, address: Value, distance: Value) -> Value:
        lanes, builder = self._lanes, self._lanes.builder
        constant, linear, quadratic = self._coefficients(address)
        square = self._floor(builder.fmul(builder.fmul(distance, distance), lanes.double(2.0**-SQUARE_SHIFT)))
        total = self._sum(constant, linear, distance)
        return self._floor(self._sum(total, quadratic, square))

    def _sum(self, total: Value, one: Value, other: Value) -> Value:
        """A total and a product, all exact, so that it makes no difference whether they are fused."""
        if self._lanes.fused:
            return self._lanes.apply("fma", one, other, total)
        return self._lanes.builder.fadd(total, self._lanes.builder.fmul(one, other))

    def _floor(self, values: Value) -> Value:
        return self._lanes.apply("floor", values)

    def _coefficients(self, address: Value) -> tuple[Value, Value, Value]:
        """c0, c1 and c2 of each lane's entry."""
        lanes, builder = self._lanes, self._lanes.builder
        low, high, linear, quadratic = self._entries(0, address, tables.ENTRY_WORDS)
        order = [half * lanes.width + lane for lane in range(lanes.width) for half in (0, 1)]
        words = builder.shuffle_vector(low, high, ir.Constant(ir.VectorType(INT, len(order)), order))
        constant = builder.bitcast(words, lanes.doubles)
        return constant, lanes.widen(lanes.as_floats(linear)), lanes.widen(lanes.as_floats(quadratic))

    def _segment(self, argument: Value) -> tuple[Value, Value]:
        """Of arguments of the logarithm the number of the entry, and the middle of the segment."""
        number = self._lanes.builder.lshr(argument, self._lanes.integer(tables.FINEST_BITS))
        address, middle = self._entries(tables.SEGMENTS, number, tables.SEGMENT_WORDS)
        return address, middle

    def _entries(self, start: int, number: Value, words: int) -> list[Value]:
        """The words of each lane's entry in a part of the table."""
        lanes, builder = self._lanes, self._lanes.builder
        first = builder.gep(self._table, [ir.Constant(INT, start)], source_etype=INT)
        kind = ir.VectorType(INT, words)
        pointers = [builder.gep(first, [builder.zext(at, LONG)], source_etype=kind) for at in lanes.scalars(number)]
        return lanes.gathered(pointers, words, WORD_BYTES)
