"""Dividers against Python's division: every dividend, and how long each takes."""

from typing import Any

import pytest

from ctm.rtl.lib.divider import Divider
from ctm.tb.lib.streams import simulate


@pytest.mark.parametrize(("divisor", "most"), [(1, 1), (1, 16), (7, 7), (3, 100), (24, 24 * 20), (8, 300)])
def test_quotient_and_remainder_of_every_dividend(divisor: int, most: int) -> None:
    unit = Divider(divisor, most=most)

    async def testbench(context: Any) -> None:
        for dividend in range(most + 1):
            context.set(unit.dividend, dividend)
            context.set(unit.start, 1)
            cycles = 0
            while not context.get(unit.done):
                await context.tick()
                # The dividend is read in the first cycle only.
                context.set(unit.dividend, 0)
                cycles += 1
            context.set(unit.start, dividend % 2)
            found = context.get(unit.quotient), context.get(unit.remainder)
            assert found == divmod(dividend, divisor)
            assert cycles == (most // divisor).bit_length() + 1
            await context.tick()
            assert (context.get(unit.quotient), context.get(unit.remainder)) == found

    simulate(unit, testbench)
