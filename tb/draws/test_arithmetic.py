"""The machine's operations between vertices and pixels, by hand: zeros, infinities, denormals, shapes."""

import numpy as np

from ctm.sim.golden.draw import arithmetic

F = np.float32
INFINITY = F(np.inf)
LEAST = F(2.0**-126)


def words(*values: float | np.float32) -> np.ndarray:
    return np.array(values, F)


def bits(values: np.ndarray) -> list[int]:
    return values.view(np.uint32).tolist()


def test_zero_times_infinity_is_the_one_nan() -> None:
    zero, infinite, one = words(0), words(np.inf), words(1)
    for found in (
        arithmetic.multiply(zero, infinite), arithmetic.multiply_then_add(zero, infinite, one),
        arithmetic.multiply_add(zero, infinite, one), arithmetic.add(infinite, -infinite),
    ):  # fmt: skip
        assert bits(found) == [0x7FFFFFFF]


def test_denormal_results_are_zeros_of_their_sign() -> None:
    half = words(0.5)
    assert bits(arithmetic.multiply(words(LEAST, -LEAST), half)) == [0, 0x80000000]
    assert bits(arithmetic.subtract(words(1.5 * LEAST), words(LEAST))) == [0]
    assert bits(arithmetic.multiply_then_add(words(LEAST), half, words(0))) == [0]
    # Rounded once, the product's half is not lost: 0.5 + 1.5.
    assert arithmetic.multiply_add(words(LEAST), half, words(1.5 * LEAST)).tolist() == [2 * LEAST]
    assert arithmetic.multiply_then_add(words(LEAST), half, words(1.5 * LEAST)).tolist() == [1.5 * LEAST]
    assert bits(arithmetic.flush(words(LEAST / 2, -LEAST / 2, LEAST))) == [0, 0x80000000, 0x00800000]


def test_a_reciprocal_is_the_nearest() -> None:
    x = words(3, -3, 0, -0.0, np.inf, 2.0**126, 2.0**126 * (1 + 2.0**-23), np.nan)
    found = [0x3EAAAAAB, 0xBEAAAAAB, 0x7F800000, 0xFF800000, 0, 0x00800000, 0, 0x7FFFFFFF]
    assert bits(arithmetic.reciprocal(x)) == found


def test_shapes_broadcast() -> None:
    a, b = np.arange(6, dtype=F).reshape(2, 3), words(1, 10, 100)
    assert arithmetic.add(a, b).tolist() == (a + b).tolist()
    assert arithmetic.multiply(a, F(2)).tolist() == (2 * a).tolist()
    assert arithmetic.add(a.T, a.T).tolist() == (2 * a.T).tolist()


def test_a_nan_is_outside_and_not_negative() -> None:
    x = words(-1, -0.0, 0, 1, np.nan)
    assert arithmetic.is_negative(x).tolist() == [True, False, False, False, False]
    assert arithmetic.is_outside(x).tolist() == [True, False, False, False, True]
