"""WavefrontStart: a wavefront begins with registers of 0 and its position in R0, after all its rows were cleared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.r700.border.registers import clear_layout, depth_of, pass_write_layout
from ctm.rtl.r700.border.wavefront import start_layout
from ctm.rtl.r700.start import WavefrontStart
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import Sink, simulate

BLOCK, PERIOD, TEMPORARIES = 32, 4, 4
"""Rows that are cleared at once; passes of a slice; registers after those of a program."""
STARTS, SPARE, DEADLINE = fewer(25), 3, 500
"""Wavefronts; cycles of one beside those of its passes and its blocks, without stalls; and at most."""
COLUMNS, MASK = 4096, 0xFFFFFFFF
NUMBERS = 1 << 24
ONE = 0x3F800000
MACHINES: list[dict[str, int]] = [
    {"lanes": 4, "wavefront": 4},
    {"lanes": 4, "wavefront": 16},
    {"lanes": 4, "wavefront": 64},
    {"lanes": 4, "wavefront": 16, "rate": 1},
    {"lanes": 8, "wavefront": 32, "rate": 2},
    {"lanes": 16, "wavefront": 16, "rate": 8},
]


@dataclass(frozen=True, kw_only=True)
class Wavefront:
    """A wavefront that begins, of a program for a domain (i0, j0, width)."""

    wave: int
    i: int
    j: int
    covered: int
    domain: tuple[int, int, int]
    gprs: int
    share: int
    compute: bool

    def number(self, column: int, row: int) -> int:
        """Of a pixel in the domain."""
        i0, j0, width = self.domain
        return (self.j + row - j0) * width + self.i + column - i0

    def words(self, pixel: int) -> list[int]:
        """R0 of a pixel: of quads beside each other, each of two rows."""
        column, row = pixel // 4 * 2 + pixel % 2, pixel // 2 % 2
        i, j = self.i + column, self.j + row
        if self.compute:
            return [i, j, self.number(column, row) & MASK, pixel]
        return [int(np.float32(i).view(np.uint32)), int(np.float32(j).view(np.uint32)), 0, ONE]


class Bench:
    """The unit, and what it has said of the wavefront that begins."""

    def __init__(self, seed: int, *, stalls: bool, **settings: int) -> None:
        self.config = r700_array(temporaries=4096, **settings)
        self.unit: Any = WavefrontStart(self.config)
        self.draw = np.random.default_rng(seed)
        self.size, self.at_once = settings["wavefront"], settings.get("rate") or settings["lanes"]
        self.passes = self.size // self.at_once
        self.of_slice = min(self.passes, PERIOD)
        self.stalls = stalls
        unit = self.unit
        ports = {"clear": unit.clear, "r0": unit.r0, "share": unit.fetch.share, "start": unit.start}
        self.sinks = {name: Sink(port, self.draw, 0.4 if stalls else 0.0) for name, port in ports.items()}
        self.order: list[str] = []
        self.fresh: set[tuple[int, int]] = set()
        self.numbered: set[tuple[int, int]] = set()

    def _wavefront(self) -> Wavefront:
        """Anywhere; its first pixel may be beside the domain."""
        draw = self.draw
        i0, j0 = (int(draw.choice([0, 1, int(draw.integers(COLUMNS)), COLUMNS - 1])) for _ in range(2))
        width = int(draw.choice([1, COLUMNS - i0, int(draw.integers(1, COLUMNS - i0 + 1))]))
        i = i0 // 2 * 2 + 2 * int(draw.integers((width + 1) // 2))
        j = j0 // 2 * 2 + 2 * int(draw.integers((COLUMNS - j0 + 1) // 2))
        gprs = int(draw.choice([1, 28, 60, 124, int(draw.integers(1, 125))]))
        waves = min(self.config.threads, depth_of(self.config) // self._rows(gprs))
        covered = int.from_bytes(draw.bytes(8), "little") % (1 << self.size)
        return Wavefront(
            wave=int(draw.integers(waves)), i=i, j=j, covered=covered,
            domain=(i0, j0, width), gprs=gprs, share=int(draw.choice([0, 0, 1, 256])), compute=bool(draw.integers(2)),
        )  # fmt: skip

    def _rows(self, gprs: int) -> int:
        """Rows that a wavefront has."""
        return (gprs + TEMPORARIES) * (self.passes // self.of_slice)

    async def run(self, context: Any) -> None:
        """Wavefront after wavefront."""
        unit, draw = self.unit, self.draw
        for _ in range(STARTS):
            each = self._wavefront()
            i0, j0, width = each.domain
            kind = ProgramType.CS if each.compute else ProgramType.PS
            domain = {"i0": i0, "j0": j0, "width": width, "height": 1}
            context.set(unit.program, {"type": kind, "gprs": each.gprs, "share": each.share, "domain": domain})
            self.order.clear()
            self.fresh.clear()
            self.numbered.clear()
            for sink in self.sinks.values():
                sink.received.clear()
            for _ in range(int(draw.integers(3)) if self.stalls else 0):
                await self._cycle(context, None)
            assert not self.order, "something begins without a wavefront"
            assert not context.get(unit.busy)
            await self._cycle(context, each)
            cycles = 0
            while context.get(unit.busy):
                await self._cycle(context, None)
                cycles += 1
                assert cycles < DEADLINE, "it does not go on"
            self._compare(each, cycles)

    async def _cycle(self, context: Any, begins: Wavefront | None) -> None:
        unit, draw = self.unit, self.draw
        given = {"i": int(draw.integers(COLUMNS)), "j": int(draw.integers(COLUMNS)), "covered": 0}
        wave = int(draw.integers(self.config.threads))
        if begins is not None:
            wave, given = begins.wave, {"i": begins.i, "j": begins.j, "covered": begins.covered}
        context.set(unit.wavefront, {"valid": int(begins is not None), "wave": wave, "wavefront": given})
        for sink in self.sinks.values():
            sink.drive(context)
        if context.get(unit.fresh.valid):
            self.fresh.add((context.get(unit.fresh.wave), context.get(unit.fresh.number)))
        if context.get(unit.fetch.first_number.valid):
            self.numbered.add((context.get(unit.fetch.first_number.wave), context.get(unit.fetch.first_number.number)))
        for name, sink in self.sinks.items():
            before = len(sink.received)
            sink.finish(context)
            self.order += [name] * (len(sink.received) - before)
        await context.tick()

    def _compare(self, each: Wavefront, cycles: int) -> None:
        """What came of a wavefront."""
        size = self._rows(each.gprs)
        base = each.wave * size
        blocks = {row // BLOCK for row in range(base, base + size)}
        assert self.order == (["clear"] * len(blocks) + ["r0"] * self.passes + ["share"] * (each.share > 0) + ["start"])
        assert self.stalls or cycles == self.passes + len(blocks) + SPARE
        self._compare_clears(base, size)
        self._compare_positions(each, base)
        assert self.fresh == {(each.wave, number) for number in range(self.passes)}
        assert self.numbered == {(each.wave, each.number(0, 0) % NUMBERS)}
        assert not each.share or self.sinks["share"].received == [each.wave]
        start = start_layout(self.config).from_bits(self.sinks["start"].received[0])
        assert (start.wave, start.covered, start.base) == (each.wave, each.covered, base)

    def _compare_clears(self, base: int, size: int) -> None:
        """Rows are cleared that are the wavefront's, all of them, and no others."""
        cleared: set[int] = set()
        for raw in self.sinks["clear"].received:
            clear = clear_layout(self.config).from_bits(raw)
            own = {clear.row // BLOCK * BLOCK + bit for bit in range(BLOCK) if clear.invalidates >> bit & 1}
            assert clear.row in own and not cleared & own
            cleared |= own
        assert cleared == set(range(base, base + size))

    def _compare_positions(self, each: Wavefront, base: int) -> None:
        """R0 is written pass by pass, in all pixels of each slice."""
        for number, raw in enumerate(self.sinks["r0"].received):
            write = pass_write_layout(self.config).from_bits(raw)
            target, (of, in_slice) = write.target, divmod(number, self.of_slice)
            assert target.row == base + of * (each.gprs + TEMPORARIES) and target.exists
            assert target.number == in_slice and target.followed == (in_slice < self.of_slice - 1)
            assert list(target.selects) == [0, 1, 2, 3] and target.enable == (1 << self.at_once) - 1
            for lane in range(self.at_once):
                expected = each.words(number * self.at_once + lane)
                assert list(write.words[lane]) == expected, f"pass {number}, lane {lane} of {each}"


def check(seed: int, *, stalls: bool, **settings: int) -> None:
    """Wavefronts of a machine."""
    bench = Bench(seed, stalls=stalls, **settings)
    simulate(bench.unit, bench.run)


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, machine in enumerate(MACHINES):
        check(seed, stalls=seed % 2 > 0, **machine)
    check(9, stalls=False, **MACHINES[1])


@pytest.mark.slow
def test_wavefronts_begin_as_they_should() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 50))
def test_many_more_wavefronts(seed: int) -> None:
    check(seed, stalls=seed % 4 > 0, **MACHINES[seed % len(MACHINES)])
