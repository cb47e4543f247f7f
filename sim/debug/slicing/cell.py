"""Cells: storage locations of words, of a wavefront's state, of constants and of memory."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.dpp.batch import Batch

FRAMES, SHARE = "frames", "share"
FLOATS, INTS, BOOLS = "floats", "ints", "bools"
"""The constant files."""
PRIMITIVE = "primitive"
"""The constants that a wavefront of a draw has of its own."""
MEMORY = "memory"
WORDS, RING, ITEMS = -1, -2, -3
"""Numbers that stand for memory itself, for the ring that a program of a draw reads, and for the one that it writes."""
ALL_LANES = -1
"""The lane of what a wavefront has as a whole, or the machine."""

_DOMAIN = ("i", "j", "covered")
"""What the domain says of lanes, which no instruction makes."""


class Cell(NamedTuple):
    """Where a word is.

    `array` is one of the batch's, by its name, `frames`, a constant file, or `memory`. `index` are all indices but that
    of the lane: of a constant (number, channel), of a primitive's (bank, row, channel), of memory (address, bytes,
    number of the input, or one of those above).
    """

    array: str
    index: tuple[int, ...]  # type: ignore[assignment]  # A tuple has a method of this name.
    lane: int = ALL_LANES

    @property
    def is_state(self) -> bool:
        """Whether it is in the wavefront's state."""
        return self.array not in (FLOATS, INTS, BOOLS, PRIMITIVE, MEMORY)


def array_of(batch: Batch[Any], cell: Cell) -> tuple[npt.NDArray[Any], tuple[int, ...]]:
    """The array of the batch that a cell of its state is in, and the indices in front of the last axis."""
    if cell.array == FRAMES:
        depth, *row = cell.index
        return batch.frames[depth], tuple(row)
    return getattr(batch, cell.array), cell.index


def exists(batch: Batch[Any], cell: Cell) -> bool:
    """Whether the batch has the cell: masks on the stack come and go."""
    return cell.array != FRAMES or cell.index[0] < len(batch.frames)


def words(batch: Batch[Any], cell: Cell) -> npt.NDArray[Any]:
    """The bits of a cell in each wavefront of the batch, [wavefronts]."""
    array, index = array_of(batch, cell)
    if cell.lane == ALL_LANES:
        return as_bits(array[index])
    return as_bits(array[index][cell.lane :: batch.lanes])


def as_bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Floats as their bits; masks and numbers are unchanged."""
    return np.ascontiguousarray(values).view(np.uint32) if values.dtype == np.float32 else values


def state_arrays(batch: Batch[Any]) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose last axis is that of lanes, by their names; those of the stack are not among them."""
    return {name: getattr(batch, name) for name in batch.LANE_ARRAYS if name not in _DOMAIN}
