"""The machine that writes a wave, with the functions of `waves.cc`."""

import ctypes
import os
from functools import cached_property
from pathlib import Path

from ctm.sim.engines.model import PUSH, CompiledMachine
from ctm.sim.engines.waves.file import WaveFile
from ctm.sim.engines.waves.window import Waves, Written

_NEVER = (1 << 64) - 1


class _Window(ctypes.Structure):
    _fields_ = [
        ("path", ctypes.c_char_p),
        ("file", ctypes.c_int64),
        *((name, ctypes.c_uint64) for name in ("first", "cycles", "at", "i", "j")),
    ]


class _State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("begun", "end", "fault", "problem")]


class TracedMachine(CompiledMachine):
    """The compiled machine, which counts cycles from the first command buffer on."""

    _file: WaveFile | None = None

    @cached_property
    def _functions(self) -> ctypes.CDLL:
        library, pointer = self.library, ctypes.c_void_p
        for name, arguments in {"start": [], "open": [pointer], "close": [], "state": [pointer]}.items():
            function = getattr(library, f"machine_waves_{name}")
            function.argtypes, function.restype = [pointer, *arguments], None
        return library

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == PUSH and self.origin is None:
            self._functions.machine_waves_start(self.handle)
        super().write(offset, value)

    def open(self, waves: Waves, path: Path) -> None:
        """Write a wave from now on; OSError: it cannot be."""
        self._file = WaveFile(waves, path)
        i, j = waves.at or (0, 0)
        window = _Window(
            path=os.fsencode(self._file.name), file=self._file.entry, first=waves.first, cycles=waves.cycles or 0,
            at=int(waves.at is not None), i=i, j=j,
        )  # fmt: skip
        self._functions.machine_waves_open(self.handle, ctypes.byref(window))

    def close(self) -> None:
        """End the wave; see `WavesEngine.end`."""
        self._functions.machine_waves_close(self.handle)
        file, self._file = self._file, None
        if file is not None:
            file.close(self._state().problem, is_begun=self.written().first is not None)

    def written(self) -> Written:
        """What has been written so far."""
        state = self._state()
        found = {name: getattr(state, name) for name in ("begun", "end", "fault")}
        first, end, fault = (None if value == _NEVER else value for value in found.values())
        origin = self.origin or 0
        last = self.raised if self.raised > origin else self.cycles
        return Written(first=first, end=end, fault=fault, cycles=last - origin)

    def _state(self) -> _State:
        state = _State()
        self._functions.machine_waves_state(self.handle, ctypes.byref(state))
        return state
