"""The register file in Amaranth's simulator against a plain array, with both writers busy in most cycles."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS, RegisterFile
from ctm.rtl.dpp.shapes import RegisterField
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.tb.dpp.instruction_sets import SHAPES

CYCLES = 500
ENTRIES = 64
DRAWN_ENTRIES = [0, 1, 2, 5, 31, 32, 33, 63]
"""Few enough that writes and reads meet."""


class Model:
    """Registers as an array [bank, entry, lane, channel]."""

    def __init__(self, lanes: int, wave_exponent: int) -> None:
        self._wave_entries = 1 << wave_exponent
        self.words = np.zeros((BANKS, ENTRIES, lanes, CHANNELS), np.uint32)

    def read(
        self, register_fields: tuple[RegisterField, ...], addresses: list[tuple[int, int]], lane: int
    ) -> list[int]:
        """Each field's channels of an address of its own."""
        pairs = zip(register_fields, addresses, strict=True)
        return [int(self.words[address][lane, channel]) for field, address in pairs for channel in field.channels]

    def invalidate(self, address: tuple[int, int]) -> None:
        """Invalidate a wave slot's registers in the same block."""
        bank, entry = address
        count = min(self._wave_entries, ROWS_TOGETHER)
        first = entry // count * count
        self.words[bank, first : first + count] = 0

    def write(self, address: tuple[int, int], words: np.ndarray, enable: np.ndarray, channels: slice) -> None:
        """Write the enabled words of some channels."""
        target = self.words[address][:, channels]
        np.copyto(target, words[:, channels], where=enable[:, channels])


def random_address(generator: np.random.Generator) -> tuple[int, int]:
    return int(generator.integers(BANKS)), int(generator.choice(DRAWN_ENTRIES))


def as_address(address: tuple[int, int]) -> dict[str, int]:
    return {"bank": address[0], "entry": address[1]}


def masks(enable: np.ndarray) -> list[int]:
    return [int(row @ (1 << np.arange(CHANNELS))) for row in enable.astype(np.int64)]


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize(
    ("lanes", "alu_share", "wave_exponent"),
    [(4, 0.5, 5)]
    + [
        pytest.param(*each, marks=pytest.mark.long)
        for each in ((4, 0.9, 1), (8, 0.6, 2), (4, 0.3, 0), (4, 0.5, 6), (4, 0.5, 7))
    ],
)
def test_reads_see_the_last_write_and_nothing_is_lost(instruction_set, lanes, alu_share, wave_exponent):
    generator, shapes = np.random.default_rng(lanes), SHAPES[instruction_set]
    register_fields, operands = shapes.register_fields, range(shapes.operands)
    registers, model = RegisterFile(ArrayConfig(lanes=lanes, temporaries=128), shapes), Model(lanes, wave_exponent)
    counts = {"waited": 0, "together": 0, "invalidated": 0}

    def enable_of(share: float) -> np.ndarray:
        return generator.integers(0, 2, (lanes, CHANNELS)).astype(bool) & (generator.random() < share)

    def words() -> np.ndarray:
        return generator.integers(0, 1 << 32, (lanes, CHANNELS), np.uint32)

    def results_of_a_cycle() -> tuple[list[tuple[int, int]], np.ndarray, np.ndarray, list[bool]]:
        addresses, enable = [random_address(generator) for _ in register_fields], enable_of(alu_share)
        # No lane may write the results.
        may_write = [bool(enable[:, field.channels].any() or generator.random() < 0.1) for field in register_fields]
        return addresses, words(), enable, may_write

    async def testbench(context: Any) -> None:
        texture, busy = None, set()
        unused = [random_address(generator) for _ in register_fields]
        upcoming = unused, words(), enable_of(0), [False] * len(register_fields)
        context.set(registers.wave_exponent, 1 << wave_exponent)
        await context.tick()
        for _ in range(CYCLES):
            sources = [[random_address(generator) for _ in operands] for _ in register_fields]
            fetched = random_address(generator)
            context.set(registers.source_addresses, [[as_address(address) for address in field] for field in sources])
            context.set(registers.texture_source, as_address(fetched))
            expected = [
                [model.read(register_fields, [field[operand] for field in sources], lane) for operand in operands]
                for lane in range(lanes)
            ]
            expected_texture = [
                model.read(register_fields, [fetched] * len(register_fields), lane) for lane in range(lanes)
            ]

            # Banks are reserved in the cycle before; in the first cycle none is.
            (addresses, results, enable, may_write), upcoming = upcoming, results_of_a_cycle()
            following = {bank for (bank, _), may in zip(upcoming[0], upcoming[3], strict=True) if may}
            context.set(registers.reserved, sum(1 << bank for bank in following))
            context.set(registers.result_addresses, [as_address(address) for address in addresses])
            context.set(registers.results, results.tolist())
            context.set(registers.result_enable, masks(enable))
            context.set(registers.result_writes, sum(may << number for number, may in enumerate(may_write)))
            if texture is None and generator.random() < 0.8:
                texture, invalidates = (
                    (random_address(generator), words(), enable_of(1)),
                    bool(generator.random() < 0.3),
                )
                texture[2][:] |= invalidates
                address, payload = texture[0], {"words": texture[1].tolist(), "enable": masks(texture[2])}
                context.set(
                    registers.texture_write.payload,
                    payload | {"address": as_address(address), "invalidates": invalidates},
                )
            context.set(registers.texture_write.valid, texture is not None)

            assert context.get(registers.busy) == sum(1 << bank for bank in busy)
            busy = following
            taken = texture is not None and bool(context.get(registers.texture_write.ready))
            for field, address in zip(register_fields, addresses, strict=True):
                model.write(address, results, enable, slice(field.channels.start, field.channels.stop))
            if taken:
                counts["together"] += int(enable.any())
                counts["invalidated"] += int(invalidates)
                if invalidates:
                    model.invalidate(texture[0])
                model.write(*texture, slice(None))
                texture = None
            counts["waited"] += int(texture is not None)
            await context.tick()
            found = [
                [list(context.get(registers.sources[lane][source])) for source in operands] for lane in range(lanes)
            ]
            assert found == expected
            assert [list(context.get(registers.texture_words[lane])) for lane in range(lanes)] == expected_texture

    simulator = Simulator(registers)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
    assert counts["waited"] > 5
    assert counts["together"] > 5
    assert counts["invalidated"] > 5
