"""The compiled conditional unit beside the golden model, each with a memory of its own."""

from functools import cache
from typing import Any

import numpy as np

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.sim.golden.co.unit import FORMATS, ConditionalUnit
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory
from ctm.tb.co.simulation import UnitRun, UnitSimulation
from ctm.tb.co.unit_with_cache import UnitWithCache
from ctm.tb.co.wavefronts import LINE, Wavefronts, expected, no_wavefronts, random_contents
from ctm.tb.mc.cache_simulation import Timing

BASE = 1 << 20
AROUND = 4096
_SPACE = 1 << 19
LOCATIONS = (ConditionalLocation.PE, ConditionalLocation.DPP)
TESTS = tuple(ConditionalTest)
COMPARISONS = TESTS[1:-1]
TILINGS = (Tiling.LINEAR, Tiling.TILED)

# Lanes, cache, lines in flight, accesses that wait.
CONFIGS = {
    "default": (4, CacheConfig(sets=4, ways=4), 8, 32),
    "smallest": (4, CacheConfig(sets=1, ways=1), 2, 2),
    "wide": (8, CacheConfig(sets=4, ways=2), 5, 16),
}

IDEAL = Timing()
TIMINGS = {
    "ideal": IDEAL,
    "far": Timing(latency=50),
    "uneven": Timing(latency=3, jitter=40),
    "some_stalls": Timing(latency=10, jitter=10, stall=0.3, seed=1),
    "many_stalls": Timing(latency=2, jitter=3, stall=0.8, seed=2),
}


@cache
def compiled(name: str) -> UnitSimulation:
    """One of the configurations."""
    lanes, config, outstanding, waiting = CONFIGS[name]
    return UnitSimulation(
        UnitWithCache(lanes, config, outstanding=outstanding, waiting=waiting), outstanding=outstanding
    )


def conditional_unit(
    test: ConditionalTest = ConditionalTest.LESS,
    *,
    stores: bool = False,
    location: ConditionalLocation = ConditionalLocation.PE,
    data_format: DataFormat = DataFormat.FLOAT32_1,
    tiling: Tiling = Tiling.LINEAR,
    pitch: int = 64,
    height: int = 24,
) -> ConditionalUnit:
    """The golden model in some state, its buffer at `BASE`."""
    assert data_format in FORMATS
    buffer = Buffer(base=BASE, pitch=pitch, tiling=tiling, format=data_format, height=height)
    return ConditionalUnit(buffer=buffer, test=test, location=location, write_enabled=stores)


class Bench:
    """A unit as it is after power-up, and the golden model; what is loaded is loaded into both memories."""

    def __init__(self, name: str = "default", simulation: UnitSimulation | None = None) -> None:
        self.lanes = CONFIGS[name][0]
        self.simulation = simulation or compiled(name)
        self.simulation.renew()
        self.hardware, self.golden = Memory(), Memory()
        self.error_lines: list[tuple[int, int]] = []
        self.stored: list[np.ndarray] = []
        """Addresses of elements that were stored after the last flush."""

    def load(self, address: int, contents: bytes) -> None:
        """Write both memories."""
        self.hardware.write(address, contents)
        self.golden.write(address, contents)

    def fill(self, unit: ConditionalUnit, generator: np.random.Generator) -> None:
        """Random contents of the unit's buffer and of what is around it."""
        size = extent(unit.buffer) + 2 * AROUND
        self.load(unit.buffer.base - AROUND, random_contents(generator, unit.buffer.format, size))

    def respond_with_errors(self, first: int, end: int) -> None:
        """Let both memories give error responses for the lines [first, end)."""
        self.error_lines.append((first, end))
        self.golden.respond_with_errors(first * LINE, end * LINE)

    def start_again(self) -> None:
        """Remove all errors, and copy the hardware's memory around the base into the golden model's."""
        self.error_lines, self.stored, self.golden = [], [], Memory()
        self.golden.write(BASE - AROUND, self.hardware.read(BASE - AROUND, _SPACE))

    def respond_without_errors(self) -> None:
        """Remove the errors of both memories, whose contents are kept."""
        self.error_lines = []
        contents, self.golden = self.golden.read(BASE - AROUND, _SPACE), Memory()
        self.golden.write(BASE - AROUND, contents)

    def run(
        self,
        unit: ConditionalUnit,
        wavefronts: Wavefronts,
        other: Wavefronts | None = None,
        *,
        timing: Timing = IDEAL,
        **options: Any,
    ) -> UnitRun:
        """Test `wavefronts` for the location and `other` for the other client, and compare the lanes that pass."""
        others = no_wavefronts(self.lanes) if other is None else other
        clients = [wavefronts if location is unit.location else others for location in LOCATIONS]
        payloads = [each.payloads() for each in clients]
        result = self.simulation.run(
            self.hardware, payloads, unit, timing=timing, error_lines=self.error_lines, **options
        )  # fmt: skip
        for location, each, run in zip(LOCATIONS, clients, result.clients, strict=True):
            passed, stored = expected(unit, self.golden, each, location)
            self._compare_passed(unit, each, run.passed, passed)
            self.stored.append(stored)
        if options.get("flushes"):
            self.stored = []
        return result

    def compare_memory(self, unit: ConditionalUnit, result: UnitRun | None = None) -> None:
        """All bytes of the buffer and around it are the golden model's, and nothing was written elsewhere."""
        first, end = unit.buffer.base - AROUND, unit.buffer.base + extent(unit.buffer) + AROUND
        wrong = np.flatnonzero(self.hardware.bytes[first:end] != self.golden.bytes[first:end])
        if wrong.size:
            address = first + int(wrong[0])
            raise AssertionError(
                f"{wrong.size} bytes differ, first at 0x{address:x}: {self.hardware.bytes[address]:02x}, not "
                f"{self.golden.bytes[address]:02x}; {unit}"
            )
        if result is not None and result.writes.size:
            assert first <= result.writes.min() * LINE and result.writes.max() * LINE < end

    @staticmethod
    def _compare_passed(unit: ConditionalUnit, wavefronts: Wavefronts, passed: np.ndarray, golden: np.ndarray) -> None:
        wrong = np.flatnonzero(passed != golden)
        if wrong.size:
            number = int(wrong[0])
            raise AssertionError(
                f"{wrong.size} wavefronts differ, first {number} at "
                f"({wavefronts.i[number]}, {wavefronts.j[number]}): passed "
                f"{passed[number]:b}, not {golden[number]:b}; "
                f"values {[f'{v:08x}' for v in wavefronts.values[number]]}; "
                f"{unit}"
            )
