"""Integers that take several operations: division as compilers write it, and reciprocals by their definition."""

import numpy as np
import pytest

from ctm.sim.golden.r700.formulas import VALUES
from ctm.tb.golden.r700.operands import EVERY, around
from ctm.tb.lib.words import Words, bits, check, floats, pairs, random_words


def operate(name: str, *operands: Words) -> Words:
    return bits(VALUES[name](*(floats(x) for x in operands)))


def divide(dividend: Words, divisor: Words) -> tuple[Words, Words]:
    """Quotient and remainder by a reciprocal, one step towards the exact one, and a correction by one at the end."""
    zero, one = np.zeros(1, np.uint32), np.ones(1, np.uint32)
    reciprocal = operate("RECIP_UINT", divisor)
    low, high = operate("MULLO_UINT", reciprocal, divisor), operate("MULHI_UINT", reciprocal, divisor)
    error = operate("CNDE_INT", high, operate("SUB_INT", zero, low), low)
    step = operate("MULHI_UINT", error, reciprocal)
    above, below = operate("ADD_INT", reciprocal, step), operate("SUB_INT", reciprocal, step)
    quotient = operate("MULHI_UINT", operate("CNDE_INT", high, above, below), dividend)
    product = operate("MULLO_UINT", quotient, divisor)
    remainder = operate("SUB_INT", dividend, product)
    too_small = operate("SETGE_UINT", remainder, divisor)
    not_too_large = operate("SETGE_UINT", dividend, product)
    up = operate("AND_INT", too_small, not_too_large)
    corrected = operate("CNDE_INT", up, quotient, operate("ADD_INT", quotient, one))
    quotient = operate("CNDE_INT", not_too_large, operate("SUB_INT", quotient, one), corrected)
    return quotient, operate("SUB_INT", dividend, operate("MULLO_UINT", quotient, divisor))


def operands() -> tuple[Words, Words]:
    edges = np.unique(np.concatenate([EVERY, around(np.uint32(1) << np.arange(32, dtype=np.uint32))]))
    dividends, divisors = (
        np.concatenate([corner, random_words(100000, seed), random_words(100000, seed + 1) >> np.uint32(shift)])
        for corner, seed, shift in zip(pairs(edges), (1, 3), (0, 20), strict=True)
    )
    return dividends[divisors != 0], divisors[divisors != 0]


def test_division():
    dividend, divisor = operands()
    quotient, remainder = divide(dividend, divisor)
    check(quotient, dividend // divisor, dividend, divisor)
    check(remainder, dividend % divisor, dividend, divisor)


def test_reciprocals_are_the_largest_that_fit():
    _, divisor = operands()
    divisor = divisor[divisor > 1].astype(np.uint64)
    reciprocal = operate("RECIP_UINT", divisor.astype(np.uint32)).astype(np.uint64)
    assert (reciprocal * divisor <= 2**32).all()
    assert ((reciprocal + np.uint64(1)) * divisor > 2**32).all()


@pytest.mark.parametrize(("kind", "wide"), [("INT", np.int64), ("UINT", np.uint64)])
def test_products_have_two_halves(kind, wide):
    left, right = operands()
    low, high = operate(f"MULLO_{kind}", left, right), operate(f"MULHI_{kind}", left, right)
    narrow = np.int32 if kind == "INT" else np.uint32
    product = (left.view(narrow).astype(wide) * right.view(narrow).astype(wide)).view(np.uint64)
    check(low, product.astype(np.uint32), left, right)
    check(high, (product >> np.uint64(32)).astype(np.uint32), left, right)
