"""The register file in Amaranth's simulator against a plain array, with both writers as busy as they can be."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.registers.file import BANKS, RegisterFile
from ctm.rtl.dpp.shapes import Part
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.tb.dpp.instruction_sets import SHAPES

CYCLES = 500
ENTRIES = 64
PLACES = [0, 1, 2, 5, 31, 32, 33, 63]
"""Few enough that writes and reads meet."""


class Model:
    """Registers as an array [bank, entry, lane, channel]."""

    def __init__(self, lanes: int, slot_exponent: int) -> None:
        self._slot_entries = 1 << slot_exponent
        self.words = np.zeros((BANKS, ENTRIES, lanes, CHANNELS), np.uint32)

    def read(self, parts: tuple[Part, ...], places: list[tuple[int, int]], lane: int) -> list[int]:
        """Each part's channels of a place of its own."""
        return [int(self.words[place][lane, channel]) for part, place in zip(parts, places, strict=True)
                for channel in part.channels]  # fmt: skip

    def forget(self, place: tuple[int, int]) -> None:
        """Forget a slot's registers, of those that are in the same block."""
        bank, entry = place
        count = min(self._slot_entries, ROWS_TOGETHER)
        first = entry // count * count
        self.words[bank, first : first + count] = 0

    def write(self, place: tuple[int, int], words: np.ndarray, enable: np.ndarray, channels: slice) -> None:
        """Write the enabled words of some channels."""
        target = self.words[place][:, channels]
        np.copyto(target, words[:, channels], where=enable[:, channels])


def place_of(generator: np.random.Generator) -> tuple[int, int]:
    return int(generator.integers(BANKS)), int(generator.choice(PLACES))


def as_place(place: tuple[int, int]) -> dict[str, int]:
    return {"bank": place[0], "entry": place[1]}


def masks(enable: np.ndarray) -> list[int]:
    return [int(row @ (1 << np.arange(CHANNELS))) for row in enable.astype(np.int64)]


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize(
    ("lanes", "alu_share", "slot_exponent"),
    [(4, 0.9, 1), (8, 0.6, 2), (4, 0.5, 5)]
    + [pytest.param(*each, marks=pytest.mark.long) for each in ((4, 0.3, 0), (4, 0.5, 6), (4, 0.5, 7))],
)
def test_reads_see_the_last_write_and_nothing_is_lost(instruction_set, lanes, alu_share, slot_exponent):
    generator, shapes = np.random.default_rng(lanes), SHAPES[instruction_set]
    parts, operands = shapes.parts, range(shapes.operands)
    registers, model = RegisterFile(ArrayConfig(lanes=lanes, temporaries=128), shapes), Model(lanes, slot_exponent)
    counts = {"waited": 0, "together": 0, "forgotten": 0}

    def enable_of(share: float) -> np.ndarray:
        return generator.integers(0, 2, (lanes, CHANNELS)).astype(bool) & (generator.random() < share)

    def words() -> np.ndarray:
        return generator.integers(0, 1 << 32, (lanes, CHANNELS), np.uint32)

    async def testbench(context: Any) -> None:
        texture = None
        context.set(registers.slot_exponent, 1 << slot_exponent)
        for _ in range(CYCLES):
            sources = [[place_of(generator) for _ in operands] for _ in parts]
            fetched = place_of(generator)
            context.set(registers.source_places, [[as_place(place) for place in part] for part in sources])
            context.set(registers.texture_source, as_place(fetched))
            expected = [
                [model.read(parts, [part[operand] for part in sources], lane) for operand in operands]
                for lane in range(lanes)
            ]
            expected_texture = [model.read(parts, [fetched] * len(parts), lane) for lane in range(lanes)]

            places, results, enable = [place_of(generator) for _ in parts], words(), enable_of(alu_share)
            context.set(registers.result_places, [as_place(place) for place in places])
            context.set(registers.results, results.tolist())
            context.set(registers.result_enable, masks(enable))
            # Results may prove to be nobody's.
            may_write = [bool(enable[:, part.channels].any() or generator.random() < 0.1) for part in parts]
            context.set(registers.result_writes, sum(may << number for number, may in enumerate(may_write)))
            if texture is None and generator.random() < 0.8:
                texture, invalidates = (place_of(generator), words(), enable_of(1)), bool(generator.random() < 0.3)
                texture[2][:] |= invalidates
                place, payload = texture[0], {"words": texture[1].tolist(), "enable": masks(texture[2])}
                context.set(
                    registers.texture_write.payload, payload | {"place": as_place(place), "invalidates": invalidates}
                )
            context.set(registers.texture_write.valid, texture is not None)

            busy = {bank for (bank, _), may in zip(places, may_write, strict=True) if may}
            assert context.get(registers.busy) == sum(1 << bank for bank in busy)
            taken = texture is not None and bool(context.get(registers.texture_write.ready))
            for part, place in zip(parts, places, strict=True):
                model.write(place, results, enable, slice(part.channels.start, part.channels.stop))
            if taken:
                counts["together"] += int(enable.any())
                counts["forgotten"] += int(invalidates)
                if invalidates:
                    model.forget(texture[0])
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
    assert counts["forgotten"] > 5
