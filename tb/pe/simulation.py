"""A compiled command processor, and a model of all that is around it."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from amaranth.lib import data, wiring

from ctm.rtl.border.commands import BUS_FAULT, COMMAND_BUFFER, ERROR, UNIT_COMMAND, counters_write_layout
from ctm.rtl.border.conditional import wavefront_test_layout
from ctm.rtl.border.lines import LINE_REQUEST, LINE_RESPONSE
from ctm.rtl.border.programs import image_layout, program_fault_layout, wavefront_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT, PROGRAM_INFORMATION
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.processor import CommandProcessor
from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered, port_name
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import Port, ports
from ctm.sim.memory import Memory
from ctm.tb.lib.unit_loop import wrapper

_TOP = "pe"
_SOURCES = ("streams", "surroundings", "loop")
"""Of the C++, in order."""
_STALL_ONE = 1 << 16
_EVENTS = 1 << 22
_STREAMS = {
    "buffer": "host__buffer", "error": "host__error", "line_request": "memory__lines__request",
    "line_response": "memory__lines__response", "counters_write": "memory__counters__write",
    "counters_written": "memory__counters__written", "mc_command": "memory__command", "co_command": "co_command",
    "test_request": "tester__request", "test_response": "tester__response", "wavefront": "wavefront",
    "fault": "array__fault",
}  # fmt: skip
"""Streams of the processor, by the names that the C++ has for them."""
_WIDE = {
    "image": "launch__image", "lost_fault": "memory__lost__fault", "read_error_address": "memory__read_errors__address",
}  # fmt: skip
_SINGLES = {
    "std::uint8_t": {
        "consumed": "host__consumed", "idle": "host__idle", "mc_idle": "memory__idle", "lost": "memory__lost__valid",
        "lost_taken": "memory__lost__taken", "program_starts": "memory__read_errors__watch",
        "image_loaded": "image_loaded", "launch_status": "launch__status", "conditional_legal": "conditional_legal",
        "tests": "tests", "array_idle": "array__idle", "walked": "walked",
    },
    "std::uint32_t": {"conditional_value": "launch__conditional_value"},
}  # fmt: skip
"""Likewise what is no stream: wide ports, and others by their C++ type."""
KINDS = (
    "buffer", "unit", "starts", "wavefront", "error", "consumed", "counters", "image", "fault", "walked",
)  # fmt: skip
"""Events, in the order of their numbers."""

Event = tuple[str, tuple[Any, ...]]
"""A kind and its values, which are numbers; the reference has an image's contents instead."""


class ProtocolError(AssertionError):
    """The processor broke a rule of its border, or did not finish; the message names the rule."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How long everything takes, the same for the same seed.

    A line comes `latency` cycles after its request and up to `jitter` more. The array holds a wavefront, and the
    memory controller works after the last one, for up to `hold` cycles; units and tests take up to `delay`. In each
    cycle each ready and each new buffer is withheld with the probability `stall`.
    """

    latency: int = 1
    jitter: int = 0
    hold: int = 0
    delay: int = 0
    stall: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Wavefront number `wavefront` of started program number `program`, both from 0 on, faults when it ends."""

    program: int
    wavefront: int
    status: int
    client: int
    pc: int
    i: int
    j: int
    address: int


@dataclass(frozen=True, kw_only=True)
class Loss:
    """Memory has an error for a write of started program number `number`, or, `at_flush`, of that flush."""

    at_flush: bool
    number: int
    client: int
    address: int


@dataclass(frozen=True, kw_only=True)
class Work:
    """What the processor has to do: buffers (address, dwords), lines with an error [first, end), what goes wrong."""

    memory: Memory
    buffers: Sequence[tuple[int, int]]
    error_lines: Sequence[tuple[int, int]] = ()
    faults: Sequence[Fault] = ()
    losses: Sequence[Loss] = ()
    salt: int = 0
    """Decides, with the pair and the conditional value, which conditional tests pass."""


_NUMBERS = ("events_size", "latency", "jitter", "stall", "hold", "delay", "seed", "salt", "max_cycles", "cut")


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", ctypes.c_void_p),
        *(
            field
            for name in ("error_lines", "buffers", "faults", "losses")
            for field in ((name, ctypes.c_void_p), (f"{name}_count", ctypes.c_uint64))
        ),
        ("events", ctypes.c_void_p),
        *((name, ctypes.c_uint64) for name in _NUMBERS),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("failed", "events", "cycles", "most_lines", "busy")),
        ("message", ctypes.c_char * 256),
    ]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What happened, in order, and in which cycles."""

    events: list[Event]
    times: list[int]
    cycles: int
    most_lines: int
    """Most lines that were in flight."""
    busy: int
    """Cycles in which the array was not idle or was offered a wavefront."""

    def times_of(self, kind: str) -> list[int]:
        """The cycles of the events of a kind."""
        return [time for time, event in zip(self.times, self.events, strict=True) if event[0] == kind]

    def values_of(self, kind: str) -> list[tuple[int, ...]]:
        """What the events of a kind say."""
        return [values for name, values in self.events if name == kind]


class ProcessorSimulation:
    """A compiled command processor. Each run begins with a reset."""

    def __init__(self, config: ArrayConfig, processor: wiring.Component | None = None) -> None:
        component = CommandProcessor(config, PROGRAM_FORMAT) if processor is None else processor
        listed = list(ports(component))
        loop = wrapper(_declarations(config, listed), "pe", *(f"processor_{source}.cc" for source in _SOURCES))
        path = build(Model(_TOP, merged(Numbered(component, listed), _TOP)), loop)
        self.array, self.lanes = config, config.lanes
        self._library = ctypes.CDLL(str(path))
        pointer = ctypes.c_void_p
        self._library.pe_make.restype = pointer
        for name in ("free", "reset"):
            getattr(self._library, f"pe_{name}").argtypes = [pointer]
        self._library.pe_run.argtypes = [pointer, pointer, pointer]
        self._events = np.zeros(_EVENTS, np.uint32)
        self._processor: int = self._library.pe_make()

    def __del__(self) -> None:
        if hasattr(self, "_processor"):
            self._library.pe_free(self._processor)

    def run(self, work: Work, timing: Timing, *, cut: int = 0, max_cycles: int = 1 << 21) -> Outcome:
        """Reset the processor and let it execute all buffers; with `cut`, stop in the middle after so many cycles.

        Raises
        ------
        ProtocolError
            The processor broke a rule, or takes more than `max_cycles`.
        """
        self._library.pe_reset(self._processor)
        setup, result, kept = _Setup(memory=work.memory.bytes.ctypes.data), _Result(), []
        rows = {
            "error_lines": work.error_lines,
            "buffers": work.buffers,
            "faults": [tuple(vars(each).values()) for each in work.faults],
            "losses": [tuple(vars(each).values()) for each in work.losses],
        }
        for name, values in rows.items():
            kept.append(np.array(values, np.uint64))
            setattr(setup, name, kept[-1].ctypes.data)
            setattr(setup, f"{name}_count", len(values))
        setup.events, setup.events_size = self._events.ctypes.data, self._events.size
        setup.latency, setup.jitter, setup.hold, setup.delay = timing.latency, timing.jitter, timing.hold, timing.delay
        setup.stall, setup.seed, setup.salt = round(timing.stall * _STALL_ONE), timing.seed, work.salt
        setup.max_cycles, setup.cut = max_cycles, cut
        self._library.pe_run(self._processor, ctypes.byref(setup), ctypes.byref(result))
        if result.failed:
            raise ProtocolError(result.message.decode())
        events, times = _events(self._events[: result.events].tolist())
        numbers = {name: int(getattr(result, name)) for name in ("cycles", "most_lines", "busy")}
        return Outcome(events=events, times=times, **numbers)


def _events(words: list[int]) -> tuple[list[Event], list[int]]:
    """Events and their cycles."""
    events, times, at = [], [], 0
    while at < len(words):
        kind, time, count = words[at : at + 3]
        events.append((KINDS[kind], tuple(words[at + 3 : at + 3 + count])))
        times.append(time)
        at += 3 + count
    return events, times


def _port_bytes(width: int) -> int:
    """The size of a port's C++ type."""
    return next((size // 8 for size in (8, 16, 32, 64) if width <= size), -(-width // 32) * 4)


def _layouts(lanes: int) -> dict[str, data.StructLayout]:
    return {
        "buffer": COMMAND_BUFFER,
        "unit": UNIT_COMMAND,
        "image": image_layout(PROGRAM_FORMAT),
        "counters": counters_write_layout(),
        "fault": program_fault_layout(PROGRAM_FORMAT),
        "lost_fault": BUS_FAULT,
        "error": ERROR,
        "wavefront": wavefront_layout(lanes),
        "request": LINE_REQUEST,
        "line": LINE_RESPONSE,
        "test": wavefront_test_layout(lanes),
        "response": data.StructLayout({"passed": lanes}),
    }


def _declarations(config: ArrayConfig, listed: list[Port]) -> str:
    """C++ that gives the ports, fields and codes their names."""
    numbers = {port.name: number for number, port in enumerate(listed)}
    widths = {port.name: port.width for port in listed}

    def address(name: str) -> str:
        return f"&model.{port_name(numbers[name])}" if name in numbers else "nullptr"

    def port(name: str) -> str:
        return f"{{{address(name)}, {_port_bytes(widths[name])}, {widths[name]}}}"

    def stream(name: str) -> str:
        return f"{{{port(f'{name}__payload')}, {address(f'{name}__valid')}, {address(f'{name}__ready')}}}"

    singles = [name for names in _SINGLES.values() for name in names.values()]
    fields = "\n".join(
        f"constexpr Field {prefix}_{name}{{{field.offset}, {field.width}}};"
        for prefix, layout in _layouts(config.lanes).items()
        for name, field in layout
    )
    return f"""#include "verilated.h"
#include "V{_TOP}.h"
namespace {{
using Model = V{_TOP};
struct Field {{ unsigned offset, width; }};
struct Ports {{
    Stream {", ".join(_STREAMS)};
    Port {", ".join(_WIDE)};
    {" ".join(f"{kind} {', '.join('*' + name for name in names)};" for kind, names in _SINGLES.items())}
}};
Ports ports(Model& model) {{
    return {{
        {", ".join(map(stream, _STREAMS.values()))},
        {", ".join(map(port, _WIDE.values()))},
        {", ".join(map(address, singles))}
    }};
}}
constexpr unsigned LANES = {config.lanes}, UMRT_WORD = {list(PROGRAM_INFORMATION).index("UMRT")};
constexpr unsigned BUS_ERROR_STATUS = {Status.BUS_ERROR.value}, BAD_UMRT_STATUS = {Status.BAD_UMRT_FORMAT.value};
constexpr unsigned FLOAT32_1_FORMAT = {DataFormat.FLOAT32_1.value};
{fields}
}}
"""
