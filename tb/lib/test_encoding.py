"""Numbers of bits, for all values of small widths."""

from typing import Any

import pytest
from amaranth import Module, Signal

from ctm.rtl.lib.encoding import highest_one_index, lowest_one, one_hot_index
from ctm.tb.lib.streams import simulate


@pytest.mark.parametrize("width", range(1, 9))
def test_all_values(width):
    m = Module()
    bits, lowest, index, highest = Signal(width), Signal(width + 1), Signal(width + 1), Signal(width + 1)
    m.d.comb += [
        lowest.eq(lowest_one(bits)),
        index.eq(one_hot_index(bits)),
        highest.eq(highest_one_index(bits)),
    ]
    m.d.sync += Signal().eq(1)

    async def testbench(context: Any) -> None:
        for value in range(1 << width):
            context.set(bits, value)
            numbers = [number for number in range(width) if value >> number & 1]
            assert context.get(lowest) == (1 << numbers[0] if numbers else 0)
            assert context.get(highest) == (numbers[-1] if numbers else 0)
            if len(numbers) < 2:
                assert context.get(index) == (numbers[0] if numbers else 0)
            await context.tick()

    simulate(m, testbench)


@pytest.mark.parametrize("width", [16, 31, 64])
def test_each_bit_of_wide_values(width):
    m = Module()
    bits, index = Signal(width), Signal(8)
    m.d.comb += index.eq(one_hot_index(bits))
    m.d.sync += Signal().eq(1)

    async def testbench(context: Any) -> None:
        for number in range(width):
            context.set(bits, 1 << number)
            assert context.get(index) == number
            await context.tick()

    simulate(m, testbench)
