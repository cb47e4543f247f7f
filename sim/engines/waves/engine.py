"""The hardware as an engine that writes what every signal does in every cycle."""

import ctypes
import gzip
import os
import threading
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.host import REGISTERS
from ctm.sim.compiled.tools.toolchain import Models, build
from ctm.sim.engines.cycle_accurate import SimulatedMachine
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import CompiledMachine, hardware, key
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.waves.translation import sources, traced, wrapper
from ctm.sim.engines.waves.window import COMPRESSED_VCD, FST, Waves, Written

_PUSH = next(register.offset for register in REGISTERS if register.name == "QUEUE_PUSH")
_NEVER = (1 << 64) - 1
_PIPED = 1 << 18
_LEVEL = 3
"""Of gzip: that of VCD with level 6 is a tenth smaller and takes twice as long."""


class WavesEngine(RtlEngine):
    """`RtlEngine` that writes a wave: the same bits in the same cycles.

    Without `waves` it writes nothing, but says in which cycle a fault was. Whoever uses it calls `close`.
    """

    def __init__(self, config: MachineConfig, *, waves: Waves | None, depth: int = 0, **options: Any) -> None:
        self._waves, self._depth = waves, depth if waves is None else waves.depth
        super().__init__(config, **options)

    @staticmethod
    def traced_library(config: MachineConfig, depth: int, tell: Notice = lambda: None) -> Path:
        """The compiled model, in which memories of up to `depth` words can be written; see `CompiledEngine.library`."""
        config = hardware(config)

        def models() -> Models:
            tell()
            return traced(config, depth=depth)

        return build(models, wrapper(config), key=f"waves {sources()} {depth} {key(config)}")

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """The compiled machine."""
        library = self.traced_library(config, self._depth)
        self._traced = _TracedMachine(library, config, self.memory, self.disturbance)
        if self._waves is not None:
            self._traced.open(self._waves)
        return self._traced

    def written(self) -> Written:
        """What has been written so far."""
        return self._traced.written()

    def close(self) -> None:
        """End the file, which can then be read.

        Raises
        ------
        OSError
            It, or a part of it, could not be written.
        """
        self._traced.close()


class _Window(ctypes.Structure):
    _fields_ = [
        ("path", ctypes.c_char_p),
        ("file", ctypes.c_int64),
        *((name, ctypes.c_uint64) for name in ("first", "cycles", "at", "i", "j")),
    ]


class _State(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("begun", "end", "fault", "is_over", "problem")]


class _TracedMachine(CompiledMachine):
    """The functions of `waves.cc`."""

    _path: Path | None = None
    _file: BinaryIO | None = None
    _pipe: "_Compression | None" = None
    _counts = False

    @cached_property
    def _functions(self) -> ctypes.CDLL:
        library, pointer = self.library, ctypes.c_void_p
        for name, arguments in {"start": [], "open": [pointer], "close": [], "state": [pointer]}.items():
            function = getattr(library, f"machine_waves_{name}")
            function.argtypes, function.restype = [pointer, *arguments], None
        return library

    def write(self, offset: int, value: int) -> None:
        """Write a register."""
        if offset == _PUSH and not self._counts:
            self._counts = True
            self._functions.machine_waves_start(self.handle)
        super().write(offset, value)

    def run(self, cycles: int) -> bool:
        """Clock until the interrupt is raised; OSError: the wave cannot be written."""
        is_raised = super().run(cycles)
        self._check()
        return is_raised

    def open(self, waves: Waves) -> None:
        """Write a wave from now on."""
        self._path = waves.path
        if waves.suffix != FST:
            # Opened here, so that there is one kind of error for a file that cannot be.
            self._file = waves.path.open("wb")
            if waves.suffix == COMPRESSED_VCD:
                self._pipe = _Compression(self._file)
        descriptor = -1 if self._file is None else self._file.fileno() if self._pipe is None else self._pipe.entry
        i, j = waves.at or (0, 0)
        window = _Window(
            path=os.fsencode(waves.path), file=descriptor, first=waves.first, cycles=waves.cycles or 0,
            at=int(waves.at is not None), i=i, j=j,
        )  # fmt: skip
        self._functions.machine_waves_open(self.handle, ctypes.byref(window))

    def close(self) -> None:
        """End the wave; see `WavesEngine.close`."""
        self._functions.machine_waves_close(self.handle)
        try:
            if self._pipe is not None:
                self._pipe.close()
            self._check()
        finally:
            if self._file is not None:
                self._file.close()
            self._pipe = self._file = None

    def written(self) -> Written:
        """What has been written so far."""
        state = self._state()
        found = {name: getattr(state, name) for name in ("begun", "end", "fault")}
        first, end, fault = (None if value == _NEVER else value for value in found.values())
        return Written(first=first, end=end, fault=fault)

    def _state(self) -> _State:
        state = _State()
        self._functions.machine_waves_state(self.handle, ctypes.byref(state))
        return state

    def _check(self) -> None:
        problem = self._state().problem
        if problem and self._pipe is not None and self._pipe.problem is not None:
            problem = self._pipe.problem.errno or problem
        if problem:
            raise OSError(problem, os.strerror(problem), str(self._path))


class _Compression:
    """A thread that compresses what comes through a pipe, whose one end is the file `entry`."""

    def __init__(self, target: BinaryIO) -> None:
        self._exit, self.entry = os.pipe()
        self._target = target
        self.problem: OSError | None = None
        self._thread = threading.Thread(target=self._compress, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Compress what is left; OSError: it could not be written."""
        if self.entry >= 0:
            os.close(self.entry)
        self.entry = -1
        self._thread.join()
        if self.problem is not None:
            raise self.problem

    def _compress(self) -> None:
        with open(self._exit, "rb", buffering=0) as source:
            try:
                with gzip.GzipFile(filename="", mode="wb", fileobj=self._target, compresslevel=_LEVEL, mtime=0) as file:
                    while data := source.read(_PIPED):
                        file.write(data)
            except OSError as error:
                # Closing the pipe's end tells who writes.
                self.problem = error
