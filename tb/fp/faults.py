"""Single mistakes, at least ten for each unit, that the comparisons with the golden model must find."""

from ctm.tb.lib.planting import faults_in

ROUNDING = faults_in(
    "rtl.fp.rounding",
    ("& (discarded | kept[0])", "& discarded"),  # a tie is rounded down
    ("& (discarded | kept[0])", ""),  # a tie is rounded up
    (".any() | sticky", ".any()"),  # the sticky bit is dropped
    # a carry out of the fraction is lost
    ("total.eq(magnitude + increment)", "total.eq(Cat((magnitude[:23] + increment)[:23], magnitude[23:]))"),
    ("raw.exponent + BIAS - _NIBBLE * count", "raw.exponent + BIAS - _NIBBLE * count - 1"),
)
SUM = [
    *faults_in(
        "rtl.fp.alignment",
        ("Cat(sticky, shifted)", "Cat(Const(0, 1), shifted)"),
        ("any(), largest, amount)", "any(), largest - 48, amount)"),
        ("eq(Mux(right_is_larger, right, left))", "eq(Mux(right_is_larger, left, right))"),
    ),
    *faults_in(
        "rtl.fp.addition",
        ("left.zero & right.zero & left.sign & right.sign", "left.zero & right.zero & left.sign"),
        ("(left.sign != right.sign))", "(left.sign == right.sign))"),
    ),
]
SWAPPED = faults_in(
    "rtl.fp.addition",
    ("swapped.eq(subtract & forward[-1])", "swapped.eq(0)"),
    ("raw.sign ^ (swapped & ~raw.infinite)", "raw.sign"),
)
ADDER = faults_in(
    "rtl.fp.adder",
    ("& (left_bits < right_bits)", "& 0"),  # of one exponent, the left one is always the minuend
    ("fraction, ~left.zero)", "fraction, 1)"),  # a zero that is doubled is the minuend of the smallest number
    ("left.exponent + self.double", "left.exponent"),
    ("_HEADROOM - BIAS", "_HEADROOM - BIAS + 1"),
)
PRODUCT = faults_in(
    "rtl.fp.product",
    ("a.exponent + self.b.exponent - 2 * BIAS", "a.exponent + self.b.exponent - 2 * BIAS + 1"),
    ("(zero_times_anything | ~not_a_number)", "~not_a_number"),
    ("cross + other_cross", "cross + cross"),
    ("term.sign.eq(a.sign ^ b.sign)", "term.sign.eq(a.sign)"),
)
MULTIPLICATION = [
    *faults_in(
        "rtl.fp.multiplication",
        ("exact.exponent + 1", "exact.exponent"),
        ("significand[:_LOST].any()", "significand[:_LOST].all()"),
        ("zero_sign.eq(exact.sign)", "zero_sign.eq(0)"),
        ("infinite.eq(exact.infinite)", "infinite.eq(0)"),
        ("nan.eq(exact.nan)", "nan.eq(exact.infinite)"),
    ),
    *(fault for fault in PRODUCT if "zero_times" not in fault.old),
    # All that is lost is in the raw result's own sticky bit; hardly a product rounds up to a power of two.
    *(fault for fault in ROUNDING if "sticky" not in fault.old and "increment" not in fault.old),
]
# Where nothing scales them, results out of range are noticed twice.
RANGE = faults_in(
    "rtl.fp.result",
    ("_is_below_one(value.exponent) |", "value.exponent[-1] |"),
    ("_reaches(value.exponent, EXPONENT_BITS) |", "_reaches(value.exponent, EXPONENT_BITS + 1) |"),
)
MODIFIER = faults_in(
    "rtl.fp.result",
    ("| _reaches(exponent, EXPONENT_BITS)", ""),
    ("| _is_below_one(exponent)", ""),
    ("value.exponent + self.scale", "value.exponent - self.scale"),
    ("_reaches(exponent, EXPONENT_BITS - 1)", "_reaches(exponent - 1, EXPONENT_BITS - 1)"),
    ("clamp & (value.nan | value.sign)", "clamp & value.sign"),
    ("clamp & (value.nan | value.sign)", "clamp & value.nan"),
    ("with m.Elif(self.untouched):", "with m.Elif(self.untouched & ~value.nan):"),
    ("with m.Elif(self.untouched):", "with m.Elif(self.untouched & ~value.zero):"),
    ("result.eq(NAN)", "result.eq(NAN ^ 1)"),
    ("Cat(magnitude[: WORD_BITS - 1], value.sign)", "Cat(magnitude[: WORD_BITS - 1], value.sign & ~zero)"),
)
FRACTION = [
    *faults_in(
        "rtl.fp.fraction",
        ("a.exponent < BIAS", "a.exponent <= BIAS"),
        ("SIGNIFICAND_BITS - 1 - index", "SIGNIFICAND_BITS - index"),
        ("a.nan | a.infinite", "a.nan"),
    ),
    *faults_in(
        "rtl.fp.product_sum",
        ("raw.truncate.eq(fraction)", "raw.truncate.eq(0)"),
        ("addend.sign & ~addend.zero", "addend.sign"),
        ("zero.eq(~addend.significand.any())", "zero.eq(addend.zero)"),
        ("Mux(addend.sign, 0, ZERO_EXPONENT)", "0"),
        ("term.sign.eq(0)", "term.sign.eq(1)"),
        ("one.shift_left(PRODUCT_BITS - 2)", "one.shift_left(PRODUCT_BITS - 1)"),
    ),
]
DOT = [
    *faults_in(
        "rtl.fp.dot_product",
        ("term.magnitude[0] & ~carry", "term.magnitude[0]"),
        ("sum(inverted) + sum(signs)", "sum(inverted)"),
        ("Mux(negative, opposite, total)", "total"),
        ("exponent + _HEADROOM", "exponent + _HEADROOM - 1"),
        ("(positive_infinity & negative_infinity)", "(positive_infinity & ~negative_infinity)"),
        ("Cat(term.zero & term.sign for term in terms).all()", "Cat(term.zero & term.sign for term in terms).any()"),
        ("Mux(left > right, left, right)", "Mux(left < right, left, right)"),
    ),
]
DOT_TERM_BITS = faults_in("rtl.fp.product_sum", ("DOT_TERM_BITS = 26", "DOT_TERM_BITS = 25"))
SELECTION = faults_in(
    "rtl.fp.selection",
    ("a[:-1] > b[:-1], a[:-1] < b[:-1]", "a[:-1] < b[:-1], a[:-1] > b[:-1]"),
    ("sign_a == sign_b", "a[0] == b[0]"),
    ("~is_nan(a) & ~is_nan(b)", "~is_nan(a)"),
    ("~is_nan(a) & ~is_nan(b)", "~is_nan(b)"),
    ("& ~(is_zero(a) & is_zero(b))", ""),
    ("c[:-1] > HALF", "c[:-1] >= HALF"),
    ("~sign_c | is_zero(c)", "~sign_c"),
    ("~sign_c & (c[:-1] > HALF)", "c[:-1] > HALF"),
    ("~is_nan(c) & Mux", "Mux"),
    ("Mux(takes_a, a, b)", "Mux(takes_a, b, a)"),
    ("return ~Value.cast(view(Word, word).exponent).any()", "return ~word[:-1].any()"),
)
ZERO_TEST = [
    *faults_in(
        "rtl.fp.zero_comparison",
        ("less.eq(sign & ~zero & ~nan)", "less.eq(sign & ~nan)"),
        ("less.eq(sign & ~zero & ~nan)", "less.eq(sign & ~zero)"),
        ("less.eq(sign & ~zero & ~nan)", "less.eq(~sign & ~zero & ~nan)"),
        ("(~sign | zero) & ~nan", "~sign & ~nan"),
        ("(~sign | zero) & ~nan", "~sign | zero"),
        ("(~sign | zero) & ~nan", "(~sign & ~zero) & ~nan"),
        ("not_equal.eq(~zero)", "not_equal.eq(~zero & ~nan)"),
        ("equal.eq(zero)", "equal.eq(zero & ~sign)"),
    ),
    *faults_in(
        "rtl.fp.selection",
        ("return ~Value.cast(view(Word, word).exponent).any()", "return ~word[:-1].any()"),
        (
            "return Value.cast(fields.exponent).all() & Value.cast(fields.fraction).any()",
            "return Value.cast(fields.exponent).all()",
        ),
    ),
]
TRANSCENDENTAL = [
    *faults_in(
        "rtl.fp.reduction",
        ("out_of_range = operand.exponent >= _RANGE_EXPONENT", "out_of_range = operand.exponent > _RANGE_EXPONENT"),
        ("quarter[0], sign)", "quarter[1], sign)"),
        ("beyond)) + within[0]", "beyond))"),
        ("with m.If(Value.cast(operand.exponent)[0]):", "with m.If(~Value.cast(operand.exponent)[0]):"),
        ("sign.eq(operand.exponent < BIAS)", "sign.eq(operand.exponent <= BIAS)"),
        ("early.sign ^ quarter[1]", "early.sign"),
        ("smallest_circular = smallest_ex2 - 2", "smallest_circular = smallest_ex2 - 1"),
        ("~x[region.width_bits - 1]", "x[region.width_bits - 1]"),
        ("self.reduced.one.eq(whole[0]),", ""),
    ),
    *faults_in(
        "rtl.fp.transcendental",
        ("~value + 2, value", "~value + 1, value"),
        ("high.shift_left(_C1_LOW_BITS)", "high.shift_left(_C1_LOW_BITS - 1)"),
        ("Mux(integer == 0, c0[C0_FRACTION:], integer)", "integer"),
    ),
]
FROM_UNORM = faults_in(
    "rtl.fp.conversion",
    ("pattern[1:] + pattern[0]", "pattern[1:]"),
    ("pattern[1:] + pattern[0]", "pattern[1:] + 1 - pattern[0]"),
    ("pattern[1:] + pattern[0]", "pattern[:-1] + pattern[0]"),
    ("BIAS - 1 - zeros", "BIAS - zeros"),
    ("- zeros + rounded[SIGNIFICAND_BITS]", "- zeros"),
    ("rotate_left(m, number, zeros)", "number"),
    ("rotate_left(m, number, zeros)", "rotate_left(m, number, zeros[:-1])"),
    ("Cat(rotated, rotated, rotated, rotated)", "Cat(rotated, rotated, number, rotated)"),
    ("Cat(rounded[:FRACTION_BITS], exponent)", "Cat(rounded[1 : FRACTION_BITS + 1], exponent)"),
    ("delay(m, Mux(number.any(), word, 0)", "delay(m, word"),
    ("delay(m, Mux(number.any(), word, 0)", "delay(m, Mux(number[1:].any(), word, 0)"),
)
TO_UNORM = faults_in(
    "rtl.fp.conversion",
    ("discarded.any() | sticky | integer[0]", "discarded.any() | sticky"),
    ("discarded.any() | sticky | integer[0]", "discarded.any() | integer[0]"),
    ("half & (discarded", "0 & (discarded"),
    ("operand.significand.shift_left(bits) - operand.significand", "operand.significand.shift_left(bits)"),
    ("distance.eq(BIAS - 1 - operand.exponent)", "distance.eq(BIAS - operand.exponent)"),
    ("operand.nan | operand.sign | operand.zero", "operand.sign | operand.zero"),
    ("operand.nan | operand.sign | operand.zero", "operand.nan | operand.zero"),
    ("| ((distance >> amount_bits) > 0)", ""),
    ("Mux(one, (1 << bits) - 1, rounded)", "rounded"),
    ("~zero & (distance < 0)", "~zero & (distance <= 0)"),
)
COORDINATE = faults_in(
    "rtl.fp.conversion",
    ("operand.nan | (operand.sign & ~operand.zero)", "operand.sign & ~operand.zero"),
    ("operand.nan | (operand.sign & ~operand.zero)", "operand.nan | operand.sign"),
    ("operand.nan | (operand.sign & ~operand.zero)", "operand.nan"),
    ("exponent >= BIAS + INDEX_BITS", "exponent > BIAS + INDEX_BITS"),
    ("BIAS + INDEX_BITS - 1 - exponent", "BIAS + INDEX_BITS - exponent"),
    ("exponent < BIAS,", "exponent <= BIAS,"),
    ("below | small, 0", "below | operand.zero, 0"),
    ("beyond) >= self.limit", "beyond) > self.limit"),
    ("INDEX_BITS), beyond)", "INDEX_BITS), 0)"),
    ("self.limit - 1, floor", "self.limit, floor"),
    ("~below & Mux(small", "Mux(small"),
    ("Mux(small, self.limit.any(), ~above)", "~above"),
)
LANE = [
    *faults_in(
        "rtl.r5xx.alu.lane",
        ("product.b.eq(b)", "product.b.eq(a)"),
        ("selections.choice[index].eq(own.choice)", "selections.choice[index].eq(control.vector.choice)"),
        ("product_sum.fraction.eq(own.fraction)", "product_sum.fraction.eq(control.scalar.fraction)"),
        ("(control.dot == Dot.DOT2_ADD)", "(control.dot != Dot.DOT4)"),
        ("self.control.dot == Dot.DOT4", "self.control.dot != Dot.DOT3"),
        ("exponents[SCALAR], ZERO_EXPONENT)", "ZERO_EXPONENT, ZERO_EXPONENT)"),
        ("config.normalisation, name", "config.normalisation + 1, name"),
        ("shared[unit].eq(dot.raw)", "shared[unit].eq(transcendental.raw)"),
        ("shared[unit].eq(transcendental.raw)", "shared[unit].eq(dot.raw)"),
        ("result.clamp.eq(control.clamp)", "result.clamp.eq(control.clamp & (control.scale == 0))"),
        ("delay(m, at_rounding, config.rounding,", "delay(m, at_rounding, config.rounding + 1,"),
    ),
    *faults_in(
        "rtl.fp.dot_product",
        ("product.sign | ~takes_part", "product.sign"),
        ("product.nan & takes_part", "product.nan"),
    ),
]
# The adder's sum is so short that it has no bits below those that rounding keeps.
_WITHOUT_STICKY = [fault for fault in ROUNDING if "sticky" not in fault.old]

FAULTS = {
    "multiply_add": [*ROUNDING, *SUM, *SWAPPED, *PRODUCT],
    "multiplication": MULTIPLICATION,
    "adder": [*_WITHOUT_STICKY, *SUM, *ADDER],
    "fraction": [*FRACTION, SWAPPED[0]],
    "dot_product": [*DOT, *DOT_TERM_BITS, *PRODUCT, *ROUNDING[:2]],
    "selection": SELECTION,
    "output_modifier": MODIFIER,
    "zero_test": ZERO_TEST,
    "transcendental": TRANSCENDENTAL,
    "from_unorm8": FROM_UNORM,
    "from_unorm16": FROM_UNORM,
    "to_unorm8": TO_UNORM,
    "to_unorm16": TO_UNORM,
    "coordinate_index": COORDINATE,
    "lane": [*LANE, *RANGE],
}
