"""A compiled cache between clients and a memory of lines."""

import ctypes
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from amaranth.lib import wiring

from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered, port_name
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import Port, ports
from ctm.sim.memory import Memory
from ctm.tb.lib.unit_loop import wrapper

_TOP = "cache"
_STALL_ONE = 1 << 16
_SINGLES = ("invalidate", "idle", "hit", "miss")


class ProtocolError(AssertionError):
    """The cache broke a rule of its streams, or did not finish; the message names the rule and the cycle."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How clients and memory behave, the same for the same seed.

    A line comes `latency` cycles after its request and up to `jitter` more; with a jitter, lines that could come in
    the same cycle come in any order. In each cycle each ready and each new valid is withheld with the probability
    `stall`.
    """

    latency: int = 1
    jitter: int = 0
    stall: float = 0.0
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ClientRun:
    """One client's responses, [n, words] of 32 bits. Cycles of each request and its response, [n]."""

    responses: np.ndarray
    taken: np.ndarray
    offered: np.ndarray
    responded: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class CacheRun:
    """What a run did; `lines` are the requests for lines, in order, `line * 2 + uncached`."""

    clients: list[ClientRun]
    lines: np.ndarray
    hits: int
    misses: int
    most_in_flight: int


class _Client(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("requests", "responses", "taken", "responded", "offered")] + [
        ("count", ctypes.c_uint64)
    ]


_NUMBERS = ("lines_size", "latency", "jitter", "stall", "seed", "max_cycles", "outstanding", "invalidates", "tagged")


class _Setup(ctypes.Structure):
    _fields_ = [
        ("memory", ctypes.c_void_p),
        ("clients", ctypes.POINTER(_Client)),
        ("error_lines", ctypes.c_void_p),
        ("error_lines_count", ctypes.c_uint64),
        ("inputs", ctypes.c_void_p),
        ("inputs_count", ctypes.c_uint64),
        ("lines", ctypes.c_void_p),
        *((name, ctypes.c_uint64) for name in _NUMBERS),
    ]


class _Result(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("failed", "lines", "hits", "misses", "most_in_flight")),
        ("message", ctypes.c_char * 256),
    ]


class CacheSimulation:
    """A compiled cache, reset once: each run begins with the lines that the one before has left.

    The cache has the streams `request` and `response`, or an array of `clients` with both, and one client `lines` or
    an array of them, each with at most `outstanding` lines in flight. With `tagged` its own clients
    ask for lines, too, and get them in any order.
    """

    def __init__(self, cache: wiring.Component, *, outstanding: int, tagged: bool = False) -> None:
        listed = list(ports(cache))
        self._sizes = {port.name: _port_bytes(port.width) for port in listed}
        loop = wrapper(_declarations(listed), "mc", "cache_loop.cc")
        path = build(Model(_TOP, merged(Numbered(cache, listed), _TOP)), loop)
        self._library = ctypes.CDLL(str(path))
        pointer = ctypes.c_void_p
        self._library.cache_make.restype = pointer
        for name in ("free", "reset"):
            getattr(self._library, f"cache_{name}").argtypes = [pointer]
        self._library.cache_run.argtypes = [pointer, pointer, pointer]
        self._outstanding, self._tagged = outstanding, tagged
        self._cache: int = self._library.cache_make()

    def __del__(self) -> None:
        if hasattr(self, "_cache"):
            self._library.cache_free(self._cache)

    def renew(self) -> None:
        """Take a new cache, as it is after power-up."""
        self._library.cache_free(self._cache)
        self._cache = self._library.cache_make()

    def reset(self) -> None:
        """Reset the cache, not its memories."""
        self._library.cache_reset(self._cache)

    def run(
        self,
        memory: Memory,
        requests: Sequence[Sequence[int]],
        *,
        inputs: Sequence[int] = (),
        timing: Timing,
        error_lines: Sequence[tuple[int, int]] = (),
        invalidates: bool = False,
        max_cycles: int = 1 << 22,
    ) -> CacheRun:
        """Send each client's requests, payloads as integers, and wait for all responses.

        `inputs` are what sets them, payloads as well. `error_lines` are ranges of lines [first, end).

        Raises
        ------
        ProtocolError
            The cache broke a rule, or takes more than `max_cycles`.
        """
        if "request__payload" in self._sizes:
            ends = [("request", "response")]
        else:
            ends = [(f"clients__{each}__request", f"clients__{each}__response") for each in range(len(requests))]
        clients, arrays = (_Client * len(requests))(), []
        for number, ((request, response), payloads) in enumerate(zip(ends, requests, strict=True)):
            size = self._sizes[f"{request}__payload"]
            given = np.frombuffer(b"".join(each.to_bytes(size, "little") for each in payloads), np.uint8)
            responses = np.zeros((len(payloads), self._sizes[f"{response}__payload"]), np.uint8)
            cycles = np.zeros((3, len(payloads)), np.uint64)
            arrays.append((given, responses, cycles))
            pointers = (given.ctypes.data, responses.ctypes.data, *(row.ctypes.data for row in cycles), len(payloads))
            clients[number] = _Client(*pointers)
        lines, ranges = np.zeros(1 << 20, np.uint32), np.array(error_lines, np.uint64)
        written = self._sizes.get("written", 0)
        bound = np.frombuffer(b"".join(each.to_bytes(written, "little") for each in inputs), np.uint8)
        setup, result = _Setup(memory.bytes.ctypes.data, clients), _Result()
        setup.error_lines, setup.error_lines_count = ranges.ctypes.data, len(error_lines)
        setup.inputs, setup.inputs_count, setup.lines = bound.ctypes.data, len(inputs), lines.ctypes.data
        setup.lines_size, setup.max_cycles, setup.invalidates = lines.size, max_cycles, invalidates
        setup.latency, setup.jitter, setup.seed = timing.latency, timing.jitter, timing.seed
        setup.stall, setup.outstanding, setup.tagged = round(timing.stall * _STALL_ONE), self._outstanding, self._tagged
        self._library.cache_run(self._cache, ctypes.byref(setup), ctypes.byref(result))
        if result.failed:
            raise ProtocolError(result.message.decode())
        assert result.lines <= lines.size, "the log of lines is too short"
        return CacheRun(
            clients=[
                ClientRun(
                    responses=responses.view(np.uint32), taken=cycles[0], responded=cycles[1], offered=cycles[2]
                )
                for _, responses, cycles in arrays
            ],
            lines=lines[: result.lines],
            hits=int(result.hits),
            misses=int(result.misses),
            most_in_flight=int(result.most_in_flight),
        )  # fmt: skip


def _port_bytes(width: int) -> int:
    """The size of a port's C++ type."""
    return next((size // 8 for size in (8, 16, 32, 64) if width <= size), -(-width // 32) * 4)


def _declarations(listed: list[Port]) -> str:
    """C++ that gives the ports of the cache their names."""
    numbers = {port.name: number for number, port in enumerate(listed)}
    widths = {port.name: port.width for port in listed}

    def address(name: str) -> str:
        return f"&model.{port_name(numbers[name])}" if name in numbers else "nullptr"

    def stream(name: str) -> str:
        ends = ", ".join(address(f"{name}__{end}") for end in ("valid", "ready"))
        payload = f"{name}__payload"
        return f"{{{{{address(payload)}, {_port_bytes(widths[payload])}, {widths[payload]}}}, {ends}}}"

    def streams(name: str, owner: str = "clients") -> str:
        ours = rf"({owner}__(\d+__)?)?{name}__payload" if owner == "clients" else rf"{owner}__(\d+__)?{name}__payload"
        found = [each.removesuffix("__payload") for each in numbers if re.fullmatch(ours, each)]
        return f"{{{', '.join(map(stream, found))}}}"

    written = f"{{{address('written')}, {_port_bytes(widths.get('written', 1))}, {widths.get('written', 1)}}}"
    return f"""#include "verilated.h"
#include "V{_TOP}.h"
namespace {{
using Model = V{_TOP};
struct Ports {{
    std::vector<Stream> requests, responses, line_requests, line_responses;
    Port written;
    std::uint8_t {", ".join("*" + name for name in _SINGLES)};
}};
Ports ports(Model& model) {{
    return {{
        {streams("request")}, {streams("response")}, {streams("request", "lines")},
        {streams("response", "lines")}, {written},
        {", ".join(address(name) for name in _SINGLES)}
    }};
}}
}}
"""
