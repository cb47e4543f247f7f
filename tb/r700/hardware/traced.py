"""The machine compiled with what its cores show of their work."""

import ctypes
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow, Out

from ctm.rtl.config import R700, MachineConfig
from ctm.rtl.dpp.core_module import NAME
from ctm.rtl.lib.clock_gating import ClockGating
from ctm.rtl.r700.trace import trace_layout
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.tools.toolchain import Models, build
from ctm.sim.compiled.uncore import SimulatedCore, Uncore
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil
from ctm.sim.engines.model import TOP, CompiledMachine, Disturbance, hardware, host, key
from ctm.sim.memory import Memory
from ctm.tb.lib.fields import Fields, Words, decode
from ctm.tb.r700.hardware.machine import HardwareEngine

_SOURCE = Path(__file__).parent / "traced.cc"
_BEFORE = 3
"""Words in front of an event's: the cycle in two of them, and the core."""
_CYCLE_WORDS = 2
_WORD_BITS = 32
_CALLS = """
EXPORTED const std::uint32_t* machine_events(void* handle, unsigned kind, std::uint64_t* words) {
    const Words& found = machine(handle)->model.events[kind];
    *words = found.size();
    return found.data();
}
EXPORTED void machine_forget(void* handle) {
    for (Words& words : machine(handle)->model.events) words.clear();
}
"""


class TracedCore(wiring.Component):
    """A `SimulatedCore` with one more output.

    Members
    -------
    as those of `SimulatedCore`
    shown : ``Out``
        The core's trace.
    """

    def __init__(self, config: MachineConfig) -> None:
        self._core = SimulatedCore(config)
        super().__init__({**self._core.signature.members, "shown": Out(trace_layout(config.array).size)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        own: Any = self
        m.submodules.core = self._core
        for name, member in self._core.signature.members.items():
            outer, inner = getattr(self, name), getattr(self._core, name)
            m.d.comb += inner.eq(outer) if member.flow is Flow.In else outer.eq(inner)
        core: Any = self._core.core.core
        m.d.comb += own.shown.eq(Value.cast(core.trace))
        return m


def _library(config: MachineConfig, made_from: str) -> Path:
    """The compiled model; `made_from` stands for what is not in the project's own sources."""
    config = hardware(config)
    layout = trace_layout(config.array)
    events = [f"{{{field.offset + field.shape['valid'].offset}, {field.offset}, {field.width}}}" for _, field in layout]

    def models() -> Models:
        uncore = Uncore(config)
        parts = {TOP: uncore, NAME: TracedCore(config)}
        verilog = {
            name: from_rtlil(merge(convert_to_rtlil(part, top=name, platform=ClockGating()), name))
            for name, part in parts.items()
        }
        return Models(verilog, uncore.border(), "-std=c++20")

    wrapper = (
        '#include "models.h"',
        "#include <array>",
        "struct Event { unsigned valid, offset, width; };",
        f"constexpr std::array<Event, {len(events)}> EVENTS = {{{{{', '.join(events)}}}}};",
        f"constexpr unsigned SHOWN = {layout.size};",
        *(
            resources.files("ctm.sim.engines").joinpath(name).read_text()
            for name in ("unwatched.h", "verilated.h", "verilated_core.h")
        ),
        _SOURCE.read_text(),
        host(config.memory),
        _CALLS,
    )
    return build(models, "\n".join(wrapper), key=f"traced {key(config)} {made_from}")


class TracedMachine(CompiledMachine):
    """A compiled machine that gives away its events."""

    def __init__(self, library: Path, config: MachineConfig, memory: Memory, disturbance: Disturbance) -> None:
        super().__init__(library, config, memory, disturbance)
        self._layout = trace_layout(config.array)
        self._events = self.library.machine_events
        self._events.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint64)]
        self._events.restype = ctypes.c_void_p
        self.library.machine_forget.argtypes = [ctypes.c_void_p]

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
        self.library.machine_forget(self.handle)
        return found


class TracedEngine(HardwareEngine):
    """Engine `rtl` on a traced machine; `made_from` as for a fault that is planted in its sources."""

    def __init__(
        self, config: MachineConfig = R700, disturbance: Disturbance | None = None, *, made_from: str = ""
    ) -> None:
        self._made_from, self.array = made_from, config.array
        super().__init__(config, disturbance)

    def make_machine(self, config: MachineConfig) -> TracedMachine:
        """See `CompiledEngine.make_machine`."""
        self.traced = TracedMachine(_library(config, self._made_from), config, self.memory, self.disturbance)
        return self.traced


def _words(address: int | None, count: int) -> Words:
    """A copy of words in the compiled code's memory."""
    if not count or not address:
        return np.zeros(0, np.uint32)
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32)), (count,)).copy()
