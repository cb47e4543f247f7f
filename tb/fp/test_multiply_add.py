"""Multiply-add, the hardware's and the golden model's, against Berkeley SoftFloat on millions of operands."""

import numpy as np
import pytest

from ctm.rtl.config import PipelineConfig
from ctm.sim.golden import fp
from ctm.tb.fp import softfloat
from ctm.tb.fp.units import compiled
from ctm.tb.lib.compare import check
from ctm.tb.lib.words import Words, bits, floats

MILLIONS = 10
BATCH = 1_000_000


def uniform(generator: np.random.Generator) -> tuple[Words, ...]:
    """Exponents, signs and fractions all uniform."""
    return tuple(generator.integers(0, 1 << 32, BATCH, np.uint32) for _ in range(3))


def _with_exponent(words: Words, exponent: np.ndarray) -> Words:
    return words & np.uint32(0x807FFFFF) | np.clip(exponent, 0, 255).astype(np.uint32) << np.uint32(23)


def _factors(generator: np.random.Generator) -> tuple[Words, Words, np.ndarray]:
    """(a, b, the product's biased exponent), the product mostly within range."""
    a, b, _ = uniform(generator)
    left = generator.integers(1, 255, BATCH)
    right = np.clip(127 - left + generator.integers(0, 255, BATCH), 1, 254)
    return _with_exponent(a, left), _with_exponent(b, right), left + right - 127


def overlapping(generator: np.random.Generator) -> tuple[Words, ...]:
    """The addend's exponent is within 26 of the product's."""
    a, b, exponent = _factors(generator)
    c = generator.integers(0, 1 << 32, BATCH, np.uint32)
    return a, b, _with_exponent(c, exponent + generator.integers(-26, 27, BATCH))


def cancelling(generator: np.random.Generator) -> tuple[Words, ...]:
    """The addend is minus the product, give or take a few ulp."""
    a, b, _ = _factors(generator)
    with np.errstate(all="ignore"):
        product = bits(-(floats(a) * floats(b)))
    return a, b, (product.astype(np.int64) + generator.integers(-4, 5, BATCH)).astype(np.uint32)


def ties(generator: np.random.Generator) -> tuple[Words, ...]:
    """The product has 25 bits and is odd, so a tie; the addend, far below, decides, or is zero."""
    left = generator.integers(1 << 11, 1 << 12, BATCH) * 2 + 1
    right = generator.integers(1 << 11, 1 << 12, BATCH) * 2 + 1
    exponent = generator.integers(-40, 40, BATCH)
    a = (left * 2.0**exponent).astype(np.float32)
    far = generator.choice([-1.0, 0.0, 1.0], BATCH) * 2.0 ** (exponent - generator.integers(2, 80, BATCH))
    return bits(a), bits(right.astype(np.float32)), bits(far.astype(np.float32))


DIRECTED = {"overlapping": (overlapping, 4), "cancelling": (cancelling, 3), "ties": (ties, 3)}
KINDS = {"uniform": (uniform, MILLIONS), **DIRECTED}


def test_amounts():
    assert sum(millions for _, millions in DIRECTED.values()) == MILLIONS


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hardware_and_model_equal_softfloat(kind):
    draw, millions = KINDS[kind]
    unit = compiled("multiply_add", PipelineConfig())
    for seed in range(millions):
        a, b, c = draw(np.random.default_rng(seed))
        operands = {"a": a, "b": b, "c": c, "zero_times_anything": 0}
        expected = {"result": softfloat.multiply_add(a, b, c)}
        shown = {"a": a, "b": b, "c": c}
        check(unit(**operands), expected, shown)
        model = fp.multiply_add(floats(a), floats(b), floats(c), zero_times_anything=False)
        check({"result": bits(model)}, expected, shown)


def test_ties_catch_a_lost_sticky_bit():
    """The operands are worth something: without the far addend many results would differ."""
    a, b, c = ties(np.random.default_rng(0))
    changed = softfloat.multiply_add(a, b, c) != softfloat.multiply_add(a, b, np.zeros_like(c))
    assert 0.1 < changed.mean() < 0.9
