"""RCP, RSQ, EX2, LN2, SIN, COS: twins, special values, sampled accuracy, and the table that they read."""

import numpy as np
import pytest

from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import ADDRESS_BITS, C0_BITS, C1_BITS, C2_BITS
from ctm.sim.golden import fp
from ctm.sim.golden.fp import fit
from ctm.tb.golden import scalar
from ctm.tb.golden.accuracy import Measurement, consecutive, measure
from ctm.tb.golden.functions import FUNCTIONS
from ctm.tb.lib.words import CORNERS, bits, check, floats, near_words, one_by_one, random_words, show

OPERATIONS = ("rcp", "rsq", "ex2", "ln2", "sin", "cos")
# Every word that matters for reductions: wide and narrow ranges of exponents, and the neighbours of powers of two.
POWERS = np.arange(1, 255, dtype=np.uint32) << np.uint32(23)
OPERANDS = np.concatenate(
    [
        CORNERS,
        POWERS,
        POWERS - np.uint32(1),
        POWERS + np.uint32(1),
        POWERS + np.uint32(0x80000001),
        random_words(6000, 1),
        near_words(6000, 2, 60),
        near_words(3000, 3, 8),
    ]
)


@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_match_the_scalar_specification(name):
    check(bits(getattr(fp, name)(floats(OPERANDS))), one_by_one(getattr(scalar, name), OPERANDS), OPERANDS)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_segment_matches_the_scalar_specification(name):
    # First, last and two inner fractions of each segment, for even and odd exponents; whole periods of SIN and COS.
    offsets = np.array([0, 1, 0x1FFF, 0x2A5B], np.uint32)
    fractions = (np.arange(512, dtype=np.uint32)[:, None] << np.uint32(14) | offsets).ravel()
    words = np.concatenate([fractions | exponent << np.uint32(23) for exponent in np.array([125, 126, 127], np.uint32)])
    check(bits(getattr(fp, name)(floats(words))), one_by_one(getattr(scalar, name), words), words)


INF, NEGATIVE_INF, NAN, QUIET = 0x7F800000, 0xFF800000, 0x7FFFFFFF, 0xFFC00001
ZERO, MINUS_ZERO, DENORMAL, MINUS_DENORMAL = 0x00000000, 0x80000000, 0x007FFFFF, 0x80000001
ONE, TWO, MINUS_ONE, HALF, QUARTER = 0x3F800000, 0x40000000, 0xBF800000, 0x3F000000, 0x3E800000
EXAMPLES = {
    "rcp": {
        ZERO: INF,
        MINUS_ZERO: NEGATIVE_INF,
        MINUS_DENORMAL: NEGATIVE_INF,
        INF: ZERO,
        NEGATIVE_INF: MINUS_ZERO,
        QUIET: NAN,
        ONE: ONE,
        0xC0800000: 0xBE800000,  # -4
        0x40400000: 0x3EAAAAAB,  # 3
        0x7E800000: 0x00800000,  # 2^126
        0x7E800001: ZERO,
        0xFF7FFFFF: MINUS_ZERO,
        0x00800000: 0x7E800000,
    },
    "rsq": {
        ZERO: INF,
        MINUS_ZERO: INF,
        MINUS_DENORMAL: INF,
        0x80800000: NAN,
        MINUS_ONE: NAN,
        NEGATIVE_INF: NAN,
        INF: ZERO,
        QUIET: NAN,
        0x40800000: HALF,  # 4
        0x00800000: 0x5F000000,  # 2^-126 -> 2^63
        TWO: 0x3F3504F3,
    },
    "ex2": {
        ZERO: ONE,
        MINUS_DENORMAL: ONE,
        INF: INF,
        NEGATIVE_INF: ZERO,
        QUIET: NAN,
        0x43000000: INF,  # 128
        0x42FE0000: 0x7F000000,  # 127
        0xC2FC0000: 0x00800000,  # -126
        0xC2FC0001: ZERO,
        0xFF7FFFFF: ZERO,
        HALF: 0x3FB504F3,
    },
    "ln2": {
        ZERO: NEGATIVE_INF,
        MINUS_ZERO: NEGATIVE_INF,
        DENORMAL: NEGATIVE_INF,
        0x80800000: NAN,
        NEGATIVE_INF: NAN,
        INF: INF,
        QUIET: NAN,
        ONE: ZERO,
        0x3E000000: 0xC0400000,  # 1/8
        0x00800000: 0xC2FC0000,  # 2^-126
    },
    "sin": {
        ZERO: ZERO,
        MINUS_ZERO: MINUS_ZERO,
        MINUS_DENORMAL: MINUS_ZERO,
        QUARTER: ONE,
        HALF: ZERO,
        0xBF000000: MINUS_ZERO,
        0x3F400000: MINUS_ONE,  # 3/4
        0xBE800000: MINUS_ONE,
        0xCB000001: MINUS_ZERO,  # a large whole number
        0x4A800001: ZERO,  # 2^22 + 1/2
        INF: NAN,
        NEGATIVE_INF: NAN,
        QUIET: NAN,
    },
    "cos": {
        ZERO: ONE,
        MINUS_ZERO: ONE,
        QUARTER: ZERO,
        0xBE800000: ZERO,
        HALF: MINUS_ONE,
        0x3F400000: ZERO,
        0x7F7FFFFF: ONE,
        INF: NAN,
        QUIET: NAN,
    },
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_special_and_exact_values(name):
    for operand, expected in EXAMPLES[name].items():
        from_arrays = int(bits(getattr(fp, name)(floats([operand])))[0])
        from_scalar = getattr(scalar, name)(operand)
        assert from_arrays == expected, f"{show(operand)} gives {show(from_arrays)}, not {show(expected)}"
        assert from_scalar == expected, f"{show(operand)} gives {show(from_scalar)}, not {show(expected)}"


def measure_runs(name: str, starts, count: int) -> Measurement:
    total = Measurement()
    for first in starts:
        total.merge(measure(FUNCTIONS[name], consecutive(int(first), count)))
    return total


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bounds_hold_on_samples(name):
    """Runs of consecutive words spread over all words, and over those near 1; all of them: scripts/accuracy."""
    spread = np.arange(0, 1 << 32, 1 << 23) + np.random.default_rng(4).integers(0, 1 << 22, 512)
    near_one = 0x3F000000 + np.arange(0, 1 << 24, 1 << 16)
    for starts, count in ((spread, 1024), (near_one, 2048), ([0x3F7F0000, 0x3F800000, 0xBF7F0000], 1 << 16)):
        measured = measure_runs(name, starts, count)
        assert measured.special_wrong == 0
        assert measured.not_monotone == 0
        assert measured.not_symmetric == 0
        assert measured.relative.error < 1.0, show(measured.relative.word)
        assert measured.absolute.error <= 1.0, show(measured.absolute.word)


def test_a_wrong_table_entry_is_noticed(monkeypatch):
    wrong = np.array(fp.interpolation._C0)
    wrong[100] += 2 << 11  # 2 ulp
    monkeypatch.setattr(fp.interpolation, "_C0", wrong)
    measured = measure_runs("RCP", [0x3F800000 + (100 << 15)], 1 << 15)
    assert measured.relative.error > 1.0
    assert measure_runs("RCP", [0x3F800000 + (99 << 15)], 1 << 16).not_monotone == 1


def test_sine_never_exceeds_one():
    words = np.concatenate([consecutive(0x3E7FC000, 1 << 15), consecutive(0x3EFFC000, 1 << 15)])
    for result in (fp.sin(floats(words)), fp.cos(floats(words))):
        assert np.abs(result).max() == 1.0


def test_table_fits_its_widths():
    assert len(COEFFICIENTS) == 1 << ADDRESS_BITS
    for c0, c1, c2 in COEFFICIENTS:
        assert 0 <= c0 < 1 << C0_BITS
        assert -(1 << (C1_BITS - 1)) <= c1 < 1 << (C1_BITS - 1)
        assert -(1 << (C2_BITS - 1)) <= c2 < 1 << (C2_BITS - 1)


def test_regions_cover_the_table():
    addresses = [region.base + index for region, _ in fit.REGIONS for index in range(region.entries)]
    assert addresses == list(range(1 << ADDRESS_BITS))
    assert all(region.base % region.entries == 0 for region, _ in fit.REGIONS)


def test_table_is_what_the_fit_gives():
    for region, function in fit.REGIONS:
        for index in (0, 1, region.entries // 2, region.entries - 1):
            assert fit.fit_segment(region, function, index) == COEFFICIENTS[region.base + index]


@pytest.mark.parametrize("name", OPERATIONS)
def test_results_land_in_out(name):
    operation = getattr(fp, name)
    a = floats(OPERANDS)
    out = np.empty_like(a)
    assert operation(a, out=out) is out
    assert np.array_equal(bits(out), bits(operation(a)))
    flushed = fp.flush_denormals(a)
    assert np.array_equal(bits(operation(flushed, clean=True)), bits(out))
    wide = np.broadcast_to(floats(OPERANDS[:500]), (3, 500))
    assert np.array_equal(bits(operation(wide)), np.broadcast_to(bits(out)[:500], (3, 500)))
