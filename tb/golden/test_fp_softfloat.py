"""The array arithmetic against Berkeley SoftFloat, with the machine's rules for denormals and NaNs put around it."""

from functools import partial

import numpy as np
import pytest
import softfloatpy as softfloat

from ctm.sim.golden import fp
from ctm.tb.lib.words import CORNERS, Words, bits, check, floats, near_words, one_by_one, random_words, triples

NAN = 0x7FFFFFFF


@pytest.fixture(autouse=True)
def _ieee_modes():
    softfloat.set_rounding_mode(softfloat.RoundingMode.NEAR_EVEN)
    softfloat.set_tininess_mode(softfloat.TininessMode.AFTER_ROUNDING)


def flush(word: int) -> int:
    return word & 0x80000000 if word & 0x7F800000 == 0 else word


def load(word: int) -> softfloat.Float32:
    return softfloat.Float32.from_bytes(flush(word).to_bytes(4, "big"))


def store(value: softfloat.Float32) -> int:
    """The machine's word: tiny after rounding is a zero, even where IEEE's coarser grid rounds it up to 2^-126."""
    word = int.from_bytes(value.to_bytes(), "big")
    if word & 0x7FFFFFFF > 0x7F800000:
        return NAN
    tiny = softfloat.test_exception_flags(softfloat.ExceptionFlag.UNDERFLOW)
    return word & 0x80000000 if tiny else flush(word)


def multiply_add(a: int, b: int, c: int) -> int:
    softfloat.set_exception_flags(0)
    return store(softfloat.f32_mul_add(load(a), load(b), load(c)))


def add(a: int, b: int) -> int:
    softfloat.set_exception_flags(0)
    return store(softfloat.f32_add(load(a), load(b)))


def multiply(a: int, b: int) -> int:
    softfloat.set_exception_flags(0)
    return store(softfloat.f32_mul(load(a), load(b)))


def multiply_then_add(a: int, b: int, c: int, zero_rule: bool) -> int:
    annulled = zero_rule and not (flush(a) & 0x7FFFFFFF and flush(b) & 0x7FFFFFFF)
    return add((a ^ b) & 0x80000000 if annulled else multiply(a, b), c)


def overlapping(count: int) -> tuple[Words, Words, Words]:
    """Addends with an exponent within 26 of the product's."""
    a, b, c = near_words(count, 1), near_words(count, 2), near_words(count, 3)
    offset = np.random.default_rng(4).integers(-26, 27, count)
    exponent = (a >> 23 & 0xFF).astype(np.int64) + (b >> 23 & 0xFF) - 127 + offset
    return a, b, c & np.uint32(0x807FFFFF) | exponent.astype(np.uint32) << np.uint32(23)


def cancelling(count: int) -> tuple[Words, Words, Words]:
    """Addends that are minus the product, give or take a few ulp."""
    a, b = near_words(count, 5), near_words(count, 6)
    product = -(floats(a) * floats(b))
    step = np.random.default_rng(7).integers(-3, 4, count)
    return a, b, (bits(product) + step).astype(np.uint32)


def ties_with_sticky_bits(count: int) -> tuple[Words, Words, Words]:
    """Sums of a 25-bit odd product, so a tie, and an addend too small for the 53 bits of a float64 sum.

    The product has 25 bits, the addend is 2^-30 to 2^-70 of it, of either sign.
    """
    generator = np.random.default_rng(8)
    left = generator.integers(1 << 11, 1 << 12, 4 * count) * 2 + 1
    right = generator.integers(1 << 11, 1 << 12, 4 * count) * 2 + 1
    odd = (left * right >> 24) == 1
    left, right = left[odd][:count], right[odd][:count]
    sign = generator.choice([-1.0, 1.0], left.size)
    tiny = sign * 2.0 ** generator.integers(-46, -5, left.size)
    a, b, c = left.astype(np.float32), right.astype(np.float32), tiny.astype(np.float32)
    return bits(a), bits(b), bits(c)


def small_products(count: int) -> tuple[Words, Words, Words]:
    """Operands whose results lie around the smallest normal number."""
    generator = np.random.default_rng(9)
    exponents = generator.integers(30, 69, count).astype(np.uint32)
    a = random_words(count, 10) & np.uint32(0x807FFFFF) | exponents << np.uint32(23)
    b = random_words(count, 11) & np.uint32(0x807FFFFF) | np.uint32(64 << 23)
    c = random_words(count, 12) & np.uint32(0x80FFFFFF)
    return a, b, c


def boundary_of_the_normals() -> tuple[Words, Words, Words]:
    """Sums of 2^-126 - 2^-151, where a 24-bit rounding changes from zero to 2^-126, and a hair to either side of it."""
    # 31 * 1082401 = 2^25 - 1 makes the boundary itself a product; -2 to +2 ulp surround it.
    exact = [(31 * 2.0**-20, 1082401 * 2.0**-131 * (1 + k * 2.0**-23), 0.0) for k in range(-2, 3)]
    # 2^-126 less a product of 2^-151 (1 + r / 2^46): too small a difference for a float64 sum to show.
    near = []
    for left in range((1 << 23) + 1, (1 << 23) + 4001, 2):
        for right in ((1 << 46) // left, (1 << 46) // left + 1):
            if abs(left * right - (1 << 46)) < 1 << 17:
                near.append((left * 2.0**-100, -right * 2.0**-97, 2.0**-126))
    rows = np.array(exact + near, np.float32)
    rows = np.concatenate([rows, rows * np.array([-1, 1, -1], np.float32)])
    a, b, c = (bits(np.ascontiguousarray(column)) for column in rows.T)
    return a, b, c


DIRECTED = {
    "corners": lambda: tuple(x[::5] for x in triples(CORNERS)),
    "random": lambda: tuple(random_words(30000, seed) for seed in (13, 14, 15)),
    "near": lambda: tuple(near_words(30000, seed) for seed in (16, 17, 18)),
    "overlapping": lambda: overlapping(30000),
    "cancelling": lambda: cancelling(20000),
    "ties": lambda: ties_with_sticky_bits(20000),
    "small": lambda: small_products(20000),
    "boundary": boundary_of_the_normals,
}


@pytest.mark.parametrize("name", DIRECTED)
def test_multiply_add(name):
    a, b, c = DIRECTED[name]()
    actual = fp.multiply_add(floats(a), floats(b), floats(c), zero_times_anything=False)
    check(bits(actual), one_by_one(multiply_add, a, b, c), a, b, c)


def test_operands_catch_double_rounding():
    """A planted fault: rounding in float64 first is wrong on many ties, and the comparison finds it."""
    a, b, c = ties_with_sticky_bits(20000)
    with np.errstate(all="ignore"):
        planted = (floats(a).astype(np.float64) * floats(b) + floats(c)).astype(np.float32)
    expected = one_by_one(multiply_add, a, b, c)
    wrong = bits(planted) != expected
    assert 0.2 < wrong.mean() < 0.5
    with pytest.raises(AssertionError, match="first at"):
        check(bits(planted), expected, a, b, c)


@pytest.mark.parametrize("name", DIRECTED)
def test_multiply_then_add(name):
    a, b, c = DIRECTED[name]()
    for zero_rule in (False, True) if name == "corners" else (False,):
        actual = fp.multiply_then_add(floats(a), floats(b), floats(c), zero_times_anything=zero_rule)
        check(bits(actual), one_by_one(partial(multiply_then_add, zero_rule=zero_rule), a, b, c), a, b, c)


@pytest.mark.parametrize(("name", "least"), [("cancelling", 0.5), ("ties", 0.3), ("overlapping", 0.05)])
def test_operands_tell_a_fused_sum(name, least):
    """A planted fault: one rounding instead of two."""
    a, b, c = (floats(x) for x in DIRECTED[name]())
    two = fp.multiply_then_add(a, b, c, zero_times_anything=False)
    one = fp.multiply_add(a, b, c, zero_times_anything=False)
    assert (bits(one) != bits(two)).mean() > least


def test_add_and_multiply():
    a, b, c = overlapping(30000)
    check(bits(fp.add(floats(a), floats(c))), one_by_one(add, a, c), a, c)
    a, b, _ = small_products(30000)
    check(bits(fp.multiply(floats(a), floats(b), zero_times_anything=False)), one_by_one(multiply, a, b), a, b)


def test_from_unorm():
    softfloat.set_exception_flags(0)
    for largest, dtype, convert in ((255, np.uint8, fp.from_unorm8), (65535, np.uint16, fp.from_unorm16)):
        words = np.arange(largest + 1, dtype=np.uint32)
        whole = softfloat.Float32.from_float(float(largest))

        def quotient(n: int, whole=whole) -> int:
            return store(softfloat.f32_div(softfloat.Float32.from_float(float(n)), whole))

        check(bits(convert(words.astype(dtype))), one_by_one(quotient, words), words)


def test_to_unorm():
    """Products of 40 bits are exact in float64, so SoftFloat's float64 rounds them once, to an integer."""
    ties = (np.arange(0, 2 * 65535 + 1, 3) / (2 * 65535)).astype(np.float32)
    words = np.concatenate([bits(ties), bits(ties) + np.uint32(1), random_words(5000, 19) & np.uint32(0x3FFFFFFF)])
    words = words[words <= 0x3F800000]
    for largest, convert in ((255, fp.to_unorm8), (65535, fp.to_unorm16)):
        whole = softfloat.Float64.from_float(float(largest))

        def nearest(word: int, whole=whole) -> int:
            product = softfloat.f64_mul(softfloat.f32_to_f64(load(word)), whole)
            return softfloat.f64_to_ui32(product, softfloat.RoundingMode.NEAR_EVEN).to_int()

        check(convert(floats(words)).astype(np.uint32), one_by_one(nearest, words), words)


HALVES = bits(np.arange(-20, 20.25, 0.25, dtype=np.float32))


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("trunc", softfloat.RoundingMode.MIN_MAG),
        ("ceil", softfloat.RoundingMode.MAX),
        ("rint", softfloat.RoundingMode.NEAR_EVEN),
        ("floor", softfloat.RoundingMode.MIN),
    ],
)
def test_rounding_to_integral_values(name, mode):
    words = np.concatenate([CORNERS, HALVES, HALVES + np.uint32(1), HALVES - np.uint32(1), near_words(5000, 20, 60)])
    softfloat.set_exception_flags(0)
    expected = one_by_one(lambda word: store(softfloat.f32_round_to_int(load(word), mode)), words)
    check(bits(getattr(fp, name)(floats(words))), expected, words)


def test_integers():
    """Integers to floats at every rounding edge, and floats back: those in range, as SoftFloat does not saturate."""
    edges = [(odd << shift) + step for shift in range(1, 9) for odd in (0x800001, 0xFFFFFF) for step in (-1, 0, 1)]
    halves = [value + (1 << shift - 1) for shift in range(1, 9) for value in edges]
    words = np.concatenate([np.array(edges + halves, np.int64).astype(np.uint32), random_words(5000, 21)])
    softfloat.set_exception_flags(0)
    signed = one_by_one(lambda n: store(softfloat.i32_to_f32(softfloat.Int32.from_int(n - (n >> 31 << 32)))), words)
    check(bits(fp.from_integer(words.view(np.int32))), signed, words)
    unsigned = one_by_one(lambda n: store(softfloat.ui32_to_f32(softfloat.UInt32.from_int(n))), words)
    check(bits(fp.from_integer(words)), unsigned, words)
    words = near_words(5000, 22, 60)
    words = words[words & 0x7FFFFFFF < 0x4F000000]
    chop = softfloat.RoundingMode.MIN_MAG
    expected = one_by_one(lambda word: softfloat.f32_to_i32(load(word), chop).to_int() % 2**32, words)
    check(fp.to_int32(floats(words)).view(np.uint32), expected, words)
    words &= np.uint32(0x7FFFFFFF)
    expected = one_by_one(lambda word: softfloat.f32_to_ui32(load(word), chop).to_int(), words)
    check(fp.to_uint32(floats(words)), expected, words)
