"""The golden model of the whole machine: a command processor, and cores of the configured instruction set."""

from collections.abc import Callable, Sequence
from typing import Any

from ctm.rtl.config import ArrayConfig
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.dpp.instruction_set import Observer
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.dpp.pulse import pulses
from ctm.sim.golden.dpp.tally import Tally
from ctm.sim.golden.instruction_sets import INSTRUCTION_SETS
from ctm.sim.golden.pe.processor import CommandProcessor, Progress
from ctm.sim.golden.pe.state import State
from ctm.sim.memory import Memory


class Machine:
    """Executes command buffers that lie in `memory`.

    Of the configuration only the instruction set, the size of a wavefront and the walk matter. `watchdog`, `hazards`,
    `observers` and `tally` are those of `ArrayCore`; `progress` is that of `CommandProcessor`, and of a `Pulse`.
    """

    def __init__(
        self,
        array: ArrayConfig,
        memory: Memory,
        *,
        watchdog: int = 0,
        hazards: bool = False,
        progress: Progress | None = None,
        observers: Sequence[Observer[Any]] = (),
        tally: Tally | None = None,
        core: Callable[..., ArrayCore[Any, Any]] = ArrayCore,
    ) -> None:
        self._memory = memory
        self._tiles = array.tiles
        self._draws = INSTRUCTION_SETS[array.instruction_set].stages is not None
        self._progress = progress
        self._core = core(
            INSTRUCTION_SETS[array.instruction_set],
            memory,
            lanes=array.wavefront_lanes,
            watchdog=watchdog,
            hazards=hazards,
            observers=(*observers, *pulses(progress)),
            tally=tally,
        )
        self.reset()

    def run(self, address: int, dwords: int) -> None:
        """Execute the command buffer of `dwords` words at `address`; see `CommandProcessor.run`."""
        self._processor.run(address, dwords)

    def reset(self) -> None:
        """Return to the reset state; memory and counters stay."""
        self._core.invalidate_program()
        self._processor = CommandProcessor(
            self._memory, self._core, tiles=self._tiles, progress=self._progress, draws=self._draws
        )

    @property
    def counters(self) -> Counters:
        """What all programs issued."""
        return self._core.counters

    @property
    def standing(self) -> Counters:
        """The same with what was issued so far by programs that have not ended."""
        return self._core.standing()

    @property
    def state(self) -> State:
        """What commands have set."""
        return self._processor.state

    def launch(self) -> Launch[Any]:
        """What a start_program would run now, without running it; see `ArrayCore.launch`."""
        return self._core.launch(self.state)
