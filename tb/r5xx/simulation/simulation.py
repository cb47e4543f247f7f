"""The core of the DPP array, compiled, with a simple memory: runs whole domains.

A core is clocked, fed with wavefronts and served in C++; `loop.cc` has the order of a cycle's steps. Fields that a
core must not read are a poison: lanes that do not fetch, data of error responses, streams that are not valid.
"""

import ctypes
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from amaranth.lib import data, wiring

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r5xx.trace import trace_layout, traced_members
from ctm.sim.compiled.fields import Fields, Words, decode
from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import ports
from ctm.sim.engines.model import key
from ctm.sim.engines.tracing.beats import whole
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.memory import Memory
from ctm.tb.r5xx.simulation.launch import (
    Arrays,
    Range,
    RunSetup,
    WavefrontArrays,
    copied,
    ranges,
    run_setup,
    written_buffers,
)
from ctm.tb.r5xx.simulation.ports import port_declarations

_TOP = "core"
_SOURCES = ("memory_model.cc", "streams.cc", "clients.cc", "loop.cc")
_STALL_ONE = 1 << 16
"""The unit of probabilities."""
_WORD_BITS = 32
_CYCLE_WORDS = 2
_FAULT_WORDS = 5
_MESSAGE_BYTES = 512
_TIMEOUT, _BROKEN = 1, 2


class ProtocolError(Exception):
    """A core broke a rule of its border; the message names the stream, the rule and the cycle."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How the memory and what feeds wavefronts behave; all of it is the same for the same seed.

    A response comes `latency` (1 or more) cycles after its request, and up to `jitter` more. In each cycle, each ready
    and each new valid is withheld with the probability `stall`.
    """

    latency: int = 1
    jitter: int = 0
    stall: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.latency < 1 or not 0 <= self.jitter < 1 << 32:
            raise ValueError(f"latency must be 1 or more and jitter 0 or more, not {self.latency} and {self.jitter}")
        if not 0 <= self.stall < 1:
            raise ValueError(f"stall must be at least 0 and less than 1, not {self.stall}")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Why a wavefront was stopped; i and j are lane 0's."""

    status: Status
    client: BusClient
    pc: int
    i: int
    j: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CoreRun:
    """What a run did.

    `memory` has the buffers and what the run made of them, and 0 elsewhere; `lost` there is the first write that was
    an error. `cycles` are those from the first wavefront's offer to the last one in which the core was not idle,
    `issued` counts instructions: ALU and OUTPUT, TEX, FC. `faults` are in the order in which they happened.
    """

    memory: Memory
    ranges: tuple[Range, ...]
    """Addresses [first, end) of all that a run may write."""
    cycles: int
    issued: tuple[int, int, int]
    faults: tuple[Fault, ...]
    trace: dict[str, tuple[data.StructLayout, Words]] | None
    """Of each kind of event its layout and, [n, words], its cycle in two words and its bits; None without trace."""

    def events(self, kind: str) -> Fields:
        """All events of a kind in order: the fields of the trace's layout as `decode` gives them, and `cycle` [n].

        Those of a wavefront's beats are one event.

        Raises
        ------
        ValueError
            The run was not traced.
        """
        if self.trace is None:
            raise ValueError("this run was made without trace")
        layout, rows = self.trace[kind]
        cycle = rows[:, :_CYCLE_WORDS].copy().view(np.uint64)[:, 0]
        return whole({"cycle": cycle, **decode(layout, rows[:, _CYCLE_WORDS:])})

    def difference(self, other: Memory) -> int | None:
        """The lowest address at which what the run may have written is not as in `other`, None if it is."""
        found = []
        for first, end in self.ranges:
            wrong = np.flatnonzero(self.memory.bytes[first:end] != other.bytes[first:end])
            if wrong.size:
                found.append(first + int(wrong[0]))
        return min(found, default=None)


class _Result(ctypes.Structure):
    _fields_ = [
        ("outcome", ctypes.c_uint64),
        ("cycles", ctypes.c_uint64),
        ("issued", ctypes.c_uint64 * 3),
        ("has_lost", ctypes.c_uint64),
        ("lost_client", ctypes.c_uint64),
        ("lost_address", ctypes.c_uint64),
        ("faults", ctypes.c_uint64),
        ("message", ctypes.c_char * _MESSAGE_BYTES),
    ]


class CoreSimulation:
    """A compiled core. It is reset once: a run begins in the state that the one before left.

    `core` is the component, `ctm.rtl.r5xx.core.Core` if none is given. Making a simulation takes as long as compiling
    does, or what the cache needs.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    """

    def __init__(self, config: MachineConfig, core: wiring.Component | None = None) -> None:
        self.config = config
        listed = list(ports(core or wiring.Signature(traced_members(config.array)).create()))
        texts = [resources.files("ctm.tb.r5xx.simulation").joinpath(name).read_text() for name in _SOURCES]
        wrapper = "".join([port_declarations(listed, config.array), *texts])

        def model() -> Model:
            from ctm.rtl.r5xx.core import Core

            own = core or Core(config)
            return Model(_TOP, merged(Numbered(own, list(ports(own))), _TOP))

        # The core of the sources is known by them: to write it takes ten seconds.
        library = build(model, wrapper, key=f"core {key(config)}") if core is None else build(model(), wrapper)
        self.library = _load(library)
        self._core: int = self.library.core_make()

    def __del__(self) -> None:
        if hasattr(self, "_core"):
            self.library.core_free(self._core)

    def run(
        self,
        launch: Launch,
        wavefronts: Iterable[WavefrontArrays],
        *,
        timing: Timing,
        max_cycles: int,
        trace: bool = False,
    ) -> CoreRun:
        """Run a program over wavefronts; those without a covered lane are left out.

        The launch's memory is not changed, and holds what memory held at the start: a golden model that runs the same
        launch must come later, or have a memory of its own.

        Raises
        ------
        TimeoutError
            The run takes more than `max_cycles`; the message says what is outstanding.
        ProtocolError
            The core broke a rule of its border.
        ValueError
            The launch does not fit the core.
        """
        if launch.lanes != self.config.array.lanes:
            raise ValueError(f"the launch has {launch.lanes} lanes, the core {self.config.array.lanes}")
        arrays = Arrays()
        written = ranges(written_buffers(launch))
        memory = copied(launch.memory, [*written, *ranges([launch.conditional.buffer]), *ranges(launch.inputs.buffers)])
        setup = run_setup(
            launch, memory, wavefronts, arrays,
            latency=timing.latency, jitter=timing.jitter, stall=round(timing.stall * _STALL_ONE),
            seed=timing.seed % (1 << 64), max_cycles=max_cycles, is_traced=trace,
        )  # fmt: skip
        result = _Result()
        self.library.core_run(self._core, ctypes.byref(setup), ctypes.byref(result))
        self._check(result)
        if result.has_lost:
            memory.lost = BusClient(result.lost_client), int(result.lost_address)
        return CoreRun(
            memory=memory,
            ranges=tuple(written),
            cycles=int(result.cycles),
            issued=tuple(result.issued),
            faults=self._faults(int(result.faults)),
            trace=self._events() if trace else None,
        )

    def _check(self, result: Any) -> None:
        """Raise what a run ended with; the model is then made anew."""
        if not result.outcome:
            return
        self.library.core_free(self._core)
        self._core = self.library.core_make()
        message = f"cycle {result.cycles}: {result.message.decode()}"
        raise TimeoutError(message) if result.outcome == _TIMEOUT else ProtocolError(message)

    def _faults(self, count: int) -> tuple[Fault, ...]:
        words = _words(self.library.core_faults(self._core), count * _FAULT_WORDS)
        return tuple(
            Fault(status=Status(status), client=BusClient(client), pc=pc, i=i, j=j)
            for status, client, pc, i, j in words.reshape(-1, _FAULT_WORDS).tolist()
        )

    def _events(self) -> dict[str, tuple[data.StructLayout, Words]]:
        events = {}
        for kind, (name, field) in enumerate(trace_layout(self.config.array)):
            count = ctypes.c_uint64()
            address = self.library.core_events(self._core, kind, ctypes.byref(count))
            rows = _words(address, count.value).reshape(-1, _CYCLE_WORDS + -(-field.width // _WORD_BITS))
            events[str(name)] = field.shape, rows
        return events


def _words(address: int | None, count: int) -> Words:
    """A copy of words in the compiled code's memory."""
    if not count or not address:
        return np.zeros(0, np.uint32)
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32)), (count,)).copy()


def _load(path: Path) -> ctypes.CDLL:
    """The compiled code, its functions with their types."""
    library = ctypes.CDLL(str(path))
    pointer, number = ctypes.c_void_p, ctypes.c_size_t
    library.core_make.restype = pointer
    library.core_free.argtypes, library.core_free.restype = [pointer], None
    library.core_run.argtypes, library.core_run.restype = [pointer, pointer, pointer], None
    library.core_faults.argtypes, library.core_faults.restype = [pointer], pointer
    library.core_events.argtypes, library.core_events.restype = [pointer, ctypes.c_uint, pointer], pointer
    library.setup_bytes.restype = ctypes.c_uint64
    library.memory_fetch.argtypes = [pointer, ctypes.c_uint, ctypes.c_uint, number, *[pointer] * 4]
    library.memory_store.argtypes = [pointer, ctypes.c_uint, number, *[pointer] * 4]
    library.memory_test.argtypes = [pointer, number, *[pointer] * 4]
    for function in (library.memory_fetch, library.memory_store, library.memory_test):
        function.restype = None
    if library.setup_bytes() != ctypes.sizeof(RunSetup):
        raise TypeError(f"a run's setup has {library.setup_bytes()} bytes in C++, here {ctypes.sizeof(RunSetup)}")
    return library
