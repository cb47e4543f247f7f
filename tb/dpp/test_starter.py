"""Starter: r0 is the pixel's position in the domain, others are 0, each block of them is set once."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS, register_address_layout
from ctm.rtl.dpp.wavefronts.starter import Starter, clear_layout
from ctm.rtl.isa.limits import CHANNELS, COORDINATE_LIMIT, QUAD
from ctm.rtl.isa.word import unpack
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.tb.lib.streams import STALLS, simulate

WAVEFRONTS = [(0, 0, 0), (2, 4, 1), (COORDINATE_LIMIT, COORDINATE_LIMIT - 2, 7), (3070, 2, 127), (1022, 4094, 0)]
"""Column and row of lane 0, and the program's highest temporary."""


def first_register(column: int, row: int, lanes: int) -> int:
    """(i, j, 0, 1) of all lanes: quads beside each other, two lanes in each of two rows."""
    positions = [(column + lane // QUAD * 2 + lane % 2, row + lane % QUAD // 2) for lane in range(lanes)]
    words = np.array([[i, j, 0, 1] for i, j in positions], np.float32).view(np.uint32)
    assert words.shape == (lanes, CHANNELS)
    return sum(int(word) << 32 * index for index, word in enumerate(words.ravel()))


@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize("lanes", [4, 16])
def test_wavefronts_start_one_after_the_other(lanes, stall):
    generator = np.random.default_rng(lanes)
    config = ArrayConfig(lanes=lanes, threads=4, temporaries=128)
    unit = Starter(config)
    received: list[dict[str, Any]] = []
    busy_banks = 0

    def give_banks(context: Any) -> None:
        """See what is written, and reserve banks of the next cycle at random."""
        nonlocal busy_banks
        write = unpack(clear_layout(config), context.get(Value.cast(unit.write)))
        bank = unpack(register_address_layout(config), write["address"])["bank"]
        assert write["valid"] == (context.get(unit.busy) and not busy_banks >> bank & 1)
        if write["valid"]:
            received.append(write)
        busy_banks = sum(int(generator.random() < stall) << bank for bank in range(BANKS))
        context.set(unit.reserved, busy_banks)

    async def testbench(context: Any) -> None:
        for column, row, highest in WAVEFRONTS:
            wave, covered = int(generator.integers(4)), int(generator.integers(1 << lanes))
            assert not context.get(unit.busy)
            wavefront = {"i": column, "j": row, "covered": covered}
            context.set(unit.allocation, {"highest": highest, "exponent": 1 << highest.bit_length()})
            give_banks(context)
            await context.tick()
            context.set(unit.wavefront, {"valid": 1, "wave": wave, "wavefront": wavefront})
            give_banks(context)
            await context.tick()
            # Words that come there later have no owner.
            context.set(unit.wavefront, {"valid": 0, "wave": 3 - wave, "wavefront": {"i": 9, "j": 9, "covered": 0}})
            received.clear()
            cycles, blocks = 0, highest // ROWS_TOGETHER + 1
            while context.get(unit.busy):
                before = len(received)
                give_banks(context)
                begins = context.get(unit.begin.valid)
                assert begins == (before == blocks - 1 and len(received) > before)
                assert not begins or context.get(unit.begin.wave) == wave
                await context.tick()
                cycles += 1
                assert cycles < 2000
            assert not context.get(unit.begin.valid)
            assert stall or cycles == blocks
            assert sorted(write["register"] for write in received) == list(range(0, highest + 1, ROWS_TOGETHER))
            assert all(write["wave"] == wave for write in received)
            for write in received:
                assert write["words"] == (0 if write["register"] else first_register(column, row, lanes))
            for _ in range(int(generator.integers(3))):
                give_banks(context)
                assert not context.get(unit.begin.valid)
                assert not context.get(Value.cast(unit.write.valid))
                await context.tick()

    simulate(unit, testbench)
