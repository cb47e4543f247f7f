"""Single mistakes in a lane and in its decoding that the comparisons with the golden model must find."""

from ctm.tb.lib.planting import Fault, faults_in

FAULTS = [
    *faults_in(
        "rtl.r700.code.controls",
        ('"MAX_DX10": {**_CHOICE, **_accepting("greater", "equal", "second_nan")}',
         '"MAX_DX10": {**_CHOICE, **_accepting("greater", "equal")}'),
        ('("less", "greater", "first_nan", "second_nan")', '("less", "greater", "first_nan")'),
        ('"D2": -1', '"D2": -2'),
    ),
    *faults_in("rtl.r700.code.slot_control", ("self.negate ^ (operation.pops << 1)", "self.negate")),
    *faults_in(
        "rtl.r700.lane.operand_words",
        ("below_one & sign & ~is_zero(first)", "below_one & sign"),  # FRACT(-0)
        ("(exponent[1:].all() & fraction.all())", "0"),  # MUL_LIT of -MAX_FLOAT
        ("with m.If(is_zero(first)):", "with m.If(1):"),
    ),
    *faults_in(
        "rtl.r700.lane.product_word",
        ("significand[: below - 2].any() |", ""),
        ("exponent[:EXPONENT_BITS].all()", "0"),
        ("~product.infinite & exponent[-1]", "0"),
        ("Cat((~is_high).replicate(EXPONENT_BITS - 1), is_high)", "Const((1 << (EXPONENT_BITS - 1)) - 1)"),
        ("half & (sticky | kept[0])", "half & sticky"),
        ("self.wanted & infinite", "infinite"),
    ),
    Fault("rtl.lib.choice", "other | first", "first"),
    *faults_in(
        "rtl.r700.lane.comparison",
        ("~self.smaller & ~same_magnitude, self.smaller", "~self.smaller, self.smaller"),
        ("is_float & is_zero(lhs) & is_zero(rhs)", "is_zero(lhs) & is_zero(rhs)"),
        ("Type.UNSIGNED, other_sign, sign", "Type.UNSIGNED, sign, other_sign"),
    ),
    *faults_in(
        "rtl.r700.lane.adder",
        ("half & (sticky | ~sign)", "half"),  # MOVA of -0.5
        ("half & (sticky | unit)", "half & sticky"),
        ("raw.zero_sign.eq(lhs.sign)", "raw.zero_sign.eq(0)"),
        ("raw.truncate.eq(1)", "raw.truncate.eq(0)"),
        ("amount[AMOUNT_BITS:].any().replicate(AMOUNT_BITS)", "0"),
        ("lhs.nan | lhs.infinite", "lhs.nan"),
    ),
    *faults_in(
        "rtl.r700.lane.index",
        ("raw.nan & ~self.is_integer", "raw.nan & 0"),
        ("upper.any() & ~upper.all()", "upper.any()"),
    ),
    *faults_in(
        "rtl.r700.lane.integer",
        ("Cat(subtract, a) + Cat(subtract, b", "Cat(0, a) + Cat(subtract, b"),
    ),
    *faults_in(
        "rtl.r700.lane.shift",
        ("(self.words[1] != 0)", "1"),
        ("self.operation), b[_COUNT_BITS:].any()", "self.operation), b[_COUNT_BITS]"),
        ("multiplier.a_is_signed.eq(first_is_signed)", "multiplier.a_is_signed.eq(0)"),
        ("~beyond | keeps_sign", "~beyond"),
        ("b[:_COUNT_BITS] | beyond.replicate(_COUNT_BITS)", "b[:_COUNT_BITS]"),
        ("a[FRACTION_BITS] | ~shifts", "1"),
        ("~shifts & ~self.b.zero", "~self.b.zero"),
    ),
    *faults_in(
        "rtl.r700.lane.candidates",
        ("second.first_nan | second.second_nan, second.equal", "second.first_nan, second.equal"),
        ("takes_first & ~is_nan(y)", "takes_first"),
        ("_negated(z, ~negative)", "_negated(z, negative)"),
    ),
    *faults_in(
        "rtl.r700.lane.outcome",
        ("control.inverts & ~self.holds & is_zero(self.lhs)", "0"),
    ),
    *faults_in(
        "rtl.r700.lane.slot",
        ("(rounded.exponent < 1) | rounded.zero", "rounded.zero"),  # a difference that becomes a denormal
        ("control.clamp & ~(rounded.nan & ~dx10_clamp)", "control.clamp"),
        ("is_word & (control.scale == 0) & ~clamp", "is_word & (control.scale == 0)"),
        ("adder.doubles.eq(control.cube if self._doubles else 0)", "adder.doubles.eq(0)"),
    ),
    *faults_in(
        "rtl.r700.lane.lane",
        ("self._dot_begins - timing.partial_products", "self._dot_begins - timing.partial_products + 1"),
    ),
    *faults_in(
        "rtl.r700.lane.magnitude",
        ("~zeros + is_power", "~zeros"),
    ),
    *faults_in(
        "rtl.r700.lane.multiplier",
        ("word[-1] & is_signed", "0"),
        ("cross + other_cross", "cross + cross"),
    ),
    *faults_in(
        "rtl.r700.lane.reciprocal",
        ("too_large = _exceeds(product) & ~is_saturated", "too_large = product[0] & 0"),
        ("too_small = ~_exceeds(next_product) & ~is_saturated", "too_small = product[0] & 0"),
        ("(product[WORD_BITS] & product[:WORD_BITS].any())", "product[WORD_BITS]"),
        ("is_saturated = ~self.x[1:].any()", "is_saturated = product[0] & 0"),
    ),
    *faults_in(
        "rtl.r700.lane.root",
        ("half & (sticky | kept[0])", "half & sticky"),
        ("(x.exponent + BIAS - 1) >> 1", "(x.exponent + BIAS) >> 1"),
        ("x.nan | (x.sign & ~x.zero)", "x.nan | x.sign"),
    ),
    *faults_in(
        "rtl.r700.lane.to_integer",
        ("is_large | (is_signed & magnitude[-1])", "is_large"),
        ("(operand.sign & ~self.is_signed)", "0"),
    ),
    *faults_in(
        "rtl.r700.lane.trans",
        ("raw.truncate.eq(limited)", "raw.truncate.eq(0)"),
        ("function.infinite & ~converts & ~limited", "function.infinite & ~converts"),
        ("gives_zero & reduction.reduced.infinite", "0"),
    ),
]  # fmt: skip
