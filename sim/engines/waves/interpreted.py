"""Amaranth's simulator as an engine that writes a wave."""

from io import TextIOWrapper
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import REGISTERS
from ctm.sim.engines.cycle_accurate import SimulatedMachine
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.interpreted import PERIOD, AmaranthEngine, InterpretedMachine
from ctm.sim.engines.waves.file import WaveFile
from ctm.sim.engines.waves.vcd_window import VcdWindow
from ctm.sim.engines.waves.window import Waves, Written
from ctm.sim.memory import Memory

_PUSH = next(register.offset for register in REGISTERS if register.name == "QUEUE_PUSH")
_SECOND = 10**15
"""Units of time in Amaranth's VCD."""


class AmaranthWavesEngine(AmaranthEngine):
    """`AmaranthEngine` that writes a VCD: of `Waves` the path, `first` and `cycles`.

    The file is complete after `end`.
    """

    def __init__(self, config: MachineConfig, *, watch: Waves, **options: Any) -> None:
        self._waves = watch
        super().__init__(config, **options)

    @classmethod
    def prepare_traced(cls, config: MachineConfig, waves: Waves, tell: Notice) -> None:
        """See `WavesEngine.prepare_traced`."""
        cls.prepare(config, tell)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The simulated machine."""
        self._traced = _TracedMachine(config, self.memory, self._waves)
        return self._traced

    def end(self) -> Written:
        """See `WavesEngine.end`."""
        self._traced.close()
        return self._traced.written()


class _TracedMachine(InterpretedMachine):
    """The machine, which counts cycles from the first command buffer on."""

    _origin: int | None = None
    _last = 0

    def __init__(self, config: MachineConfig, memory: Memory, waves: Waves) -> None:
        assert waves.path is not None
        self._waves = waves
        self._file: WaveFile | None = WaveFile(waves, waves.path)
        self._text = TextIOWrapper(self._file.stream, write_through=False)
        self._window = VcdWindow(
            self._text, first=waves.first, cycles=waves.cycles, period=round(PERIOD * _SECOND)
        )  # fmt: skip
        super().__init__(config, memory, self._window)

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == _PUSH and self._origin is None:
            self._origin = self.cycles
            self._window.start(self._edge())
        super().write(offset, value)

    def close(self) -> None:
        """End the wave; see `WavesEngine.end`."""
        file, self._file = self._file, None
        if file is None:
            return
        self._last = self.cycles
        self.end_wave()
        self._window.end(self._edge())
        problem = self._window.problem
        try:
            self._text.flush()
        except OSError as error:
            problem = problem or error.errno or 1
        file.close(problem, is_begun=self.written().first is not None)

    def written(self) -> Written:
        """What has been written so far."""
        origin = self.cycles if self._origin is None else self._origin
        taken = (self._last or self.cycles) - origin
        last = self.raised if self.raised > origin else self.cycles
        first, cycles = self._waves.first, self._waves.cycles
        if taken <= first:
            return Written(first=None, end=None, fault=None, cycles=last - origin)
        end = taken if cycles is None else min(taken, first + cycles)
        return Written(first=first, end=end, fault=None, cycles=last - origin)

    def _edge(self) -> int:
        """When the cycle began that is going on: the first edge is in the middle of a period."""
        return round((self.cycles - 0.5) * PERIOD * _SECOND)
