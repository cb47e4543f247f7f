"""The machine on a board as an engine."""

from collections.abc import Sequence
from typing import TextIO

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, DRAW_COUNTERS, DRAW_COUNTERS_OFFSET
from ctm.rtl.isa.link import BAUD
from ctm.sim.engines.cycle_accurate import CycleAccurateEngine, SimulatedMachine
from ctm.sim.engines.engine import Progress
from ctm.sim.engines.serial.board import BoardMachine
from ctm.sim.engines.serial.link import Link
from ctm.sim.engines.serial.mirror import Mirror
from ctm.sim.engines.serial.port import SerialPort, parse
from ctm.sim.memory import Memory


class SerialEngine(CycleAccurateEngine):
    """Runs command buffers on a board; `port` is ``PATH`` or ``PATH@BAUD``.

    `cycles` are those in which the machine executes a buffer. What the host has written to memory is sent
    before a buffer, and what the machine has written is fetched after it.

    Raises
    ------
    BoardError
        The board cannot be reached, or is another one; from all methods.
    """

    name = "serial"
    slice_cycles = 1 << 23
    reset_looks = 1000
    patience: float | None = None
    """Seconds that a response may take, for boards that are slower than boards are."""

    def __init__(
        self,
        config: MachineConfig,
        *,
        port: str,
        watchdog: int = 0,
        progress: Progress | None = None,
        hazards: bool = False,
        max_cycles: int | None = None,
        trace: TextIO | None = None,
    ) -> None:
        self._port = SerialPort(*parse(port, BAUD))
        self._link = Link(self._port) if self.patience is None else Link(self._port, patience=self.patience)
        try:
            super().__init__(
                config, watchdog=watchdog, progress=progress, hazards=hazards, max_cycles=max_cycles, trace=trace
            )
        except BaseException:
            self._port.close()
            raise

    def __del__(self) -> None:
        if hasattr(self, "_port"):
            self._port.close()

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The machine on the board, after a soft reset: an earlier user may have left it running."""
        self._board = board = BoardMachine(self._link, config)
        self.memory = Memory(board.memory_bytes)
        self.reset_machine(board)
        self._mirror = Mirror(self._link, self.memory)
        return board

    def execute(self, address: int, dwords: int) -> None:
        """Execute one command buffer; see `CycleAccurateEngine.execute`. What an error leaves is fetched too."""
        self._mirror.send()
        try:
            super().execute(address, dwords)
        finally:
            if not self._link.has_failed:
                self._mirror.fetch()

    def counters(self) -> Sequence[int]:
        """All counters at once."""
        found = list(self._board.read_words(COUNTERS_OFFSET, len(COUNTERS)))
        if len(self._counters) > len(COUNTERS):
            found += self._board.read_words(DRAW_COUNTERS_OFFSET, len(DRAW_COUNTERS))
        return found
