"""The engines that compile programs to the host's own instructions: always, and where it pays."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.tools.package import LLVM
from ctm.sim.engines.engine import Notice, Progress, Report
from ctm.sim.engines.fast.choice.auto import AutoCore
from ctm.sim.engines.fast.commands import FastProcessor
from ctm.sim.engines.golden import GoldenEngine, report_of
from ctm.sim.engines.seen import NOT_WATCHED, Seen
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.pulse import pulses
from ctm.sim.golden.dpp.trace import Trace
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.sim.golden.pe.core import Core
from ctm.sim.golden.pe.processor import BATCH_LANES
from ctm.sim.memory import Memory

if TYPE_CHECKING:
    # They need a package that not everyone installs.
    from ctm.sim.engines.fast.core import FastCore
    from ctm.sim.engines.fast.host import Host

SEGMENT_LANES = 1 << 18
"""Pixels of a segment of the domain: work for some milliseconds. Its preparation takes a thread's processor."""


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
        host: "Host | None" = None,
    ) -> None:
        del max_cycles  # It has no cycles.
        self.memory = Memory()
        self.remarks: list[str] = []
        self.origin: Callable[[int, int], str] = lambda executable, pc: ""
        """As that of the golden engine."""
        self._config, self._progress, self._threads, self._host = config, progress, threads, host
        instruction_set = INSTRUCTION_SETS[config.array.instruction_set]
        observers = [] if trace is None else [Trace(trace, instruction_set.describe_pc, self._origin)]
        self._golden: ArrayCore[Any, Any] = ArrayCore(
            instruction_set, self.memory, lanes=config.array.wavefront_lanes, watchdog=watchdog, hazards=hazards,
            observers=(*observers, *pulses(progress)),
        )  # fmt: skip
        self._obstacles = list(_obstacles(hazards=hazards, traced=trace is not None))
        self._core = self._make_core()
        self.reset()

    def _origin(self, pc: int) -> str:
        return self.origin(self._processor.state.instruction_base, pc)

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Nothing but a look whether LLVM is there; see `Engine.prepare`."""
        LLVM.require()

    @property
    def ran(self) -> str:
        """The name of what ran programs: this one, or the golden engine where nothing was compiled."""
        fast = self._compiling()
        return FastEngine.name if fast is not None and fast.has_run else GoldenEngine.name

    def expect(self, starts: int) -> None:
        """Nothing; see `Engine.expect`."""

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `Engine.execute`."""
        try:
            self._processor.run(address, dwords)
        except BaseException:
            # However the buffer ended, no thread may still run when the caller continues.
            fast = self._compiling()
            if fast is not None:
                fast.stop()
            raise

    def reset(self) -> None:
        """Return to the reset state."""
        self._core.invalidate_program()
        lanes = BATCH_LANES if self._core is self._golden else SEGMENT_LANES
        self._processor = FastProcessor(
            self.memory, self._core, tiles=self._config.array.tiles, progress=self._progress, batch_lanes=lanes,
            draws=INSTRUCTION_SETS[self._config.array.instruction_set].stages is not None,
        )  # fmt: skip

    def report(self) -> Report:
        """Counts since the engine was made."""
        return report_of(self._golden.counters)

    def seen(self) -> Seen:
        """Nothing; see `Engine.seen`."""
        raise ValueError(NOT_WATCHED)

    def standing(self) -> Report:
        """The same with those of programs on the golden model that have not ended."""
        return report_of(self._golden.standing())

    def _make_core(self) -> Core:
        """The array that starts programs."""
        LLVM.require()
        if self._obstacles:
            self.remarks.append(f"engine '{self.name}' runs the golden model: {self._obstacles[0]}")
            return self._golden
        return self._make_fast()

    def _make_fast(self) -> "FastCore":
        # Imported here, because they need an optional package, which takes time to import.
        from ctm.sim.engines.fast.core import FastCore
        from ctm.sim.engines.fast.host import Host
        from ctm.sim.engines.fast.preparations import PREPARATIONS, STAGES
        from ctm.sim.engines.fast.starts import Starts

        kind = self._config.array.instruction_set
        starts = Starts(self._golden, kind, self.memory)
        host = self._host or Host.this()
        return FastCore(
            self._golden, PREPARATIONS[kind], starts, host=host, threads=self._threads, remark=self._remark,
            stages=STAGES.get(kind),
        )  # fmt: skip

    def _compiling(self) -> "FastCore | None":
        """What compiles programs, if it was needed."""
        core: Any = self._core
        return None if core is self._golden else core

    def _remark(self, reason: str) -> None:
        text = f"engine '{FastEngine.name}' leaves a program to the golden model: {reason}"
        if text not in self.remarks:
            self.remarks.append(text)


class AutoEngine(FastEngine):
    """Runs programs on the golden model, and as compiled code where that ends sooner and can be done."""

    name = "auto"

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Nothing; see `Engine.prepare`."""

    def expect(self, starts: int) -> None:
        """Compile it sooner if it will be started often; see `Engine.expect`."""
        if isinstance(self._core, AutoCore):
            self._core.expected = starts

    def _make_core(self) -> Core:
        if self._obstacles or not LLVM.is_installed:
            return self._golden
        return AutoCore(self._golden, self._make_fast)

    def _compiling(self) -> "FastCore | None":
        return self._core.fast if isinstance(self._core, AutoCore) else None

    def _remark(self, reason: str) -> None:
        """Compiled code was not asked for."""


def _obstacles(*, hazards: bool, traced: bool) -> Iterator[str]:
    """Why nothing can be compiled."""
    if hazards:
        yield "only that watches for hazards"
    if traced:
        yield "only that writes a trace"
