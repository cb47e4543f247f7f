"""LocalShare: a read gives the last legal write, and 0 elsewhere."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.r700.fetch.finders.share import LocalShare
from ctm.rtl.r700.fetch.operation import Task
from ctm.rtl.r700.fetch.selection import PixelSelection
from ctm.rtl.r700.partition import Partition
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.fetch.looking import looking, mask
from ctm.tb.r700.fetch.models import Share, ShareAccess

WRITTEN, CHANNELS, ROW = 2, 4, 4
"""Pixels of which a register is written in one cycle; words of one, and of a row."""
WAVES = 16
BANK_DWORDS = 1024
"""Dwords of a bank, which the wavefronts of a core share."""
NOT_WRITTEN = 7
INSTRUCTIONS = 60


class Bench:
    """The share of a core, and accesses of its wavefronts in any order; wave slots are cleared meanwhile."""

    def __init__(self, seed: int, rows: int, **settings: int) -> None:
        self.config = r700_array(threads=WAVES, temporaries=2048, **settings)
        self.unit: Any = LocalShare(self.config)
        self.selection: Any = PixelSelection(Partition.of(self.config))
        self.model, self.rows = Share(rows), rows
        resident = min(WAVES, BANK_DWORDS // (ROW * rows))
        self.waves = sorted({0, 1, resident - 1})
        self.draw = np.random.default_rng(seed)
        self.clearing: int | None = None
        self.cleared, self.found_words = 0, 0

    def access(self) -> ShareAccess:
        """A random one of a wave slot that is not being cleared."""
        draw, size = self.draw, self.config.wavefront_lanes
        waves = [wave for wave in self.waves if wave != self.clearing]
        writes, burst = bool(draw.random() < 0.5), int(draw.integers(1, 4))
        executing = draw.random(size) < draw.choice([0.1, 0.5, 1.0])
        active = executing if draw.random() < 0.5 else draw.random(size) < 0.5
        active[int(draw.integers(size))] = True
        source = draw.integers(0, 1 << 32, (burst if writes else 1, CHANNELS, size)).astype(np.uint32)
        if writes:
            stride, index = (ROW * int(draw.integers(limit)) for limit in (draw.choice([1, 2, self.rows + 1, 100]), 5))
            selects = [int(draw.choice([0, 1, 2, 3, 4, 5, NOT_WRITTEN])) for _ in range(CHANNELS)]
            fields = {"stride": stride, "index": index % 256, "selects": selects}
        else:
            offset = int(draw.choice([0, 1, 4, int(draw.integers(1 << 14))]))
            near = (draw.integers(-ROW, ROW * (self.rows + 1), source.shape) - offset).astype(np.uint32)
            source = np.where(draw.random(source.shape) < 0.95, near, source)
            coordinates = [int(select) for select in draw.integers(CHANNELS, size=2)]
            broadcasts, selects_word = (int(draw.random() < 0.4) for _ in range(2))
            fields = {
                "coordinates": [*coordinates, 0, 0], "offset": offset,
                "broadcasts": broadcasts, "selects_word": selects_word,
            }  # fmt: skip
        return ShareAccess(
            wave=int(draw.choice(waves)), writes=writes, burst=burst, source=source,
            executing=executing, active=active, fields=fields,
        )  # fmt: skip

    async def run(self, context: Any) -> None:
        """Access wave slots, and begin now and then to clear one."""
        context.set(self.unit.rows, self.rows)
        for _ in range(INSTRUCTIONS):
            for _ in range(int(self.draw.integers(5))):
                await self._cycle(context)
            if self.clearing is None and self.draw.random() < 0.1:
                self.clearing = int(self.draw.choice(self.waves))
            await self._execute(context, self.access())

    async def _execute(self, context: Any, access: ShareAccess) -> None:
        """Slices of a register follow each other where it is written, registers of a slice where one is read."""
        partition = Partition.of(self.config)
        size, slices = partition.slice, partition.slices
        if access.writes:
            expected = np.zeros(0)
            self.model.write(access)
            order = [(k, slice_) for k in range(access.burst) for slice_ in range(slices)]
        else:
            expected = self.model.read(access)
            order = [(k, slice_) for slice_ in range(slices) for k in range(access.burst)]
        task = Task.SHARE_WRITE if access.writes else Task.SHARE_READ
        for k, slice_ in order:
            pixels = slice(slice_ * size, (slice_ + 1) * size)
            source_slice = slice_
            if not access.writes and access.fields["broadcasts"]:
                source_slice = int(np.flatnonzero(access.active)[0]) // size
            source = access.source[k if access.writes else 0][:, source_slice * size : (source_slice + 1) * size]
            unit = self.unit
            context.set(unit.wave, access.wave)
            context.set(unit.fetch, {"task": task, "burst": access.burst - 1, **access.fields})
            context.set(unit.burst, k)
            context.set(unit.slice, slice_)
            context.set(Value.cast(self.selection.source), int.from_bytes(source.tobytes(), "little"))
            context.set(unit.executing, mask(access.executing[pixels]))
            context.set(unit.active, mask(access.active[source_slice * size : (source_slice + 1) * size]))
            found = await self._run(context, size // WRITTEN if access.writes else size + 1)
            assert sorted(found) == ([] if access.writes else list(range(size)))
            for pixel, words in found.items():
                wanted = [int(word) for word in expected[k][pixels][pixel]]
                assert words == wanted, f"{access}: pixel {pixel + slice_ * size}, register {k}"
                self.found_words += sum(word != 0 for word in words)

    async def _run(self, context: Any, cycles: int) -> dict[int, list[int]]:
        """The words of pixels, of a micro-op that takes so many cycles."""
        found = {}
        for cycle in range(cycles):
            context.set(self.unit.walk.start, 1)
            assert context.get(self.unit.walk.done) == (cycle == cycles - 1), "it takes another time"
            if context.get(self.unit.walk.valid):
                bits = context.get(Value.cast(self.unit.walk.element))
                found[context.get(self.unit.walk.pixel)] = [bits >> 32 * index & 0xFFFFFFFF for index in range(ROW)]
            await self._cycle(context)
        context.set(self.unit.walk.start, 0)
        return found

    async def _cycle(self, context: Any) -> None:
        """A wave slot may be cleared between the micro-ops of others."""
        clear = self.unit.clear
        context.set(clear.valid, self.clearing is not None)
        context.set(clear.payload, self.clearing or 0)
        if self.clearing is not None and context.get(clear.ready):
            self.model.contents[self.clearing] = 0
            self.clearing, self.cleared = None, self.cleared + 1
        await context.tick()


def check(seed: int, rows: int, **settings: int) -> None:
    """A share of so many rows for each wavefront."""
    bench = Bench(seed, rows, **settings)
    simulate(looking(bench.unit, bench.selection), bench.run)
    assert bench.found_words > CHANNELS * bench.config.wavefront_lanes and bench.cleared


MACHINES = [{"wavefront": 16}, {"wavefront": 4}, {"wavefront": 16, "rate": 1}]
"""Four passes; one quad; four slices of a quad."""


def compare() -> None:
    """What the ordinary suite compares."""
    for machine in MACHINES:
        for rows in (2, 40):
            check(rows, rows, **machine)


@pytest.mark.slow
def test_reads_find_what_was_written() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("machine", [*MACHINES, {"wavefront": 64}, {"lanes": 16, "wavefront": 64, "rate": 4}])
def test_many_more_accesses(machine: dict[str, int], seed: int) -> None:
    check(seed, (1, 3, 40, 64, 128)[seed % 5], **machine)
