"""The array arithmetic gives the bits of the scalar specification."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ctm.sim.golden import fp
from ctm.tb.golden import scalar
from ctm.tb.lib.words import CORNERS, bits, check, floats, near_words, one_by_one, pairs, random_words, triples

SINGLES = np.concatenate([CORNERS, random_words(4000, 1), near_words(2000, 2)])
PAIRS = tuple(
    np.concatenate(columns)
    for columns in zip(
        pairs(CORNERS),
        (random_words(3000, 3), random_words(3000, 4)),
        (near_words(3000, 5), near_words(3000, 6)),
        strict=True,
    )
)
CORNER_TRIPLES = tuple(x[::23] for x in triples(CORNERS))
TRIPLES = tuple(
    np.concatenate(columns)
    for columns in zip(
        CORNER_TRIPLES,
        (random_words(4000, 7), random_words(4000, 8), random_words(4000, 9)),
        (near_words(4000, 10), near_words(4000, 11), near_words(4000, 12)),
        strict=True,
    )
)


@pytest.mark.parametrize("zero_rule", [False, True])
def test_multiply_add(zero_rule):
    a, b, c = TRIPLES
    actual = fp.multiply_add(floats(a), floats(b), floats(c), zero_times_anything=zero_rule)
    expected = one_by_one(lambda x, y, z: scalar.multiply_add(x, y, z, zero_rule), a, b, c)
    check(bits(actual), expected, a, b, c)


def around_the_smallest_normal():
    """Products a little above and below 2^-126, and addends that push them over every boundary there."""
    generator = np.random.default_rng(13)
    exponents = (generator.integers(20, 69, 20000), np.full(20000, 64), generator.integers(0, 3, 20000))
    return tuple(
        exponent.astype(np.uint32) << np.uint32(23) | random_words(20000, seed) & np.uint32(0x807FFFFF)
        for seed, exponent in enumerate(exponents, 14)
    )


def test_multiply_add_around_the_smallest_normal():
    a, b, c = around_the_smallest_normal()
    actual = fp.multiply_add(floats(a), floats(b), floats(c), zero_times_anything=False)
    check(bits(actual), one_by_one(lambda x, y, z: scalar.multiply_add(x, y, z, False), a, b, c), a, b, c)


@pytest.mark.parametrize("operation", range(4))
def test_presubtract(operation):
    actual = fp.presubtract(operation, floats(PAIRS[0]), floats(PAIRS[1]))
    check(bits(actual), one_by_one(lambda x, y: scalar.presubtract(operation, x, y), *PAIRS), *PAIRS)


def test_add():
    check(bits(fp.add(*map(floats, PAIRS))), one_by_one(scalar.add, *PAIRS), *PAIRS)


@pytest.mark.parametrize("zero_rule", [False, True])
def test_multiply(zero_rule):
    for a, b in (PAIRS, around_the_smallest_normal()[:2]):
        actual = fp.multiply(floats(a), floats(b), zero_times_anything=zero_rule)
        check(bits(actual), one_by_one(lambda x, y: scalar.multiply(x, y, zero_rule), a, b), a, b)


@pytest.mark.parametrize("zero_rule", [False, True])
def test_multiply_then_add(zero_rule):
    for a, b, c in (TRIPLES, around_the_smallest_normal()):
        actual = fp.multiply_then_add(floats(a), floats(b), floats(c), zero_times_anything=zero_rule)
        check(bits(actual), one_by_one(lambda x, y, z: scalar.multiply_then_add(x, y, z, zero_rule), a, b, c), a, b, c)


@pytest.mark.parametrize(("terms", "has_addend"), [(2, True), (3, False), (4, False), (2, False)])
@pytest.mark.parametrize("zero_rule", [False, True])
@pytest.mark.parametrize("make", [random_words, near_words])
def test_dot(terms, has_addend, zero_rule, make):
    count = 4000
    operands = [make(count, 20 + k) for k in range(2 * terms + 1)]
    corner = np.random.default_rng(19)
    for operand in operands:
        where = corner.random(count) < 0.2
        operand[where] = corner.choice(CORNERS, int(where.sum()))
    a, b, addend = operands[:terms], operands[terms : 2 * terms], operands[-1]
    actual = fp.dot(
        np.stack([floats(x) for x in a]),
        np.stack([floats(x) for x in b]),
        addend=floats(addend) if has_addend else None,
        zero_times_anything=zero_rule,
    )

    def expected(*words):
        return scalar.dot(words[:terms], words[terms : 2 * terms], words[-1] if has_addend else None, zero_rule)

    check(bits(actual), one_by_one(expected, *operands), *operands)


def test_dot_of_cancelling_terms():
    count = 6000
    a = [near_words(count, 30 + k, 60) for k in range(4)]
    b = [near_words(count, 40 + k, 8) for k in range(4)]
    # The second product cancels the first, exactly or but for the last bit.
    a[1] = a[0] ^ np.uint32(0x80000000)
    b[1] = b[0] + np.random.default_rng(50).integers(0, 2, count).astype(np.uint32)
    actual = fp.dot([floats(x) for x in a], [floats(x) for x in b], zero_times_anything=True)
    check(bits(actual), one_by_one(lambda *w: scalar.dot(w[:4], w[4:], None, True), *a, *b), *a, *b)


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_two_operand_selections(name):
    actual = getattr(fp, name)(floats(PAIRS[0]), floats(PAIRS[1]))
    check(bits(actual), one_by_one(getattr(scalar, name), *PAIRS), *PAIRS)


@pytest.mark.parametrize("name", ["select_above_half", "select_not_negative"])
def test_three_operand_selections(name):
    actual = getattr(fp, name)(*map(floats, TRIPLES))
    check(bits(actual), one_by_one(getattr(scalar, name), *TRIPLES), *TRIPLES)


def test_fraction():
    check(bits(fp.fraction(floats(SINGLES))), one_by_one(scalar.fraction, SINGLES), SINGLES)


@pytest.mark.parametrize("name", ["trunc", "ceil", "rint", "floor"])
def test_rounding_to_integral_values(name):
    halves = bits(np.arange(-20, 20.25, 0.25, dtype=np.float32))
    words = np.concatenate([SINGLES, halves, halves + np.uint32(1), halves - np.uint32(1)])
    check(bits(getattr(fp, name)(floats(words))), one_by_one(getattr(scalar, name), words), words)


def test_integers():
    edges = bits(np.array([sign * 2.0**power for power in (0, 23, 24, 30, 31, 32) for sign in (1, -1)], np.float32))
    words = np.concatenate([SINGLES, edges, edges + np.uint32(1), edges - np.uint32(1)])
    for convert, least, most in ((fp.to_int32, -(2**31), 2**31 - 1), (fp.to_uint32, 0, 2**32 - 1)):
        expected = one_by_one(lambda x, least=least, most=most: scalar.to_integer(x, least, most) % 2**32, words)
        check(convert(floats(words)).view(np.uint32), expected, words)
    check(bits(fp.from_integer(words)), one_by_one(scalar.from_integer, words), words)
    signed = one_by_one(lambda n: scalar.from_integer(n - (n >> 31 << 32)), words)
    check(bits(fp.from_integer(words.view(np.int32))), signed, words)


@pytest.mark.parametrize("modifier", range(4))
def test_input_modifier(modifier):
    actual = fp.input_modifier(floats(SINGLES), modifier)
    check(bits(actual), one_by_one(lambda x: scalar.input_modifier(x, modifier), SINGLES), SINGLES)


@pytest.mark.parametrize("modifier", range(7))
def test_output_modifier(modifier):
    boundary = np.arange(0x00700000, 0x02900000, 0x3FFF, dtype=np.uint32)
    words = np.concatenate([SINGLES, boundary, boundary + np.uint32(0x80000000)])
    actual = fp.output_modifier(floats(words), modifier)
    check(bits(actual), one_by_one(lambda x: scalar.output_modifier(x, modifier), words), words)


def test_clamp():
    check(bits(fp.clamp(floats(SINGLES))), one_by_one(scalar.clamp, SINGLES), SINGLES)


@pytest.mark.parametrize("test", range(4))
def test_tests_against_zero(test):
    actual = fp.test_zero(floats(SINGLES), test)
    check(actual.astype(np.uint32), one_by_one(lambda x: scalar.test_zero(x, test), SINGLES), SINGLES)


def test_unorm_reads():
    words = np.arange(65536, dtype=np.uint32)
    expected = one_by_one(lambda n: scalar.from_unorm(n, 65535), words)
    check(bits(fp.from_unorm16(words.astype(np.uint16))), expected, words)
    expected = one_by_one(lambda n: scalar.from_unorm(n, 255), words[:256])
    check(bits(fp.from_unorm8(words[:256].astype(np.uint8))), expected, words[:256])


def test_unorm_writes():
    # All values, all halfway points and their neighbours.
    ties = np.arange(0, 2 * 65535 + 1, dtype=np.float64) / (2 * 65535)
    around = bits(ties.astype(np.float32))
    words = np.concatenate([SINGLES, around[::7], around[1::7] + np.uint32(1), around[2::7] - np.uint32(1)])
    for largest, convert in ((65535, fp.to_unorm16), (255, fp.to_unorm8)):
        expected = one_by_one(lambda x, largest=largest: scalar.to_unorm(x, largest), words)
        check(convert(floats(words)).astype(np.uint32), expected, words)


@pytest.mark.parametrize("limit", [1, 7, 4096])
def test_coordinate_index(limit):
    words = np.concatenate([SINGLES, bits(np.linspace(-2, 4100, 4001, dtype=np.float32))])
    actual = fp.coordinate_index(floats(words), limit)
    check(actual.astype(np.uint32), one_by_one(lambda x: scalar.coordinate_index(x, limit), words), words)


def test_unorm_values_survive_a_round_trip():
    words = np.arange(65536, dtype=np.uint16)
    assert np.array_equal(fp.to_unorm16(fp.from_unorm16(words)), words)
    assert np.array_equal(fp.to_unorm8(fp.from_unorm8(words[:256].astype(np.uint8))), words[:256])


def test_denormals_are_found_and_flushed():
    words = SINGLES
    denormal = (words & 0x7FFFFFFF != 0) & (words & 0x7FFFFFFF < 0x00800000)
    flushed = fp.flush_denormals(floats(words))
    check(bits(flushed), np.where(denormal, words & 0x80000000, words).astype(np.uint32), words)
    assert fp.has_denormal(floats(words)) and not fp.has_denormal(flushed)
    assert fp.flush_denormals(flushed) is flushed


def test_shapes_broadcast_and_blocks_join():
    # Larger than the block that is worked on at once, so that every path through the blocks is taken.
    columns = 70001
    a = floats(random_words(4 * columns, 60)).reshape(4, columns)
    b = floats(random_words(columns, 61))
    c = floats(random_words(4, 62)).reshape(4, 1)
    actual = fp.multiply_add(a, b, c, zero_times_anything=True)
    for row, start in itertools.product(range(4), (0, 35000, 65500)):
        window = slice(start, start + 100)
        expected = fp.multiply_add(a[row, window], b[window], c[row], zero_times_anything=True)
        assert np.array_equal(bits(actual[row, window]), bits(expected))
    rows = fp.dot(a, c, zero_times_anything=True)
    window = slice(65500, 65600)
    assert np.array_equal(bits(rows[window]), bits(fp.dot(a[:, window], c, zero_times_anything=True)))


def test_results_land_in_out():
    a, b = floats(PAIRS[0]), floats(PAIRS[1])
    out = np.empty_like(a)
    for call in (
        lambda out: fp.multiply_add(a, b, a, zero_times_anything=True, out=out),
        lambda out: fp.multiply(a, b, zero_times_anything=True, out=out),
        lambda out: fp.multiply_then_add(a, b, a, zero_times_anything=True, out=out),
        lambda out: fp.dot([a, b], [b, b], zero_times_anything=True, out=out),
        lambda out: fp.presubtract(1, a, b, out=out),
        lambda out: fp.maximum(a, b, out=out),
        lambda out: fp.fraction(a, out=out),
        lambda out: fp.output_modifier(a, 5, out=out),
        lambda out: fp.clamp(a, out=out),
        lambda out: fp.input_modifier(a, 3, out=out),
    ):
        assert call(out) is out
        assert np.array_equal(bits(out), bits(call(None)))


def test_in_place_where_allowed():
    a, b = floats(PAIRS[0]), floats(PAIRS[1])
    for call in (
        lambda x, out: fp.output_modifier(x, 5, out=out),
        lambda x, out: fp.clamp(x, out=out),
        lambda x, out: fp.input_modifier(x, 3, out=out),
        lambda x, out: fp.presubtract(2, x, b, out=out),
        lambda x, out: fp.add(x, b, out=out),
        lambda x, out: fp.minimum(x, b, out=out),
        lambda x, out: fp.minimum(b, x, out=out),
        lambda x, out: fp.fraction(x, out=out),
        lambda x, out: fp.rint(x, out=out),
        lambda x, out: fp.choose(x.view(np.uint32) > 9, x, b, out),
    ):
        expected = call(a, None)
        changed = a.copy()
        assert np.array_equal(bits(call(changed, changed)), bits(expected))


def test_threads_do_not_disturb_each_other():
    operands = [floats(random_words(50000, seed)) for seed in range(70, 78)]

    def compute(a):
        b, c = a[::-1], np.roll(a, 7)
        return [
            fp.multiply_add(a, b, c, zero_times_anything=True),
            fp.multiply_then_add(a, b, c, zero_times_anything=True),
            fp.dot([a, b, c], [c, a, b], zero_times_anything=False),
            fp.sin(a),
            fp.ln2(b),
            fp.fraction(c),
        ]

    alone = [compute(a) for a in operands]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(compute, operands * 4))
    for at, results in enumerate(together):
        for expected, actual in zip(alone[at % len(operands)], results, strict=True):
            assert np.array_equal(bits(actual), bits(expected))


def test_nothing_is_warned_of():
    """Invalid operations and overflow are results like others: a caller that raises on them is not disturbed."""
    a, b = floats(PAIRS[0]), floats(PAIRS[1])
    with np.errstate(all="raise"):
        fp.multiply_add(a, b, a, zero_times_anything=False)
        fp.dot([a, b], [b, b], addend=a, zero_times_anything=False)
        fp.minimum(a, b), fp.maximum(a, b), fp.select_above_half(a, b, a), fp.select_not_negative(a, b, a)
        fp.multiply(a, b, zero_times_anything=False), fp.multiply_then_add(a, b, a, zero_times_anything=False)
        fp.fraction(a), fp.add(a, b), fp.trunc(a), fp.ceil(a), fp.rint(a), fp.floor(a)
        fp.to_int32(a), fp.to_uint32(a)
        for operation in range(4):
            fp.presubtract(operation, a, b)
            fp.test_zero(a, operation)
            fp.input_modifier(a, operation)
        for modifier in range(7):
            fp.output_modifier(a, modifier)
        fp.to_unorm16(a), fp.to_unorm8(a), fp.coordinate_index(a, 100), fp.clamp(a), fp.flush_denormals(a)
        fp.rcp(a), fp.rsq(a), fp.ex2(a), fp.ln2(a), fp.sin(a), fp.cos(a)


def test_empty_arrays():
    none = np.empty(0, np.float32)
    assert fp.multiply_add(none, none, none, zero_times_anything=True).size == 0
    assert fp.dot([none, none], [none, none], zero_times_anything=True).size == 0
    assert fp.multiply(none, none, zero_times_anything=True).size == 0
    assert fp.multiply_then_add(none, none, none, zero_times_anything=True).size == 0
    for operation in (fp.fraction, fp.floor, fp.to_int32, fp.to_uint32, fp.rcp, fp.sin, fp.clamp, fp.flush_denormals):
        assert operation(none).size == 0
    assert fp.output_modifier(none, 4).size == 0 and fp.presubtract(0, none, none).size == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda x: fp.presubtract(4, x, x),
        lambda x: fp.input_modifier(x, 4),
        lambda x: fp.output_modifier(x, 7),
        lambda x: fp.test_zero(x, -1),
    ],
)
def test_codes_out_of_range_are_errors(call):
    with pytest.raises(ValueError, match="must be 0"):
        call(floats([0]))
