"""A batch: wavefronts that stand at the same instruction with the same control state, as structure of arrays.

Everything that controls a wavefront as a whole (its PC and what goes with it) is one Python value per batch; everything
a lane has is an array whose last axis is `wavefronts * lanes`. An instruction is then a few numpy operations on
contiguous arrays, whatever the number of wavefronts. A batch is split where its wavefronts decide differently. Batches
that are at the same position again with the same control state are merged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.signedinteger]


class Control(Protocol):
    """Control state that all wavefronts of a batch share. Those of equal states go on together, so it has a hash."""

    @property
    def pc(self) -> int:
        """What a fault reports as its PC."""

    @property
    def position(self) -> int:
        """Position in the program: of several batches the one with the lowest position goes on first."""


C = TypeVar("C", bound=Control)


@dataclass(slots=True, eq=False, kw_only=True)
class Batch(Generic[C]):
    """Wavefronts in one control state. Shapes: n lanes, T temporaries, K outputs that the program writes.

    An instruction set adds the state of its lanes. `LANE_ARRAYS` names all arrays whose last axis is n,
    `WAVEFRONT_ARRAYS` those that it adds whose last axis is that of wavefronts.
    """

    LANE_ARRAYS: ClassVar[tuple[str, ...]] = (
        "i", "j", "covered", "valid_mask", "active", "temporaries", "outputs", "written", "conditional",
    )  # fmt: skip
    WAVEFRONT_ARRAYS: ClassVar[tuple[str, ...]] = ()

    control: C
    lanes: int
    order: Integers
    """Index of each wavefront in the domain walk, [wavefronts]."""
    executed: Integers
    """Instructions of each wavefront before `steps` was last cleared, [wavefronts]."""
    steps: int
    i: Integers
    j: Integers
    covered: Mask
    valid_mask: Mask
    active: Mask
    active_lanes: int
    """Number of active lanes; `set_active` keeps it."""
    temporaries: Floats
    """[T, 4, n]."""
    clean: list[bool]
    """Temporaries, or their channels, that certainly hold no denormal: arithmetic may skip flushing them."""
    outputs: Floats
    """[K, 4, n]."""
    written: Mask
    """Channels of `outputs` that were written, [K, 4, n]."""
    conditional: Floats
    frames: list[Mask]
    """Masks that each frame of the wavefronts' control stack keeps, [any, n]."""

    @property
    def size(self) -> int:
        """Number of lanes."""
        return self.i.size

    @property
    def wavefronts(self) -> int:
        """Number of wavefronts."""
        return self.order.size

    @property
    def all_active(self) -> bool:
        """Whether no lane is inactive."""
        return self.active_lanes == self.size

    def lane_states(self) -> list[str]:
        """For each lane a letter for people: A if it is active."""
        return list(np.where(self.active, "A", "-").tolist())

    def set_active(self, active: Mask) -> None:
        """Replace the active mask."""
        self.active = active
        self.active_lanes = int(np.count_nonzero(active))

    def any_lane(self, mask: Mask) -> Mask:
        """For each wavefront, whether any of its lanes is in `mask` [n]."""
        # Four lanes' bytes seen as one word: a quad at a time.
        quads = mask.view(np.uint32) != 0
        result: Mask = quads if self.lanes == 4 else quads.reshape(-1, self.lanes // 4).any(axis=1)
        return result

    def by_lane(self, wavefronts: Mask) -> Mask:
        """A mask of wavefronts [wavefronts] as one of lanes [n]."""
        return np.repeat(wavefronts, self.lanes)

    def settle(self) -> Integers:
        """Instructions that each wavefront has executed."""
        self.executed += self.steps
        self.steps = 0
        return self.executed

    def select(self, chosen: Mask) -> Self:
        """A batch of the wavefronts in `chosen` [wavefronts]."""
        return self.take(np.flatnonzero(chosen))

    def take(self, wavefronts: Integers) -> Self:
        """A batch of the wavefronts with these numbers, which may repeat."""
        lanes = (wavefronts[:, None] * self.lanes + np.arange(self.lanes)).ravel()
        values = {name: np.take(getattr(self, name), lanes, axis=-1) for name in self.LANE_ARRAYS}
        values |= {name: np.take(getattr(self, name), wavefronts, axis=-1) for name in self.WAVEFRONT_ARRAYS}
        selected = type(self)(
            control=self.control,
            lanes=self.lanes,
            order=self.order[wavefronts],
            executed=self.executed[wavefronts],
            steps=self.steps,
            clean=self.clean.copy(),
            frames=[frame[:, lanes] for frame in self.frames],
            active_lanes=0,
            **values,
            **self._beside([self]),
        )
        selected.set_active(selected.active)
        return selected

    def copy(self) -> Self:
        """The same wavefronts in the same state, with arrays of their own."""
        return self.select(np.ones(self.wavefronts, bool))

    def is_in_state_of(self, other: Self) -> bool:
        """Whether every lane of the same wavefronts is, to the last bit, in the state that it has in `other`."""
        names = (*self.LANE_ARRAYS, *self.WAVEFRONT_ARRAYS)
        pairs = [(getattr(self, name), getattr(other, name)) for name in names]
        pairs += zip(self.frames, other.frames, strict=True)
        return all(np.array_equal(mine.view(np.uint8), its.view(np.uint8)) for mine, its in pairs)

    def merge(self, others: Sequence[Self]) -> Self:
        """One batch of these wavefronts and those of `others`, which have the same control state."""
        if not others:
            return self
        batches = [self, *others]
        names = (*self.LANE_ARRAYS, *self.WAVEFRONT_ARRAYS)
        values = {name: np.concatenate([getattr(batch, name) for batch in batches], axis=-1) for name in names}
        return type(self)(
            control=self.control,
            lanes=self.lanes,
            order=np.concatenate([batch.order for batch in batches]),
            executed=np.concatenate([batch.settle() for batch in batches]),
            steps=0,
            clean=[all(flags) for flags in zip(*(batch.clean for batch in batches), strict=True)],
            frames=[np.concatenate(frames, axis=-1) for frames in zip(*(b.frames for b in batches), strict=True)],
            active_lanes=sum(batch.active_lanes for batch in batches),
            **values,
            **self._beside(batches),
        )

    def _beside(self, batches: Sequence[Self]) -> dict[str, Any]:
        """What an instruction set keeps of a batch beside control and arrays: that of all `batches` together."""
        return {}


def at_start(
    *,
    temporaries: int,
    outputs: int,
    lanes: int,
    order: Integers,
    i: Integers,
    j: Integers,
    covered: Mask,
    conditional: Floats,
) -> dict[str, Any]:
    """What a batch has whatever its instruction set, but for its control state, of wavefronts that begin.

    r0 = (i, j, 0, 1), everything else 0, all lanes active.
    """
    size = i.size
    registers = np.zeros((temporaries, CHANNELS, size), np.float32)
    registers[0, 0], registers[0, 1], registers[0, 3] = i, j, 1.0
    return {
        "lanes": lanes,
        "order": order,
        "executed": np.zeros(order.size, np.int64),
        "steps": 0,
        "i": i,
        "j": j,
        "covered": covered,
        "valid_mask": np.ones(size, bool),
        "active": np.ones(size, bool),
        "active_lanes": size,
        "temporaries": registers,
        "clean": [True] * temporaries,
        "outputs": np.zeros((outputs, CHANNELS, size), np.float32),
        "written": np.zeros((outputs, CHANNELS, size), bool),
        "conditional": conditional,
        "frames": [],
    }
