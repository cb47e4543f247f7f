"""Loading of a job that is run in tiles: its arrays stay where they are."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.jobs.arrays import check_name, filled
from ctm.sim.jobs.loading import LoadedJob, Loader
from ctm.sim.jobs.schema import Input, Output
from ctm.sim.runtime.layout import Layout
from ctm.sim.split.planes import is_store, open_plane

LARGEST = 1 << 24
"""The longest side of a domain: up to it a float32 holds every coordinate exactly."""


class SplitLoader(Loader):
    """Loads a job whose arrays are planes, with sides up to `LARGEST`; names may end in .zarr, too.

    Layouts are those of one machine: a side beyond 4,096 is cut off there.
    """

    limit = LARGEST

    def _input(self, number: int, section: Input) -> tuple[Input, Layout, Any]:
        key = ("inputs", number, "file")
        plane = self._at(key, partial(open_plane, self._folder / section.file, section.format, LARGEST))
        return section, self._layout(("inputs", number), section, _cut(plane.shape)), plane

    def _output(self, number: int, section: Output) -> tuple[Output, Layout, Any]:
        layout = self._layout(("outputs", number), section, _cut(section.shape))
        path = self._files[section.index]
        if not is_store(path):
            self._at(("outputs", number, "file"), partial(check_name, path, section.format))
        if section.initial is not None:
            load = partial(open_plane, self._folder / section.initial, section.format, LARGEST, section.shape)
            return section, layout, self._at(("outputs", number, "initial"), load)
        make_filled = partial(filled, section.format, (1, 1), section.fill or 0.0)
        one = self._at(("outputs", number, "fill"), make_filled)
        return section, layout, np.broadcast_to(one, (*section.shape, one.shape[2]))


def _cut(shape: tuple[int, ...]) -> tuple[int, int]:
    height, width = (min(side, COORDINATE_LIMIT) for side in shape[:2])
    return height, width


def load_split_job(path: Path, target: Path | None = None) -> LoadedJob:
    """Load a job file for a split run, with planes for arrays; outputs and errors as `load_job`."""
    return SplitLoader(path, target).load()
