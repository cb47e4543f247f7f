"""What is seen of programs while they run: how often each instruction is issued, and what wavefronts wait for."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.watch import Wait

ROW = np.dtype(
    [(name, "<u8") for name in ("executable", "pc", "port", "issues", "active", "working", "present")]
    + [(name, "<u8") for name in ("hits", "misses", "shared_hits", "shared_misses")]
    + [("waited", "<u8", (len(Wait),))]
)
"""An instruction of an executable: its unit of code and issue port; wavefronts that issued it; their lanes that were
active, that were active and also covered and valid, and that were covered and valid; accesses of its fetches to the
first level of the input cache that hit and that missed, and those of these misses to the second level; cycles that
wavefronts waited to issue it, by `Wait`, for the last one of a wavefront also those after it. Without cycles there are
no port, accesses and waits.
"""
RESIDENCY = np.dtype([(name, "<u8") for name in ("executable", "cycles", "occupied", "exposed")])
"""Of an executable on a core: cycles in which it has wavefronts; its wave slots that have one, summed up over these; of
these cycles those in which all of them wait for results or fetches, and the core does nothing else: no unit is still
taking an instruction, and no fetch is in flight to the input cache.
"""
EVENT = np.dtype(
    [("cycle", "<u8"), ("executable", "<u4"), ("pc", "<u4"), ("second", "<u4"), ("core", "<u2"), ("slot", "<u2"),
     ("lanes", "<u2"), ("kind", "u1"), ("what", "u1"), ("reserved", "<u4")]
)  # fmt: skip
"""TAKEN: a wavefront takes a wave slot; `pc` and `second` are i and j of its first lane, `lanes` are covered.

ISSUED: an instruction of port `what`; `lanes` of the `second` lanes that are covered and valid are active. WAITS_FOR:
from now on the wave slot waits for `what`, a `Wait`. MISSED: a fetch of the instruction missed a line.
"""
TAKEN, ISSUED, WAITS_FOR, MISSED = range(4)
WINDOW = np.dtype([("read", "<u8", (5,)), ("written", "<u8", (5,))])
"""Beats that each memory port moved in `WINDOW_CYCLES` cycles."""
WINDOW_CYCLES = 64


@dataclass(frozen=True, kw_only=True)
class Watching:
    """What an engine is to keep beside counts: so many events of each core."""

    most_events: int = 0


NOT_WATCHED = "nothing was watched: make the device with watch=Watching()"


@dataclass(frozen=True)
class Track:
    """What has the number `core` in events: its name, and that of its wavefronts, of their `i` and `j`."""

    name: str
    wavefront: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """What was seen since the engine was made; of all cores, events in the order of their cycles."""

    rows: npt.NDArray[Any]
    residencies: npt.NDArray[Any]
    events: npt.NDArray[Any]
    lost_events: int
    traffic: npt.NDArray[Any]
    bytes_per_cycle: int
    """That fetches may get from memory: of its local ports, all together; 0 where there are no cycles."""
    array: ArrayConfig
    """The array of which it is."""
    tracks: tuple[Track, ...]
    has_times: bool
    """Whether events have the cycles of the hardware; else steps, see `ctm.sim.engines.watching.steps`."""
