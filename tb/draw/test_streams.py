"""Streams, rings and the order of sums against models of a few lines."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from ctm.rtl.draw.blend_order import BlendOrder
from ctm.rtl.draw.rings import Rings
from ctm.rtl.draw.streams import Streams
from ctm.rtl.isa.draws import LEAST_RING_ITEMS, STREAMS
from ctm.tb.lib.seeds import seeds
from ctm.tb.lib.streams import simulate

DWORD_LIMIT = 1 << 30
WORD_LIMIT = (1 << 32) - 1


async def pulse(context: Any, signal: Any) -> None:
    """A cycle in which a signal is high."""
    context.set(signal, 1)
    await context.tick()
    context.set(signal, 0)


class StreamsBench:
    """Draws of random primitives, between which commands set streams."""

    def __init__(self, seed: int) -> None:
        self.draw, self.unit = np.random.default_rng(seed), Streams()
        self.kept = [{"dword": 0, "dwords": 0, "stride": 0, "filled": 0} for _ in range(STREAMS)]

    async def run(self, context: Any) -> None:
        """A dozen draws."""
        for _ in range(12):
            for number in range(STREAMS):
                if self.draw.random() < 0.5:
                    await self._set(context, number)
            await self._draw(context)

    async def _set(self, context: Any, number: int) -> None:
        draw, unit = self.draw, self.unit
        words = {
            "dword": int(draw.integers(DWORD_LIMIT)) & ~511, "dwords": int(draw.choice([0, 12, 50, 400, WORD_LIMIT])),
            "stride": int(draw.choice([0, 1, 4, 7, WORD_LIMIT // 40, WORD_LIMIT])),
        }  # fmt: skip
        context.set(unit.write, {"valid": 1, "number": number, **words})
        await context.tick()
        context.set(unit.write, {"valid": 0})
        self.kept[number] = {**words, "filled": 0}

    async def _draw(self, context: Any) -> None:
        unit, corners = self.unit, int(self.draw.choice([1, 2, 3, 6]))
        context.set(unit.space.corners, corners)
        await pulse(context, unit.begin)
        for stream, own in zip(self.kept, context.get(unit.streams), strict=True):
            assert own.enabled == self._enabled(stream) and own.stride == stream["stride"]
            assert own.origin == (stream["dword"] + stream["filled"]) % DWORD_LIMIT
        ends = await self._take(context, corners)
        await self._end(context, ends)

    def _enabled(self, stream: dict[str, int]) -> bool:
        return bool(stream["dwords"] and stream["stride"])

    async def _take(self, context: Any, corners: int) -> list[int]:
        """Stream primitives out while they fit; where each stream then ends."""
        unit, number, ends = self.unit, 0, [stream["filled"] for stream in self.kept]
        steps = [corners * stream["stride"] * self._enabled(stream) for stream in self.kept]
        has_streams = any(map(self._enabled, self.kept))
        for _ in range(30):
            while not context.get(unit.space.known):
                await context.tick()
            over = [end + step > max(own["dwords"], end) for end, step, own in zip(ends, steps, self.kept, strict=True)]
            fits = has_streams and not any(over)
            assert (bool(context.get(unit.space.fits)), context.get(unit.space.streams)) == (fits, has_streams)
            assert context.get(unit.space.number) == number
            if not fits or self.draw.random() < 0.1:
                break
            await pulse(context, unit.space.take)
            number, ends = number + corners, [end + step for end, step in zip(ends, steps, strict=True)]
        return ends

    async def _end(self, context: Any, ends: list[int]) -> None:
        """End the draw, as one that is kept or not; some streams were written."""
        unit, written, commits = self.unit, int(self.draw.integers(1 << STREAMS)), self.draw.random() < 0.8
        context.set(unit.written, written)
        await context.tick()
        context.set(unit.written, 0)
        if commits:
            await pulse(context, unit.commit)
        for number, stream in enumerate(self.kept):
            if commits and written >> number & 1:
                stream["filled"] = ends[number]
            context.set(unit.number, number)
            await context.delay(1e-9)
            assert context.get(unit.filled) == stream["filled"]


@pytest.mark.parametrize("seed", seeds(6, 60))
def test_a_primitive_has_space_in_all_enabled_streams_or_in_none(seed: int) -> None:
    bench = StreamsBench(seed)
    simulate(bench.unit, bench.run)


@pytest.mark.parametrize("lanes", [4, 16])
def test_rings_say_how_many_items_fit(lanes: int) -> None:
    unit: Any = Rings(lanes, 64)
    generator = np.random.default_rng(lanes)

    async def run(context: Any) -> None:
        for _ in range(20):
            items, sizes = [int(item) for item in generator.choice([0, 1, 8, 100, 5000, (1 << 24) - 1], 2)], []
            context.set(unit.items, items)
            for number, item in enumerate(items):
                size = int(generator.choice([0, 8 * item, 16 * item, 16 * item - 1, 64 * item, 1 << 30]) % (1 << 32))
                sizes.append(size)
                context.set(unit.write, {"valid": 1, "number": number, "dword": 512 * number, "dwords": size})
                await context.tick()
            context.set(unit.write, {"valid": 0})
            context.set(unit.begin, 1)
            await context.delay(1e-9)
            assert not context.get(unit.fit.ready)
            await pulse(context, unit.begin)
            fit = [min(64, size // item) if item else 64 for item, size in zip(items, sizes, strict=True)]
            cycles = 1
            while not context.get(unit.fit.ready):
                await context.tick()
                cycles += 1
                assert cycles <= 65
            assert list(context.get(unit.dwords)) == [0, 512]
            assert list(context.get(unit.fit.most)) == fit
            least = max(lanes, LEAST_RING_ITEMS)
            assert bool(context.get(unit.is_small)) == any(i * least > s for i, s in zip(items, sizes, strict=True))

    simulate(unit, run)


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_an_end_waits_for_the_sums_that_were_taken_before_it(seed: int) -> None:
    generator = np.random.default_rng(seed)
    unit: Any = BlendOrder(16)
    waiting: deque[tuple[int, int]] = deque()

    async def run(context: Any) -> None:
        taken = written = given = 0
        context.set(unit.adds, 1)
        for number in range(2000):
            takes, writes = (
                generator.random() < 0.4 and taken - written < 16,
                taken > written and generator.random() < 0.4,
            )
            ends = len(waiting) < 15 and generator.random() < 0.3
            context.set(unit.taken, int(takes))
            context.set(unit.written, int(writes))
            context.set(unit.ended, {"valid": int(ends), "ticket": number % 16})
            if context.get(unit.ends.valid):
                ticket, count = waiting.popleft()
                assert context.get(unit.ends.ticket) == ticket and written >= count
                given += 1
            if ends:
                waiting.append((number % 16, taken))
            taken, written = taken + takes, written + writes
            await context.tick()
        assert given > 50
        # An end after the last output, and what is left is written: then nothing is waited for.
        context.set(unit.taken, 0)
        context.set(unit.written, 0)
        context.set(unit.ended, {"valid": 1, "ticket": 3})
        waiting.append((3, taken))
        if context.get(unit.ends.valid):
            waiting.popleft()
        await context.tick()
        context.set(unit.ended, {"valid": 0})
        for _ in range(taken - written + len(waiting) + 2):
            context.set(unit.written, int(taken > written))
            if context.get(unit.ends.valid):
                ticket, count = waiting.popleft()
                assert context.get(unit.ends.ticket) == ticket and written >= count
            written += taken > written
            await context.tick()
        assert not waiting

    simulate(unit, run)


def test_ends_of_other_draws_pass_at_once() -> None:
    unit: Any = BlendOrder(8)

    async def run(context: Any) -> None:
        context.set(unit.ended, {"valid": 1, "ticket": 5})
        await context.delay(1e-9)
        assert context.get(unit.ends.valid) and context.get(unit.ends.ticket) == 5

    simulate(unit, run)
