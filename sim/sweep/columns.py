"""The columns of the table of a sweep, in their order, and rows of them."""

import hashlib
import platform
from collections.abc import Callable, Iterable
from typing import Any

from ctm import __version__
from ctm.rtl.config import TEXT_SETTINGS, MachineConfig, settings_of
from ctm.rtl.isa.host import COUNTERS
from ctm.sim.engines.model import hardware
from ctm.sim.sweep.measuring import Record
from ctm.sim.sweep.points import Point, Points
from ctm.sim.sweep.settings import SETTINGS
from ctm.sim.sweep.versions import sources, version_of

TEXT, WHOLE, REAL = "text", "whole", "real"
"""Types of columns: strings, 64-bit integers, 64-bit floats. Every column may have nulls."""
_STALL, _DIGITS = "stall_", 16
_CACHES = ("input", "shared", "conditional")

Row = dict[str, Any]
"""A row by its columns' names."""


def columns_of(sets: Iterable[str]) -> dict[str, str]:
    """Types of all columns by name; `sets` are those of the sweep."""
    counters = [name.lower() for name in COUNTERS]
    stalls = [name.removeprefix(_STALL) for name in counters if name.startswith(_STALL)]
    return {
        "number": WHOLE, "point": TEXT, "configuration": TEXT, "preset": TEXT,
        **{f"sets.{name}": TEXT for name in sets},
        "job": TEXT, "height": WHOLE, "width": WHOLE, "engine": TEXT, "ran": TEXT, "status": TEXT, "reason": TEXT,
        "cycles": WHOLE, "instructions": WHOLE, "lane_instructions": WHOLE, "operations_per_cycle": REAL,
        "bytes_moved": WHOLE, "alu_share": REAL,
        **{f"stall_share.{name}": REAL for name in stalls},
        **{f"hit_rate.{name}": REAL for name in _CACHES},
        "lut4": WHOLE, "host_seconds": REAL,
        **{f"counter.{name}": WHOLE for name in counters},
        **{name: TEXT if name in TEXT_SETTINGS else WHOLE for name in SETTINGS},
        "hardware": TEXT, "program_sha256": TEXT, "job_sha256": TEXT, "outputs_sha256": TEXT,
        "version": TEXT, "sources": TEXT, "python": TEXT, "numpy": TEXT, "verilator": TEXT, "llvmlite": TEXT,
    }  # fmt: skip


def hardware_of(config: MachineConfig) -> str:
    """A hash of the settings of the hardware: points with the same one share a model and an area."""
    return hashlib.sha256(str(hardware(config)).encode()).hexdigest()[:_DIGITS]


def row_of(point: Point, points: Points, record: Record, luts: Callable[[str], int | None]) -> Row:
    """The row of a point with this record; `luts` gives the LUT4 of hardware by `hardware_of`."""
    own = hardware_of(point.config)
    row: Row = dict.fromkeys(columns_of(points.sweep.sets))
    row |= {
        "number": point.number, "configuration": point.configuration, "preset": point.preset,
        **{f"sets.{name}": member for name, member in point.sets.items()},
        "job": point.job, "height": point.size[0], "width": point.size[1], "engine": point.engine,
        **settings_of(point.config),
        "job_sha256": points.digests[point.job, point.size],
        "hardware": own, "lut4": luts(own),
        "version": __version__, "sources": sources(), "python": platform.python_version(),
        **{name: version_of(name) for name in ("numpy", "verilator", "llvmlite")},
    }  # fmt: skip
    return row | {name: value for name, value in record.items() if name in row}
