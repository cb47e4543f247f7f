"""What the outputs of a launch hold so far, as colours."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.elements import read
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

Colours = npt.NDArray[np.uint8]


def pictured(launch: Launch[Any]) -> list[int]:
    """The outputs that a launch writes, ascending; what threads of a draw export for vertices is none."""
    own = () if isinstance(launch, ThreadLaunch) else launch.program.outputs
    return sorted({*own, *launch.program.uncached_outputs})


def picture(launch: Launch[Any], output: int, i: range, j: range) -> Colours:
    """Elements (i, j) of an output, [len(j), len(i), 3]; what is beyond it is black.

    Floats from 0 to 1 are shades. If there are others among them, the range that these elements have is stretched.
    """
    buffer = launch.outputs[output]
    found = np.zeros((len(j), len(i), 3), np.uint8)
    columns, rows = (
        np.array([each for each in axis if 0 <= each < limit], np.int64)
        for axis, limit in ((i, buffer.width_limit), (j, buffer.height_limit))
    )
    if not columns.size or not rows.size:
        return found
    x, y = (axis.ravel() for axis in np.meshgrid(columns, rows))
    values = read(launch.memory, buffer, x, y)[: min(buffer.element.channels, 3)].astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0 or high > 1:
        values = (values - low) / ((high - low) or 1.0)
    shades = np.rint(255 * np.clip(np.nan_to_num(values, posinf=1.0, neginf=0.0), 0, 1)).astype(np.uint8)
    # One channel is gray, two are red and green.
    channels = {1: shades[[0, 0, 0]]}.get(len(shades), np.pad(shades, ((0, 3 - len(shades)), (0, 0))))
    top, left = int(rows[0]) - j.start, int(columns[0]) - i.start
    found[top : top + rows.size, left : left + columns.size] = channels.T.reshape(rows.size, columns.size, 3)
    return found
