"""A compiled rasterizer with sources of primitives, positions and free records, and sinks of strips and records."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.rtl.border.draws import POSITION_VECTORS, RECORD_ROWS, strip_layout
from ctm.rtl.pa.rasterizer import EVENTS, Rasterizer
from ctm.sim.compiled.fields import decode
from ctm.sim.compiled.gated import merged
from ctm.sim.compiled.numbered import Numbered, port_name
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.compiled.verilog import Port, ports
from ctm.tb.lib.unit_loop import wrapper

_TOP = "rasterizer"
_STALL_ONE = 1 << 16
_WIDE = {
    "state": "state", "primitive": "primitive__payload", "free": "records__free__payload", "words": "positions__words",
    "entry": "positions__entry", "vector": "positions__vector", "write": "records__write", "made": "records__made",
    "strip": "strip__payload", "events": "events",
}  # fmt: skip
_SINGLES = {
    "primitive_valid": "primitive__valid", "primitive_ready": "primitive__ready", "free_valid": "records__free__valid",
    "free_ready": "records__free__ready", "strip_valid": "strip__valid", "strip_ready": "strip__ready", "idle": "idle",
}  # fmt: skip
"""Ports of the unit, by the names that the C++ has for them."""
_ARRAYS = ("state", "primitives", "positions", "strips", "shapes", "strip_cycles", "shape_cycles", "counts")
_NUMBERS = (
    "primitives_count", "strips_size", "shapes_size", "records", "source_stall", "sink_stall", "free_stall", "seed",
    "max_cycles", "stop",
)  # fmt: skip


class ProtocolError(AssertionError):
    """The unit broke a rule of its border, or did not finish."""


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How often primitives, the taking of strips, and free records are withheld."""

    source: float = 0.0
    sink: float = 0.0
    free: float = 0.0
    seed: int = 0


IDEAL = Timing()


@dataclass(frozen=True, kw_only=True, eq=False)
class RasterRun:
    """What a run gave, in order."""

    strips: dict[str, Any]
    """Fields of `strip_layout`, each over all strips."""
    strip_cycles: np.ndarray
    records: np.ndarray
    """The number of each shape's record, [n]."""
    rows: np.ndarray
    """Its words, [n, RECORD_ROWS, 4]."""
    shape_cycles: np.ndarray
    """Cycles in which shapes were said to be made."""
    counts: dict[str, int]
    cycles: int


class _Setup(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in _ARRAYS), *((name, ctypes.c_uint64) for name in _NUMBERS)
    ]  # fmt: skip


class _Result(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint64) for name in ("failed", "strips", "shapes", "cycles")),
        ("message", ctypes.c_char * 256),
    ]


class RasterSimulation:
    """A compiled unit, reset once: each run begins with what the one before has left."""

    def __init__(self, *, vertices: int, records: int, lanes: int) -> None:
        self.lanes, self.vertices = lanes, vertices
        self._records, self._layout = records, strip_layout(lanes, vertices, records)
        unit = Rasterizer(vertices=vertices, records=records, lanes=lanes)
        listed = list(ports(unit))
        self._sizes = {port.name: _port_bytes(port.width) for port in listed}
        record = self._layout["constants"].offset + self._layout["constants"].shape["record"].offset
        loop = wrapper(_declarations(listed, record), "pa", "rasterizer_loop.cc")
        path = build(Model(_TOP, merged(Numbered(unit, listed), _TOP)), loop)
        self._library = ctypes.CDLL(str(path))
        self._library.unit_make.restype = ctypes.c_void_p
        self._library.unit_make.argtypes = [ctypes.c_uint64]
        for name in ("free", "reset"):
            getattr(self._library, f"unit_{name}").argtypes = [ctypes.c_void_p]
        self._library.unit_run.argtypes = [ctypes.c_void_p] * 3
        self._unit: int = self._library.unit_make(records)

    def __del__(self) -> None:
        if hasattr(self, "_unit"):
            self._library.unit_free(self._unit)

    def renew(self) -> None:
        """Take a new one, as it is after its reset."""
        self._library.unit_free(self._unit)
        self._unit = self._library.unit_make(self._records)

    def reset(self) -> None:
        """Reset it; memories and registers without a reset stay as they are."""
        self._library.unit_reset(self._unit)

    def run(
        self, state: int, primitives: list[int], positions: np.ndarray, *, strips: int, shapes: int,
        timing: Timing = IDEAL, max_cycles: int = 1 << 22, stop: int = 0,
    ) -> RasterRun:  # fmt: skip
        """Give packed primitives of vertices whose vectors are `positions` [vertices, 4, 4], until the unit is idle.

        At most `strips` strips and `shapes` shapes may come of them. With `stop` it leaves off in this cycle, and the
        unit must be reset.

        Raises
        ------
        ProtocolError
            The unit broke a rule, gives more than it may, or takes more than `max_cycles`.
        """
        assert positions.shape == (self.vertices, POSITION_VECTORS, 4) and positions.dtype == np.uint32
        size = self._sizes["strip__payload"]
        arrays = {
            "state": self._bytes("state", [state]),
            "primitives": self._bytes("primitive__payload", primitives),
            "positions": np.ascontiguousarray(positions),
            "strips": np.zeros((strips, size), np.uint8),
            "shapes": np.zeros((shapes, 1 + RECORD_ROWS * 4), np.uint32),
            "strip_cycles": np.zeros(strips, np.uint64),
            "shape_cycles": np.zeros(shapes, np.uint64),
            "counts": np.zeros(len(EVENTS.members), np.uint64),
        }
        setup, result = _Setup(), _Result()
        for name in _ARRAYS:
            setattr(setup, name, arrays[name].ctypes.data)
        stalls = (round(each * _STALL_ONE) for each in (timing.source, timing.sink, timing.free))
        numbers = (len(primitives), strips, shapes, self._records, *stalls, timing.seed, max_cycles, stop)
        for name, number in zip(_NUMBERS, numbers, strict=True):
            setattr(setup, name, number)
        self._library.unit_run(self._unit, ctypes.byref(setup), ctypes.byref(result))
        if result.failed:
            raise ProtocolError(result.message.decode())
        given, made = arrays["strips"][: result.strips], arrays["shapes"][: result.shapes]
        words = np.zeros((result.strips, -(-size // 4)), np.uint32)
        words.view(np.uint8)[:, :size] = given
        return RasterRun(
            strips=decode(self._layout, words), strip_cycles=arrays["strip_cycles"][: result.strips],
            records=made[:, 0], rows=made[:, 1:].reshape(-1, RECORD_ROWS, 4),
            shape_cycles=arrays["shape_cycles"][: result.shapes],
            counts=dict(zip(EVENTS.members, arrays["counts"].tolist(), strict=True)), cycles=int(result.cycles),
        )  # fmt: skip

    def _bytes(self, port: str, payloads: list[int]) -> np.ndarray:
        size = self._sizes[port]
        return np.frombuffer(b"".join(each.to_bytes(size, "little") for each in payloads), np.uint8)


def _port_bytes(width: int) -> int:
    """The size of a port's C++ type."""
    return next((size // 8 for size in (8, 16, 32, 64) if width <= size), -(-width // 32) * 4)


def _declarations(listed: list[Port], record: int) -> str:
    """C++ that gives the ports their names; `record` is the position of the record's number in a strip."""
    numbers = {port.name: number for number, port in enumerate(listed)}
    wide = ", ".join(
        f"{{&model.{port_name(numbers[port])}, {_port_bytes(listed[numbers[port]].width)}, "
        f"{listed[numbers[port]].width}}}"
        for port in _WIDE.values()
    )
    single = ", ".join(f"&model.{port_name(numbers[port])}" for port in _SINGLES.values())
    return f"""#include "verilated.h"
#include "V{_TOP}.h"
namespace {{
using Model = V{_TOP};
struct Ports {{
    Port {", ".join(_WIDE)};
    std::uint8_t {", ".join("*" + name for name in _SINGLES)};
    unsigned strip_record;
}};
Ports ports(Model& model) {{ return {{{wide}, {single}, {record}}}; }}
}}
"""
