"""What the buffers of a launch hold so far, as colours and as characters."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.images.elements import CONDITIONAL, buffer_names
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read
from ctm.sim.golden.r700.draws.threads import ThreadLaunch
from ctm.sim.memory import Memory

_SHADES, _MARK = " .:-=*#%@", "+"

Colours = npt.NDArray[np.uint8]


def pictured(launch: Launch[Any]) -> list[str]:
    """The images of a launch: outputs that it writes, and then what it reads and its conditional buffer.

    What threads of a draw export for vertices is none, and they have no conditional test.
    """
    program, is_of_threads = launch.program, isinstance(launch, ThreadLaunch)
    written = set(program.uncached_outputs if is_of_threads else (*program.outputs, *program.uncached_outputs))
    read_from = {*program.cached_inputs, *program.uncached_inputs}
    names = [f"o{number}" for number in sorted(written)] + [f"i{number}" for number in sorted(read_from)]
    names += [] if is_of_threads else [CONDITIONAL]
    known = buffer_names(launch)
    return [name for name in names if name in known]


def shades(colours: Colours, marked: tuple[int, int] | None = None) -> list[str]:
    """Rows of characters, darker ones for less; the element at (column, row) is a cross."""
    steps = colours.mean(axis=2) * (len(_SHADES) - 1) / 255
    rows = [[_SHADES[round(step)] for step in row] for row in steps.tolist()]
    if marked is not None:
        rows[marked[1]][marked[0]] = _MARK
    return ["".join(row) for row in rows]


def picture(memory: Memory, buffer: Buffer, i: range, j: range) -> Colours:
    """Elements (i, j) of a buffer, [len(j), len(i), 3]; what is beyond it is black.

    Floats from 0 to 1 are shades. If there are others among them, the range that these elements have is stretched.
    """
    found = np.zeros((len(j), len(i), 3), np.uint8)
    columns, rows = (
        np.array([each for each in axis if 0 <= each < limit], np.int64)
        for axis, limit in ((i, buffer.width_limit), (j, buffer.height_limit))
    )
    if not columns.size or not rows.size:
        return found
    x, y = (axis.ravel() for axis in np.meshgrid(columns, rows))
    values = read(memory, buffer, x, y)[: min(buffer.element.channels, 3)].astype(np.float64)
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    if low < 0 or high > 1:
        values = (values - low) / ((high - low) or 1.0)
    grays = np.rint(255 * np.clip(np.nan_to_num(values, posinf=1.0, neginf=0.0), 0, 1)).astype(np.uint8)
    # One channel is gray, two are red and green.
    channels = {1: grays[[0, 0, 0]]}.get(len(grays), np.pad(grays, ((0, 3 - len(grays)), (0, 0))))
    top, left = int(rows[0]) - j.start, int(columns[0]) - i.start
    found[top : top + rows.size, left : left + columns.size] = channels.T.reshape(rows.size, columns.size, 3)
    return found
