"""The machine compiled with what its cores show of their work: see `ctm.rtl.r5xx.trace` and `ctm.rtl.r700.trace`."""

import ctypes
from dataclasses import dataclass
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import numpy as np
from amaranth import Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from ctm.rtl.border.shading import Stage
from ctm.rtl.config import MachineConfig
from ctm.rtl.lib.forwarding import forward
from ctm.sim.compiled.fields import Fields, Words, decode
from ctm.sim.compiled.halves import CORE, core_config, standard, uncore
from ctm.sim.compiled.sources import sources
from ctm.sim.compiled.tools.separate import Separate, build_separately
from ctm.sim.compiled.tools.toolchain import Model
from ctm.sim.engines.cycle_accurate import SimulatedMachine
from ctm.sim.engines.engine import Notice
from ctm.sim.engines.model import TOP, CompiledMachine, Disturbance, hardware, host
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.memory import Memory

_BEFORE = 3
"""Words in front of an event's: the cycle in two of them, and the core."""
_CYCLE_WORDS = 2
_WORD_BITS = 32
_SLICE = 10_000
"""Cycles after which is looked whether the wavefront that was wanted has ended."""
_BEGIN = {"r5xx": "start", "r700": "take"}
"""The event of a wavefront that takes a wave slot."""
_SLOT = {"r5xx": "context", "r700": "wave"}
"""The field that says of which wave slot an event is."""


@dataclass(frozen=True)
class Wanted:
    """A wavefront: the position of its first lane, and how many wavefronts with this position come before it.

    Of a program for threads, i is the first thread's number in its batch.
    """

    i: int
    j: int
    before: int = 0
    stage: Stage = Stage.DOMAIN
    """What program it is of; only wavefronts of this stage count."""


def trace_layout(config: MachineConfig) -> data.StructLayout:
    """Events of one cycle of a core, each with `valid`."""
    made = import_module(f"ctm.rtl.{config.array.instruction_set}.trace").trace_layout
    found: data.StructLayout = made(config.array, draws=True) if config.pipeline.draws else made(config.array)
    return found


class TracedCore(wiring.Component):  # type: ignore[type-arg]
    """A `SimulatedCore` with one more output.

    Members
    -------
    as those of `SimulatedCore`
    shown : ``Out``
        The core's trace.
    """

    def __init__(self, config: MachineConfig) -> None:
        from ctm.sim.compiled.uncore import SimulatedCore

        self._core = SimulatedCore(config)
        super().__init__({**self._core.signature.members, "shown": Out(trace_layout(config).size)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        own: Any = self
        m.submodules.core = self._core
        forward(m, self, self._core, self._core.signature.members)
        core: Any = self._core.core.core
        m.d.comb += own.shown.eq(Value.cast(core.trace))
        return m


def _core(config: MachineConfig) -> Model:
    # Imported here, because a start with a model that is in the cache should not wait for it.
    from ctm.sim.compiled.gated import gated

    return Model(CORE, gated(TracedCore(config), CORE))


def _declarations(config: MachineConfig) -> str:
    """Where the events and the fields that tell wavefronts apart lie in the port of a core."""
    layout, array = trace_layout(config), config.array
    kinds = [str(name) for name, _ in layout]
    events = [f"{{{field.offset + field.shape['valid'].offset}, {field.offset}, {field.width}}}" for _, field in layout]
    begin, slot = _BEGIN[array.instruction_set], _SLOT[array.instruction_set]

    def field(event: str, *path: str) -> str:
        found, offset = layout[event], layout[event].offset
        for name in path:
            found = found.shape[name]
            offset += found.offset
        return f"{{{offset}, {found.width}}}"

    stage = field(begin, "stage") if config.pipeline.draws else "{0, 0}"
    return f"""
#include <array>
struct Event {{ unsigned valid, offset, width; }};
struct Field {{ unsigned offset, width; }};
constexpr std::array<Event, {len(events)}> EVENTS = {{{{{", ".join(events)}}}}};
constexpr unsigned SHOWN = {layout.size}, BEGIN = {kinds.index(begin)}, END = {kinds.index("end")};
constexpr Field BEGIN_SLOT = {field(begin, slot)}, END_SLOT = {field("end", slot)};
constexpr Field BEGIN_I = {field(begin, "wavefront", "i")}, BEGIN_J = {field(begin, "wavefront", "j")};
constexpr Field BEGIN_STAGE = {stage};
"""


def library(config: MachineConfig, made_from: str = "", tell: Notice = lambda: None) -> Path:
    """The compiled model; `made_from` stands for what is not in the project's own sources."""
    config = hardware(config)
    own = resources.files("ctm.sim.engines").joinpath("tracing")
    wrapper = (
        '#include "models.h"',
        _declarations(config),
        *(
            resources.files("ctm.sim.engines").joinpath(name).read_text()
            for name in ("unwatched.h", "verilated.h", "verilated_core.h")
        ),
        own.joinpath("trace.cc").read_text(),
        host(config.memory),
        own.joinpath("calls.cc").read_text(),
    )
    # What is not in the sources is in this process alone.
    is_here, models = bool(made_from), traced_models(config, made_from)
    return build_separately(models, "\n".join(wrapper), standard=standard(config), tell=tell, is_here=is_here)


def traced_models(config: MachineConfig, made_from: str = "") -> tuple[Separate, Separate]:
    """The two models of `library`: the uncore, which is any machine's, and a core with its events as an output."""
    config = hardware(config)
    own = core_config(config)
    traced = Separate(CORE, f"traced core {made_from} {sources()} {own}", partial(_core, own))
    return uncore(config, top=TOP, made_from=made_from), traced


class Complete(Exception):  # noqa: N818
    """The wavefront that was wanted has left its wave slot: nothing more is kept, so the machine stops."""


class TracedMachine(CompiledMachine):
    """A compiled machine that gives away its events: all, or those of one core while it has one wavefront."""

    def __init__(self, library: Path, config: MachineConfig, memory: Memory, disturbance: Disturbance) -> None:
        super().__init__(library, config, memory, disturbance)
        self._layout = trace_layout(config)
        self._events = self.library.machine_trace
        self._events.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64)]
        self._events.restype = ctypes.c_void_p
        self.library.machine_discard_trace.argtypes = [ctypes.c_void_p]
        self.library.machine_trace_is_complete.argtypes = [ctypes.c_void_p]
        self.library.machine_trace_is_complete.restype = ctypes.c_bool
        self.library.machine_trace_wavefront.argtypes = [ctypes.c_void_p, *[ctypes.c_uint32] * 4]

    @property
    def begun(self) -> int:
        """The cycle, as events have it, in which the first command buffer was pushed."""
        return 0 if self.origin is None else self.origin + 1

    def want(self, wanted: Wanted) -> None:
        """Keep events only while a wavefront is in its wave slot, those of its core; others come with them."""
        self.library.machine_trace_wavefront(self.handle, wanted.i, wanted.j, wanted.before, wanted.stage.value)

    def run(self, cycles: int) -> bool:
        """See `CompiledMachine.run`; Complete: the wavefront that was wanted has ended."""
        while cycles > 0:
            if super().run(min(cycles, _SLICE)):
                return True
            if self.library.machine_trace_is_complete(self.handle):
                raise Complete
            cycles -= _SLICE
        return False

    def events(self) -> dict[str, Fields]:
        """All events since the last call, by kind: what `decode` makes of them, and their `cycle` and `core`."""
        found = {}
        for kind, (name, field) in enumerate(self._layout):
            count = ctypes.c_uint64()
            address = self._events(self.handle, kind, ctypes.byref(count))
            rows = _words(address, count.value).reshape(-1, _BEFORE + -(-field.width // _WORD_BITS))
            cycle = rows[:, :_CYCLE_WORDS].copy().view(np.uint64)[:, 0]
            fields = decode(field.shape, rows[:, _BEFORE:])
            found[str(name)] = {"cycle": cycle, "core": rows[:, _CYCLE_WORDS], **fields}
        self.library.machine_discard_trace(self.handle)
        return found


class TracedEngine(RtlEngine):
    """`RtlEngine` that keeps events of its cores: the same bits in the same cycles."""

    def __init__(self, config: MachineConfig, *, wanted: Wanted | None = None, **options: Any) -> None:
        self._wanted = wanted
        super().__init__(config, **options)

    def make_machine(self, config: MachineConfig) -> SimulatedMachine:
        """See `CompiledEngine.make_machine`."""
        self.traced = TracedMachine(library(config, tell=self.tell), config, self.memory, self.disturbance)
        if self._wanted is not None:
            self.traced.want(self._wanted)
        return self.traced


def _words(address: int | None, count: int) -> Words:
    """A copy of words in the compiled code's memory."""
    if not count or not address:
        return np.zeros(0, np.uint32)
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32)), (count,)).copy()
