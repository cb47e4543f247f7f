"""The state of a wavefront after an instruction, from the hardware's trace."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.dpp.batch import Batch

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(eq=False)
class Moment:
    """The state after an instruction of a wavefront.

    cycle
        In which the instruction was done.
    pc
        Its own.
    arrays
        Arrays of the state by their names, as `Batch` has them; of those that are not there nothing is shown.
    frames
        R5xx: the masks that are kept on the loop stack, from its bottom.
    rows
        R700: the masks in subentries of the stack, from its bottom, as they were written last.
    """

    cycle: int
    pc: int
    arrays: Arrays = field(default_factory=dict)
    frames: list[npt.NDArray[Any]] | None = None
    rows: dict[int, npt.NDArray[np.bool_]] | None = None

    def put_on(self, state: Batch[Any]) -> Batch[Any]:
        """A copy of a state that has what is shown here instead of its own."""
        batch = state.copy()
        for name, array in self.arrays.items():
            setattr(batch, name, array.copy())
        if self.frames is not None:
            batch.frames = [frame.copy() for frame in self.frames]
        if self.rows is not None:
            batch.frames = _frames(batch, self.rows)
        batch.set_active(batch.active)
        batch.clean = [False] * len(batch.clean)
        return batch


def _frames(batch: Batch[Any], rows: dict[int, npt.NDArray[np.bool_]]) -> list[npt.NDArray[np.bool_]]:
    """The masks of the stack's entries: a branch has one subentry, a loop four, a call one without a mask."""
    frames, first, nothing = [], 0, np.zeros(batch.size, bool)
    for entry in batch.control.stack:
        count = entry.kind.value
        masks = [rows.get(first + row, nothing) for row in range(count)]
        frames.append(np.array(masks, bool).reshape(count, batch.size))
        first += max(1, count)
    return frames


@dataclass(frozen=True)
class Recording:
    """What the hardware did with a wavefront: `moments` after its instructions."""

    moments: list[Moment]
    begun: int
    """The cycle in which it took its wave slot."""
