"""The golden model as an engine: functional, without a notion of time."""

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.engine import Notice, Progress, Report
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.pe.processor import CommandProcessor
from ctm.sim.golden.r5xx.core import R5xxCore
from ctm.sim.memory import Memory


class GoldenEngine:
    """Runs command buffers on the golden model. With `hazards`, reads of what was not promised raise HAZARD."""

    name = "golden"
    counts_cycles = False

    def __init__(
        self,
        config: MachineConfig,
        *,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
    ) -> None:
        del max_cycles  # It has no cycles.
        self.memory = Memory()
        self._config = config
        self._watchdog = watchdog
        self._progress = progress
        self._hazards = hazards
        self._counters = Counters()
        self._processor = self._new_processor()

    @staticmethod
    def prepare(config: MachineConfig, tell: Notice) -> None:
        """Nothing; see `Engine.prepare`."""

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `Engine.execute`."""
        self._processor.run(address, dwords)

    def reset(self) -> None:
        """Return to the reset state."""
        self._processor = self._new_processor()

    def report(self) -> Report:
        """Counts since the engine was made."""
        counters = self._counters
        by_type = {f"issued_{kind.name.lower()}": count for kind, count in counters.issued.items()}
        return Report(
            cycles=None,
            instructions=counters.instructions,
            lane_instructions=counters.lane_instructions,
            counters={"groups": counters.groups, **by_type},
        )

    def standing(self) -> Report:
        """The same."""
        return self.report()

    def _new_processor(self) -> CommandProcessor:
        core = R5xxCore(
            self.memory,
            lanes=self._config.array.lanes,
            counters=self._counters,
            watchdog=self._watchdog,
            hazards=self._hazards,
        )
        return CommandProcessor(self.memory, core, progress=self._progress)
