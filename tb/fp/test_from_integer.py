"""Integers as words against numpy: all of 13 bits, corners of other widths."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

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
        from_integer(None, Signal(25))
