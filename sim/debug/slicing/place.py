"""Places: where a program keeps a word, and where it takes words from."""

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


class Place(NamedTuple):
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


def array_of(batch: Batch[Any], place: Place) -> tuple[npt.NDArray[Any], tuple[int, ...]]:
    """The array of the batch that a place of its state is in, and the indices in front of the last axis."""
    if place.array == FRAMES:
        depth, *row = place.index
        return batch.frames[depth], tuple(row)
    return getattr(batch, place.array), place.index


def exists(batch: Batch[Any], place: Place) -> bool:
    """Whether the batch has the place: masks on the stack come and go."""
    return place.array != FRAMES or place.index[0] < len(batch.frames)


def words(batch: Batch[Any], place: Place) -> npt.NDArray[Any]:
    """The bits of a place in each wavefront of the batch, [wavefronts]."""
    array, index = array_of(batch, place)
    if place.lane == ALL_LANES:
        return as_bits(array[index])
    return as_bits(array[index][place.lane :: batch.lanes])


def as_bits(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Floats as their bits; what is a mask or a number stays."""
    return np.ascontiguousarray(values).view(np.uint32) if values.dtype == np.float32 else values


def state_arrays(batch: Batch[Any]) -> dict[str, npt.NDArray[Any]]:
    """The arrays whose last axis is that of lanes, by their names; those of the stack are not among them."""
    return {name: getattr(batch, name) for name in batch.LANE_ARRAYS if name not in _DOMAIN}
