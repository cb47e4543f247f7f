"""The golden model as an engine: functional, without a notion of time."""

from collections.abc import Callable, Sequence
from typing import Any, TextIO

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.engine import Notice, Progress, Report
from ctm.sim.engines.seen import NOT_WATCHED, RESIDENCY, ROW, WINDOW, Seen, Watching
from ctm.sim.engines.watching.steps import events_of
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.instruction_set import Observer
from ctm.sim.golden.dpp.steps import Steps
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.golden.dpp.trace import Trace
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.sim.golden.machine import Machine
from ctm.sim.memory import Memory

_COUNTED_AS = {"OUTPUT": "ALU", "CF": "FC", "FETCH": "TEX"}
"""Counters of the hardware for kinds of instructions that it does not count apart, or that have another name."""


class GoldenEngine:
    """Runs command buffers on the golden model.

    With `hazards`, reads of what was not promised raise HAZARD. The observers see every group, and `trace` gets a line
    for each after each instruction. With `watch` it counts what each instruction issues. `core` makes
    the array.
    """

    name = "golden"
    ran = name
    counts_cycles = False
    remarks: Sequence[str] = ()

    def __init__(
        self,
        config: MachineConfig,
        *,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
        observers: Sequence[Observer[Any]] = (),
        watch: Watching | None = None,
        core: Callable[..., ArrayCore[Any, Any]] = ArrayCore,
    ) -> None:
        del max_cycles  # It has no cycles.
        self.memory = Memory()
        if trace is not None:
            observers = (
                *observers,
                Trace(trace, INSTRUCTION_SETS[config.array.instruction_set].describe_pc, self._origin),
            )
        self._array = config.array
        self._tally = None if watch is None else Tally(Steps(watch.most_events))
        self._unit = INSTRUCTION_SETS[config.array.instruction_set].unit
        self.origin: Callable[[int, int], str] = lambda executable, pc: ""
        """Where in its source the instruction at a PC is, by the address of its executable; traces show it."""
        self._machine = Machine(
            config.array, self.memory, watchdog=watchdog, hazards=hazards, progress=progress, observers=observers,
            tally=self._tally, core=core,
        )  # fmt: skip

    def _origin(self, pc: int) -> str:
        return self.origin(self._machine.state.instruction_base, pc)

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Nothing; see `Engine.prepare`."""

    def expect(self, starts: int) -> None:
        """Nothing; see `Engine.expect`."""

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `Engine.execute`."""
        self._machine.run(address, dwords)

    def reset(self) -> None:
        """Return to the reset state."""
        self._machine.reset()

    def report(self) -> Report:
        """Counts since the engine was made."""
        return report_of(self._machine.counters)

    def standing(self) -> Report:
        """The same with those of programs that have not ended."""
        return report_of(self._machine.standing)

    def seen(self) -> Seen:
        """What each instruction issued so far; see `Engine.seen`."""
        if self._tally is None:
            raise ValueError(NOT_WATCHED)
        rows = np.zeros(len(self._tally.counts), ROW)
        for row, ((executable, pc), count) in zip(rows, self._tally.counts.items(), strict=True):
            row["executable"], row["pc"] = executable, self._unit(pc)
            for name, value in vars(count).items():
                row[name] = value
        steps = self._tally.steps
        events, tracks = events_of(steps, self._unit, self._array.threads)
        return Seen(
            rows=rows, residencies=np.zeros(0, RESIDENCY), events=events, lost_events=steps.lost,
            traffic=np.zeros(0, WINDOW), bytes_per_cycle=0, array=self._array, tracks=tracks, has_times=False,
        )  # fmt: skip


def report_of(counters: Counters) -> Report:
    """What an engine without cycles reports."""
    issued: dict[str, int] = {}
    for unit, count in counters.issued.items():
        name = f"issued_{_COUNTED_AS.get(unit, unit).lower()}"
        issued[name] = issued.get(name, 0) + count
    return Report(
        cycles=None,
        instructions=counters.instructions,
        lane_instructions=counters.lane_instructions,
        counters={"groups": counters.wavefronts, **issued},
    )
