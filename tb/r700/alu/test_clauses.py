"""Clauses in execution: the executing pixels, and the state of each context apart from all others."""

from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal, Value
from amaranth.sim import Simulator

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.alu.clauses import ClauseTables, contexts_of, executing
from ctm.rtl.r700.alu.intervals import Intervals
from ctm.rtl.r700.border.alu_clause import address_layout, alu_clause_layout, masks_layout
from ctm.tb.lib.streams import simulate

QUAD, MOST = 4, 8
CASES, CYCLES = 300, 300
SIZES = (4, 8, 16, 64)
LATENCIES = range(8, 12)
"""Of lanes: for one of them the last results come in the last cycle of an interval."""


def array(wavefront: int = 4, threads: int = 16) -> ArrayConfig:
    """An array of wavefronts that the lanes take in up to four passes."""
    return ArrayConfig(instruction_set="r700", lanes=min(16, wavefront), wavefront=wavefront, threads=threads)


def pixels(draw: np.random.Generator, size: int) -> np.ndarray:
    """A mask, of a few, half or most of the pixels."""
    return draw.random(size) < draw.choice([0.1, 0.5, 0.9])


def number(mask: np.ndarray) -> int:
    """A mask's bits, pixel 0 first."""
    return sum(1 << int(index) for index in np.flatnonzero(mask))


def check_executing(seed: int, size: int, cases: int) -> None:
    """Pixels execute that are active, or whose quad has an active one."""
    m, draw = Module(), np.random.default_rng(seed)
    clause: Any = Signal(alu_clause_layout(array(size)))
    masks: Any = Signal(masks_layout(size))
    found = executing(m, clause, masks)

    async def run(context: Any) -> None:
        for _ in range(cases):
            branch_mask, inside, whole = pixels(draw, size), pixels(draw, size), bool(draw.integers(2))
            others = {name: int(draw.integers(1 << min(size, 60))) for name in ("valid_mask", "cleared", "predicate")}
            context.set(masks, {"branch_mask": number(branch_mask), **others})
            # The clause's own `branch_mask` is that of its begin.
            fields = {"whole": int(whole), "inside": number(inside)}
            fields |= {"branch_mask": others["valid_mask"], "valid_mask": others["valid_mask"]}
            context.set(clause, fields)
            wanted = branch_mask & inside
            if whole:
                wanted = np.repeat(wanted.reshape(-1, QUAD).any(axis=1), QUAD)
            assert context.get(found) == number(wanted), f"{branch_mask} {inside} {whole=}"

    simulator = Simulator(m)
    simulator.add_testbench(run)
    simulator.run()


class Tables:
    """The tables of a core with the two readers of address registers, in intervals."""

    def __init__(self, config: ArrayConfig, intervals: Intervals) -> None:
        self.unit = m = Module()
        self.tables = ClauseTables.of(config)
        bits = range(contexts_of(config))
        self.issued, self.ending, self.phase = Signal(bits), Signal(bits), Signal(range(intervals.interval))
        self.row, self.enable, self.contents = Signal(bits), Signal(), Signal(address_layout(config.wavefront_lanes))
        for name, table in vars(self.tables).items():
            m.submodules[name] = table
        self.tables.addresses.write(m, self.row, self.contents, self.enable)
        first, second = self.tables.read_addresses(m, intervals, self.phase, issued=self.issued, ending=self.ending)
        self.found = Signal(address_layout(config.wavefront_lanes)), Signal(address_layout(config.wavefront_lanes))
        m.d.comb += [self.found[0].eq(first), self.found[1].eq(second)]


def check_addresses(seed: int, latency: int, cycles: int) -> None:
    """In the last cycle of an interval the issued group's, when the last results come those of the ending one."""
    config, draw = array(8), np.random.default_rng(seed)
    intervals = Intervals(interval=4, passes=2, lane_latency=latency)
    bench = Tables(config, intervals)
    kept = dict.fromkeys(range(contexts_of(config)), 0)
    width = address_layout(config.wavefront_lanes).size

    async def run(context: Any) -> None:
        issued = ending = 0
        for cycle in range(cycles):
            phase = cycle % intervals.interval
            row, *drawn = draw.integers(contexts_of(config), size=3).tolist()
            # Each is stable in the cycle in front of the one in which its registers are read.
            issued = drawn[0] if phase == 0 else issued
            ending = drawn[1] if phase == intervals.phase(intervals.last + 1) else ending
            contents = int.from_bytes(draw.bytes(width // 8), "little")
            enable = bool(draw.integers(2))
            for signal, value in (
                (bench.phase, phase), (bench.issued, issued), (bench.ending, ending), (bench.row, row),
                (bench.enable, enable), (Value.cast(bench.contents), contents),
            ):  # fmt: skip
                context.set(signal, value)
            found = [context.get(Value.cast(each)) for each in bench.found]
            if phase == intervals.interval - 1:
                assert found[0] == kept[issued], f"cycle {cycle}"
            if phase == intervals.phase(intervals.last):
                assert found[1] == kept[ending], f"cycle {cycle}"
            if enable:
                kept[row] = contents
            await context.tick()

    simulate(bench.unit, run)


def check_contexts(threads: int) -> None:
    """As many as there are wavefronts, eight at most; what is kept of one is not another's."""
    config = array(threads=threads)
    contexts = contexts_of(config)
    assert contexts == min(MOST, threads)
    m, tables = Module(), ClauseTables.of(config)
    row, contents, enable = Signal(range(contexts)), Signal(32), Signal()
    found = []
    for name, table in vars(tables).items():
        m.submodules[name] = table
        table.write(m, row, contents, enable)
        found.append(Value.cast(table.read(m, row)))

    async def run(context: Any) -> None:
        for offset in (1, 0):
            context.set(enable, 1)
            for number in range(contexts):
                context.set(row, number)
                context.set(contents, number + offset)
                await context.tick()
            context.set(enable, 0)
            for number in range(contexts):
                context.set(row, number)
                for each in found:
                    assert context.get(each) == (number + offset) % (1 << len(each)), f"context {number}"

    simulate(m, run)


def compare() -> None:
    """What the ordinary suite compares."""
    for size in SIZES:
        check_executing(size, size, CASES)
    for latency in LATENCIES:
        check_addresses(latency, latency, CYCLES)
    for threads in (4, 8, 16):
        check_contexts(threads)


def test_contexts_are_apart() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_many_more_masks(seed: int) -> None:
    check_executing(seed, SIZES[seed % len(SIZES)], 20_000)
    check_addresses(seed, 8 + seed % 4, 10_000)
