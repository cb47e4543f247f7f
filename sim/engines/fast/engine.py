"""The engine that compiles programs to the host's own instructions."""

from collections.abc import Iterator
from typing import Any, TextIO

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.tools.package import LLVM
from ctm.sim.engines.engine import Notice, Progress, Report
from ctm.sim.engines.golden import report_of
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.trace import Trace
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.sim.golden.pe.core import Core
from ctm.sim.golden.pe.processor import BATCH_LANES, CommandProcessor
from ctm.sim.memory import Memory

PART_LANES = 1 << 16
"""Processors of a part of the domain: a thread's work for some milliseconds."""


class FastEngine:
    """Runs command buffers as the golden engine does, to the same bits, but programs as compiled code.

    What it cannot compile it leaves to the golden model, and says so in `remarks`; with `hazards` or `trace` that is
    everything. `threads` is the number of threads, None for as many as there are processors, `host` what programs are
    compiled for, None for the computer that this is.
    """

    name = "fast"
    counts_cycles = False

    def __init__(
        self,
        config: MachineConfig,
        *,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
        threads: int | None = None,
        host: Any = None,
    ) -> None:
        del max_cycles  # It has no cycles.
        LLVM.require()
        # Imported here, because they need a package that not everyone installs, and nobody should wait for it.
        from ctm.sim.engines.fast.core import FastCore
        from ctm.sim.engines.fast.host import Host
        from ctm.sim.engines.fast.preparations import PREPARATIONS

        self.memory = Memory()
        self.remarks: list[str] = []
        self._progress = progress
        instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
        observers = [] if trace is None else [Trace(trace, instruction_set.place)]
        self._golden: ArrayCore[Any, Any] = ArrayCore(
            instruction_set, self.memory, lanes=config.array.group, watchdog=watchdog, hazards=hazards,
            observers=observers,
        )  # fmt: skip
        self._fast: FastCore | None = None
        obstacles = list(_obstacles(config, hazards=hazards, traced=trace is not None, compiled=PREPARATIONS))
        if obstacles:
            self.remarks.append(f"engine '{self.name}' runs the golden model: {obstacles[0]}")
        else:
            prepare = PREPARATIONS[instruction_set.name]
            self._fast = FastCore(self._golden, prepare, host=host or Host.this(), threads=threads, remark=self._remark)
        self.reset()

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Nothing but a look whether LLVM is there; see `Engine.prepare`."""
        LLVM.require()

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `Engine.execute`."""
        try:
            self._processor.run(address, dwords)
        except BaseException:
            # Whatever ended it, nothing goes on behind the caller's back.
            if self._fast is not None:
                self._fast.stop()
            raise

    def reset(self) -> None:
        """Return to the reset state."""
        core: Core = self._fast or self._golden
        core.forget_program()
        lanes = BATCH_LANES if self._fast is None else PART_LANES
        self._processor = CommandProcessor(self.memory, core, progress=self._progress, batch_lanes=lanes)

    def report(self) -> Report:
        """Counts since the engine was made."""
        return report_of(self._golden.counters)

    def standing(self) -> Report:
        """The same."""
        return self.report()

    def _remark(self, reason: str) -> None:
        text = f"engine '{self.name}' leaves a program to the golden model: {reason}"
        if text not in self.remarks:
            self.remarks.append(text)


def _obstacles(config: MachineConfig, *, hazards: bool, traced: bool, compiled: Any) -> Iterator[str]:
    """Why nothing can be compiled."""
    if config.array.instruction_set not in compiled:
        yield f"it compiles no programs of {config.array.instruction_set}"
    if hazards:
        yield "only that watches for hazards"
    if traced:
        yield "only that writes a trace"
