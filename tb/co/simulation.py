"""The compiled conditional unit and its cache with clients, a host and a memory of lines."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from amaranth.lib import wiring

from ctm.rtl.border.commands import UNIT_COMMAND
from ctm.rtl.isa.commands import BY_NAME
from ctm.rtl.isa.word import pack
from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered, port_name
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import Port, ports
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.memory import Memory
from ctm.tb.lib.unit_loop import wrapper
from ctm.tb.mc.buffers import buffer_bits
from ctm.tb.mc.cache_simulation import ProtocolError, Timing

_TOP = "conditional"
_STALL_ONE = 1 << 16
_STREAMS = {
    "command": "command", "line_request": "lines__request", "line_response": "lines__response",
    "line_write": "line_write", "line_written": "line_written",
}  # fmt: skip
"""Streams of the unit, by their names in the C++."""
_BUFFER = "target__buffer"
_SINGLES = {"writes_enabled": "target__writes_enabled"} | {
    name: name
    for name in (
        "format_legal", "tests_pe", "tests_dpp", "invalidate", "flush", "flushed", "unit_idle", "idle", "hit", "miss",
    )
}  # fmt: skip
"""Likewise its other ports."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientRun:
    """One client's responses: masks of the lanes that passed, [n]. Cycles of each request and its response, [n]."""

    passed: np.ndarray
    taken: np.ndarray
    """The request is transferred."""
    offered: np.ndarray
    """The response is first valid."""
    responded: np.ndarray
    """The response is transferred."""


@dataclass(frozen=True, kw_only=True, eq=False)
class UnitRun:
    """The results of a run: lines read, lines written and their byte masks, and addresses whose access was lost."""

    clients: list[ClientRun]
    reads: np.ndarray
    writes: np.ndarray
    masks: np.ndarray
    lost: np.ndarray
    hits: int
    misses: int
    cycles: int
    commanded: int
    """Cycle in which the last command was taken."""
    format_legal: bool
    tests: tuple[bool, bool]
    """Of the PE and of the DPP array."""


class _Client(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("requests", "responses", "taken", "responded", "offered")] + [
        ("count", ctypes.c_uint64)
    ]


_POINTERS = ("commands", "error_lines", "buffer", "reads", "writes", "masks", "lost")
_NUMBERS = (
    "commands_count", "error_lines_count", "log_size", "writes_enabled", "latency", "jitter", "stall", "seed",
    "max_cycles", "outstanding", "invalidates", "flushes", "flush_period", "stop", "holds", "held", "commands_from",
)  # fmt: skip
_COUNTS = ("failed", "reads", "writes", "lost", "hits", "misses", "cycles", "flags", "commanded")


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", ctypes.c_void_p),
        ("clients", ctypes.POINTER(_Client)),
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *((name, ctypes.c_uint64) for name in _NUMBERS),
    ]


class _Result(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_uint64) for name in _COUNTS), ("message", ctypes.c_char * 256)]


@dataclass(frozen=True, kw_only=True, eq=False)
class _ClientArrays:
    """What the C++ reads and writes for one client; the arrays must live until the run has ended."""

    requests: np.ndarray
    """Payloads as bytes, one after another."""
    responses: np.ndarray
    """Payloads as bytes, [n, bytes]."""
    cycles: np.ndarray
    """Cycles [3, n] in which a request is taken, and its response is taken and first offered."""

    @property
    def structure(self) -> _Client:
        """The arrays' addresses, and the number of requests."""
        rows = (row.ctypes.data for row in self.cycles)
        return _Client(self.requests.ctypes.data, self.responses.ctypes.data, *rows, len(self.responses))

    @property
    def run(self) -> ClientRun:
        """The run of the client, once it has ended."""
        taken, responded, offered = self.cycles
        return ClientRun(passed=self.responses[:, 0], taken=taken, responded=responded, offered=offered)


def _setup(
    memory: Memory, clients: Sequence[_ClientArrays], arrays: Sequence[np.ndarray], numbers: Sequence[int]
) -> _Setup:
    """The C++'s setup: addresses of `arrays` in the order of `_POINTERS`, and `numbers` in that of `_NUMBERS`."""
    setup = _Setup(memory.bytes.ctypes.data, (_Client * len(clients))(*(client.structure for client in clients)))
    for name, array in zip(_POINTERS, arrays, strict=True):
        setattr(setup, name, array.ctypes.data)
    for name, number in zip(_NUMBERS, numbers, strict=True):
        setattr(setup, name, int(number))
    return setup


def _unit_run(result: _Result, clients: Sequence[_ClientArrays], logs: np.ndarray) -> UnitRun:
    """The run of a result: `logs` has rows of read lines, written lines, their masks, and lost addresses."""
    lengths = [result.reads, result.writes, result.writes, result.lost]
    assert max(lengths) <= logs.shape[1], "a log is too short"
    reads, writes, masks, lost = (log[:length] for log, length in zip(logs, lengths, strict=True))
    return UnitRun(
        clients=[client.run for client in clients], reads=reads, writes=writes, masks=masks, lost=lost,
        hits=int(result.hits), misses=int(result.misses), cycles=int(result.cycles), commanded=int(result.commanded),
        format_legal=bool(result.flags & 1), tests=(bool(result.flags & 2), bool(result.flags & 4)),
    )  # fmt: skip


class UnitSimulation:
    """A compiled unit with its cache, reset once: each run begins in the state in which the last one ended."""

    def __init__(self, unit: wiring.Component, *, outstanding: int) -> None:
        listed = list(ports(unit))
        self._sizes = {port.name: _port_bytes(port.width) for port in listed}
        loop = wrapper(_declarations(listed), "co", "conditional_loop.cc")
        path = build(Model(_TOP, merged(Numbered(unit, listed), _TOP)), loop)
        self._library = ctypes.CDLL(str(path))
        pointer = ctypes.c_void_p
        self._library.unit_make.restype = pointer
        for name in ("free", "reset"):
            getattr(self._library, f"unit_{name}").argtypes = [pointer]
        self._library.unit_run.argtypes = [pointer, pointer, pointer]
        self._outstanding = outstanding
        self._unit: int = self._library.unit_make()

    def __del__(self) -> None:
        if hasattr(self, "_unit"):
            self._library.unit_free(self._unit)

    def renew(self) -> None:
        """Replace the unit by a new one, in its state after power-up."""
        self._library.unit_free(self._unit)
        self._unit = self._library.unit_make()

    def reset(self) -> None:
        """Reset the unit, but not its memories."""
        self._library.unit_reset(self._unit)

    def run(
        self,
        memory: Memory,
        requests: Sequence[Sequence[int]],
        unit: ConditionalUnit,
        *,
        timing: Timing,
        commands: bool = True,
        error_lines: Sequence[tuple[int, int]] = (),
        invalidates: bool = False,
        flushes: bool = False,
        flush_period: int = 0,
        stop: int = 0,
        holds: int = 0,
        held: int = 0b11,
        commands_from: int = 0,
        max_cycles: int = 1 << 22,
    ) -> UnitRun:
        """Give the commands that make the state of `unit`, send each client's requests, and wait for all responses.

        The commands come before the first request, or are offered from the cycle `commands_from` on. Without
        `commands` test and location stay as they are. `error_lines` are ranges of lines [first, end). With `flushes`
        the cache is flushed after the last response, with `flush_period` also every so many cycles. `stop` is the cycle
        in which the run ends, whatever is in flight; 0: none. Before the cycle `holds` the clients of the mask `held`
        take no response.

        Raises
        ------
        ProtocolError
            The unit broke a rule, or takes more than `max_cycles`.
        """
        clients = [self._client(number, payloads) for number, payloads in enumerate(requests)]
        words = [("set_cond_test", unit.test.value), ("set_cond_loc", unit.location.value)] if commands else []
        given = self._payloads(
            "command__payload", [pack(UNIT_COMMAND, opcode=BY_NAME[name].opcode, words=word) for name, word in words]
        )
        ranges, buffer = np.array(error_lines, np.uint64), self._payloads(_BUFFER, [buffer_bits(unit.buffer)])
        logs = np.zeros((4, 1 << 18), np.uint64)
        setup = _setup(
            memory, clients, (given, ranges, buffer, *logs),
            (
                len(words), len(error_lines), logs.shape[1], unit.write_enabled, timing.latency, timing.jitter,
                round(timing.stall * _STALL_ONE), timing.seed, max_cycles, self._outstanding, invalidates, flushes,
                flush_period, stop, holds, held, commands_from,
            ),
        )  # fmt: skip
        result = _Result()
        self._library.unit_run(self._unit, ctypes.byref(setup), ctypes.byref(result))
        if result.failed:
            raise ProtocolError(result.message.decode())
        return _unit_run(result, clients, logs)

    def _client(self, number: int, payloads: Sequence[int]) -> "_ClientArrays":
        port = f"clients__{number}"
        return _ClientArrays(
            requests=self._payloads(f"{port}__request__payload", payloads),
            responses=np.zeros((len(payloads), self._sizes[f"{port}__response__payload"]), np.uint8),
            cycles=np.zeros((3, len(payloads)), np.uint64),
        )

    def _payloads(self, port: str, payloads: Sequence[int]) -> np.ndarray:
        size = self._sizes[port]
        return np.frombuffer(b"".join(each.to_bytes(size, "little") for each in payloads), np.uint8)


def _port_bytes(width: int) -> int:
    """Bytes of a port's C++ type."""
    return next((size // 8 for size in (8, 16, 32, 64) if width <= size), -(-width // 32) * 4)


def _declarations(listed: list[Port]) -> str:
    """C++ that gives the ports their names."""
    numbers = {port.name: number for number, port in enumerate(listed)}
    widths = {port.name: port.width for port in listed}

    def address(name: str) -> str:
        return f"&model.{port_name(numbers[name])}" if name in numbers else "nullptr"

    def stream(name: str) -> str:
        payload = name if name in numbers else f"{name}__payload"
        ends = ", ".join(address(f"{name}__{end}") for end in ("valid", "ready"))
        return f"{{{{{address(payload)}, {_port_bytes(widths[payload])}, {widths[payload]}}}, {ends}}}"

    def pair(name: str) -> str:
        return f"{{{stream(f'clients__0__{name}')}, {stream(f'clients__1__{name}')}}}"

    return f"""#include "verilated.h"
#include "V{_TOP}.h"
namespace {{
using Model = V{_TOP};
struct Ports {{
    std::vector<Stream> requests, responses;
    Stream {", ".join(_STREAMS)}, buffer;
    const void* lost;
    std::uint8_t {", ".join("*" + name for name in _SINGLES)};
}};
Ports ports(Model& model) {{
    return {{
        {pair("request")}, {pair("response")}, {", ".join(map(stream, _STREAMS.values()))}, {stream(_BUFFER)},
        {address("lost")}, {", ".join(map(address, _SINGLES.values()))}
    }};
}}
}}
"""
