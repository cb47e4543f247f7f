"""ItemAddresses: which dwords of rings and streams the elements of threads are, and which lie in their items."""

from typing import Any

import numpy as np
import pytest
from amaranth import Const
from amaranth.lib import data

from ctm.rtl.isa.draws import STREAMS
from ctm.rtl.r700.fetch.finders.item_addresses import ITEM_ELEMENT, ItemAddresses, word_at
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import simulate

SIZE, THREADS, DWORDS, ACCESSES = 16, 64, 1 << 30, 40


async def access(context: Any, unit: Any, draw: np.random.Generator) -> None:
    """One access of a wavefront, compared with what the contract says of each thread."""
    item, dword = int(draw.choice([0, 4, 20, 1000])), int(draw.integers(DWORDS))
    streams = [
        {"enabled": int(draw.random() < 0.8), "origin": int(draw.choice([0, 512, DWORDS - 3])),
         "stride": int(draw.choice([0, 1, 4, 9, 1 << 20]))}
        for _ in range(STREAMS)
    ]  # fmt: skip
    of_stream, stream = bool(draw.integers(2)), int(draw.integers(STREAMS))
    fields = {
        "base": int(draw.choice([0, 1, 4, 8, 8191])), "element": int(draw.choice([0, 1, 3])),
        "indexed": int(draw.integers(2)),
    }  # fmt: skip
    burst, first = int(draw.choice([0, 0, 1, 15])), int(draw.integers(THREADS - SIZE + 1))
    index = [int(draw.choice([0, 1, 4, 30, (1 << 32) - 1])) for _ in range(SIZE)]
    number = [int(draw.choice([0, 1, 50, (1 << 32) - 1])) for _ in range(SIZE)]
    streamed = [int(draw.random() < 0.7) for _ in range(SIZE)]
    context.set(unit.program, {"draw": {"ring": {"dword": dword, "item": item}, "streams": streams}})
    context.set(unit.access, fields)
    for name, value in {"burst": burst, "streams": int(of_stream), "stream": stream}.items():
        context.set(getattr(unit, name), value)
    context.set(unit.walk.start, 1)
    seen = 0
    while True:
        # After the last lane the walk requests lanes that are ignored.
        wanted = context.get(unit.walk.wanted) % SIZE
        for name, values in (("index", index), ("number", number), ("streamed", streamed)):
            context.set(getattr(unit, name), values[wanted])
        context.set(unit.thread, first + wanted)
        if context.get(unit.walk.valid):
            lane = context.get(unit.walk.pixel)
            assert lane == seen
            seen += 1
            origin, size, position = (
                (streams[stream]["origin"], streams[stream]["stride"], number[lane]) if of_stream
                else (dword, item, first + lane)
            )  # fmt: skip
            exists = not of_stream or (streams[stream]["enabled"] and streamed[lane])
            steps = burst + index[lane] * fields["indexed"]
            offset = fields["base"] + steps * (fields["element"] + 1)
            found = ITEM_ELEMENT.from_bits(
                sum(w << 32 * k for k, w in enumerate(context.get(unit.walk.element))) & (1 << ITEM_ELEMENT.size) - 1
            )
            assert found.dword == (origin + position * size + offset) % DWORDS
            assert found.inside == sum(1 << c for c in range(4) if exists and offset + c < size)
        done = context.get(unit.walk.done)
        await context.tick()
        if done:
            break
    assert seen == SIZE
    context.set(unit.walk.start, 0)
    await context.tick()


@pytest.mark.parametrize("seed", seeds(3, 40))
def test_every_thread_has_its_own_item(seed: int) -> None:
    unit: Any = ItemAddresses(SIZE, THREADS)
    draw = np.random.default_rng(seed)

    async def run(context: Any) -> None:
        for _ in range(ACCESSES):
            await access(context, unit, draw)

    simulate(unit, run)


def test_a_dword_of_memory_is_a_column_a_row_and_a_page() -> None:
    element: Any = data.View(ITEM_ELEMENT, Const(0x2ABC_DEF5, ITEM_ELEMENT.size))
    widths = [len(fields) for fields in word_at(element, 3)]
    assert widths == [12, 12, 6]
