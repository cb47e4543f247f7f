"""Integers as words against numpy: all of 13 bits, corners of other widths; and those that are rounded."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.fp.conversion import FromInteger as SignedInteger
from ctm.rtl.fp.conversion import from_integer
from ctm.sim.compiled import CompiledUnit
from ctm.tb.lib.compare import check


class FromInteger(wiring.Component):
    """The function as a unit."""

    latency = 0

    def __init__(self, bits: int) -> None:
        super().__init__({"number": In(bits), "word": Out(32)})

    def elaborate(self, platform: Any) -> Module:
        m = Module()
        m.d.comb += self.word.eq(from_integer(m, self.number))
        return m


def compare(bits: int, numbers: np.ndarray) -> None:
    operands = {"number": numbers.astype(np.uint32)}
    expected = {"word": numbers.astype(np.float32).view(np.uint32)}
    check(CompiledUnit(FromInteger(bits))(**operands), expected, operands)


@pytest.mark.parametrize("bits", [1, 2, 13])
def test_all_numbers(bits):
    compare(bits, np.arange(1 << bits))


def test_numbers_of_24_bits():
    powers = 1 << np.arange(25)
    near = np.concatenate([powers - 1, powers[:-1], powers[:-1] + 1])
    compare(24, np.concatenate([near, np.random.default_rng(1).integers(0, 1 << 24, 20_000)]))


def test_wider_numbers_have_no_exact_word():
    with pytest.raises(ValueError, match="25 bits"):
        from_integer(Module(), Signal(25))


@pytest.mark.parametrize("bits", [26, 50, 64])
def test_signed_numbers_are_rounded_to_nearest_even(bits):
    generator, most = np.random.default_rng(bits), 1 << (bits - 1)
    powers = [1 << power for power in range(bits - 1)]
    near = [sign * (power + offset) for power in powers for offset in (-1, 0, 1) for sign in (-1, 1)]
    ties = [(2 * odd + 1) << shift for shift in range(bits - 27) for odd in generator.integers(1 << 23, 1 << 24, 40)]
    likely = [
        *near,
        *ties,
        *(-tie for tie in ties),
        *generator.integers(-most, most, 20_000).tolist(),
        -most,
        most - 1,
    ]
    numbers = np.array([int(number) for number in likely if -most <= number < most], np.int64)
    # A long double has all of their bits, so none is rounded twice.
    longest = numbers.astype(np.longdouble)
    expected = {"result": longest.astype(np.float32).view(np.uint32)}
    operands = {"number": numbers.astype(np.uint64) & np.uint64((1 << bits) - 1)}
    check(CompiledUnit(SignedInteger(bits))(**operands), expected, operands)


def test_a_narrow_number_has_its_own_unit():
    with pytest.raises(ValueError, match="bits must be 26 to 128, not 24"):
        SignedInteger(24)
