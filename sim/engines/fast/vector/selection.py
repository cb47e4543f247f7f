"""What gives an operand's bits, tests, modifiers, and what makes a NaN the machine's.

Source: CTM Guide pp. 27-32, 41; docs/arithmetic.md.
"""

from ctm.sim.engines.fast.vector.lanes import MAGNITUDE, SIGN, Lanes, Value

_NAN = 0x7FFF_FFFF
_EXPONENT = 0x7F80_0000
_FACTORS = (1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125)


def canonical(lanes: Lanes, values: Value) -> Value:
    """The same with the machine's one NaN for any."""
    is_nan = lanes.builder.fcmp_unordered("uno", values, values)
    return lanes.choose(is_nan, lanes.as_floats(lanes.integer(_NAN)), values)


def flushed(lanes: Lanes, values: Value) -> Value:
    """The same with signed zeros for denormals."""
    words = lanes.words(values)
    is_small = lanes.builder.icmp_unsigned("==", lanes.builder.and_(words, lanes.integer(_EXPONENT)), lanes.integer(0))
    return lanes.as_floats(lanes.choose(is_small, lanes.builder.and_(words, lanes.integer(SIGN)), words))


def input_modifier(lanes: Lanes, values: Value, modifier: int) -> Value:
    """x, -x, |x| or -|x| for 0 to 3: the sign bit only."""
    if modifier == 0:
        return values
    builder, words = lanes.builder, lanes.words(values)
    if modifier == 1:
        return lanes.as_floats(builder.xor(words, lanes.integer(SIGN)))
    if modifier == 2:
        return lanes.as_floats(builder.and_(words, lanes.integer(MAGNITUDE)))
    return lanes.as_floats(builder.or_(words, lanes.integer(SIGN)))


def output_modifier(lanes: Lanes, values: Value, modifier: int, *, clean: bool) -> Value:
    """X times 1, 2, 4, 8, 1/2, 1/4, 1/8 for 0 to 6; `clean` promises that no element is a denormal."""
    factor = _FACTORS[modifier]
    if factor == 1:
        return values if clean else flushed(lanes, values)
    return lanes.builder.fmul(values, lanes.single(factor))


def clamp(lanes: Lanes, values: Value) -> Value:
    """x, which is no denormal, clamped to [0, 1]: NaN and -0 become +0."""
    builder = lanes.builder
    positive = lanes.choose(builder.fcmp_ordered(">", values, lanes.single(0)), values, lanes.single(0))
    return lanes.choose(builder.fcmp_ordered("<", positive, lanes.single(1)), positive, lanes.single(1))


def minimum(lanes: Lanes, a: Value, b: Value) -> Value:
    """A < B ? A : B, the operand's bits."""
    return lanes.choose(lanes.builder.fcmp_ordered("<", compared(lanes, a), compared(lanes, b)), a, b)


def maximum(lanes: Lanes, a: Value, b: Value) -> Value:
    """A >= B ? A : B, but B of two zeros; the operand's bits."""
    return lanes.choose(lanes.builder.fcmp_ordered(">", compared(lanes, a), compared(lanes, b)), a, b)


def select_above_half(lanes: Lanes, a: Value, b: Value, c: Value) -> Value:
    """CND: C > 0.5 ? A : B."""
    return lanes.choose(lanes.builder.fcmp_ordered(">", compared(lanes, c), lanes.single(0.5)), a, b)


def select_not_negative(lanes: Lanes, a: Value, b: Value, c: Value) -> Value:
    """CMP: C >= 0 ? A : B."""
    return lanes.choose(lanes.builder.fcmp_ordered(">=", compared(lanes, c), lanes.single(0)), a, b)


def test_zero(lanes: Lanes, values: Value, test: int) -> Value:
    """The mask of x == 0, < 0, >= 0 or != 0 for `test` 0 to 3; a NaN is != 0 and nothing else."""
    return lanes.mask(lanes.compare(("==", "<", ">=", "!=")[test], values, lanes.single(0)))


def is_less_than_zero(lanes: Lanes, values: Value) -> Value:
    """The mask of what KILL takes for less than zero: the sign is minus and it is no NaN."""
    is_number = lanes.mask(lanes.builder.fcmp_ordered("ord", values, values))
    return lanes.builder.and_(lanes.builder.ashr(lanes.words(values), lanes.integer(31)), is_number)


def compared(lanes: Lanes, values: Value) -> Value:
    """A value for a comparison that chooses between the same values.

    Fenced, because the host's minimum and maximum, which LLVM would make of comparison and choice, give a zero for a
    denormal.
    """
    return lanes.fenced(values)
