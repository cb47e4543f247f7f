"""A batch: groups that stand at the same instruction with the same control state, as structure of arrays.

Everything that steers a group as a whole (PC, aL, loop counts, return addresses) is one Python value per batch;
everything a lane has is an array whose last axis is `groups * lanes`. An instruction is then a few numpy operations on
contiguous arrays, whatever the number of groups. Where groups of a batch decide differently it is split, and batches
that meet again at the same place with the same control state are merged.
"""

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r5xx.opcodes import FlowOperation
from ctm.sim.golden.r5xx.outstanding import Outstanding
from ctm.sim.golden.r5xx.program import Program

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.signedinteger]

NO_COUNTER = 0
ENTERED, BROKEN, CONTINUED = range(3)
"""Rows of a loop frame's masks: active when it was pushed, left by BREAK, waiting after CONTINUE."""


class Frame(NamedTuple):
    """What a loop frame holds for the group as a whole."""

    kind: FlowOperation
    iterations: int
    loop_index: int
    """aL as it was before the loop."""


class Control(NamedTuple):
    """Control state that all groups of a batch share."""

    pc: int
    loop_index: int = 0
    frames: tuple[Frame, ...] = ()
    returns: tuple[int, ...] = ()


_LANE_ARRAYS = (
    "i", "j", "covered", "live", "active", "loop_inactive", "counter", "predicates", "alu_result",
    "temporaries", "outputs", "written", "conditional",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Batch:
    """Groups in one control state. Shapes: n lanes, T temporaries, K outputs that the program writes.

    A lane is active, or branch-inactive with a counter, or loop-inactive (after a BREAK or CONTINUE).
    """

    control: Control
    lanes: int
    order: Integers
    """Place of each group in the domain walk, [groups]."""
    executed: Integers
    """Instructions of each group before `steps` was last cleared, [groups]."""
    steps: int
    i: Integers
    j: Integers
    covered: Mask
    live: Mask
    active: Mask
    loop_inactive: Mask
    counter: npt.NDArray[np.int8]
    """Branch counter, meaningful for branch-inactive lanes only, [n]."""
    predicates: Mask
    """[4, n]."""
    alu_result: Mask
    temporaries: Floats
    """[T, 4, n]."""
    clean: list[bool]
    """Temporaries that hold no denormal for certain: arithmetic may then skip flushing them."""
    outputs: Floats
    """[K, 4, n]."""
    written: Mask
    """Channels of `outputs` that were written, [K, 4, n]."""
    conditional: Floats
    frames: list[Mask]
    """Masks of each loop frame, [3, n]: ENTERED, BROKEN, CONTINUED."""
    active_lanes: int
    """Number of active lanes; `set_active` keeps it."""
    outstanding: Outstanding = Outstanding()
    """Kept where hazards are watched only."""

    @staticmethod
    def start(
        program: Program, lanes: int, order: Integers, i: Integers, j: Integers, covered: Mask, conditional: Floats
    ) -> "Batch":
        """Groups at the program's start: r0 = (i, j, 0, 1), everything else 0."""
        size = i.size
        temporaries = np.zeros((program.temporaries, CHANNELS, size), np.float32)
        temporaries[0, 0], temporaries[0, 1], temporaries[0, 3] = i, j, 1.0
        return Batch(
            control=Control(program.start),
            lanes=lanes,
            order=order,
            executed=np.zeros(order.size, np.int64),
            steps=0,
            i=i,
            j=j,
            covered=covered,
            live=np.ones(size, bool),
            active=np.ones(size, bool),
            loop_inactive=np.zeros(size, bool),
            counter=np.full(size, NO_COUNTER, np.int8),
            predicates=np.zeros((CHANNELS, size), bool),
            alu_result=np.zeros(size, bool),
            temporaries=temporaries,
            clean=[True] * program.temporaries,
            outputs=np.zeros((len(program.outputs), CHANNELS, size), np.float32),
            written=np.zeros((len(program.outputs), CHANNELS, size), bool),
            conditional=conditional,
            frames=[],
            active_lanes=size,
        )

    @property
    def size(self) -> int:
        """Number of lanes."""
        return self.i.size

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.order.size

    @property
    def all_active(self) -> bool:
        """Whether no lane is inactive."""
        return self.active_lanes == self.size

    def set_active(self, active: Mask) -> None:
        """Replace the active mask."""
        self.active = active
        self.active_lanes = int(np.count_nonzero(active))

    def any_lane(self, mask: Mask) -> Mask:
        """For each group, whether any of its lanes is in `mask` [n]."""
        # Four lanes' bytes seen as one word: a quad at a time.
        quads = mask.view(np.uint32) != 0
        result: Mask = quads if self.lanes == 4 else quads.reshape(-1, self.lanes // 4).any(axis=1)
        return result

    def by_lane(self, groups: Mask) -> Mask:
        """A mask of groups [groups] as one of lanes [n]."""
        return np.repeat(groups, self.lanes)

    def settle(self) -> Integers:
        """Instructions that each group has executed."""
        self.executed += self.steps
        self.steps = 0
        return self.executed

    def select(self, chosen: Mask) -> "Batch":
        """A batch of the groups in `chosen` [groups]."""
        groups = np.flatnonzero(chosen)
        lanes = (groups[:, None] * self.lanes + np.arange(self.lanes)).ravel()
        values = {name: np.take(getattr(self, name), lanes, axis=-1) for name in _LANE_ARRAYS}
        selected = Batch(
            control=self.control,
            lanes=self.lanes,
            order=self.order[groups],
            executed=self.executed[groups],
            steps=self.steps,
            clean=self.clean.copy(),
            frames=[frame[:, lanes] for frame in self.frames],
            active_lanes=0,
            outstanding=self.outstanding,
            **values,
        )
        selected.set_active(selected.active)
        return selected

    def copy(self) -> "Batch":
        """The same groups in the same state, with arrays of their own."""
        return self.select(np.ones(self.groups, bool))

    def is_in_state_of(self, other: "Batch") -> bool:
        """Whether every lane of the same groups is, to the last bit, in the state that it has in `other`."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in _LANE_ARRAYS]
        pairs += zip(self.frames, other.frames, strict=True)
        return all(np.array_equal(mine.view(np.uint8), its.view(np.uint8)) for mine, its in pairs)

    @staticmethod
    def merge(batches: list["Batch"]) -> "Batch":
        """One batch of all groups of `batches`, which have the same control state."""
        if len(batches) == 1:
            return batches[0]
        first = batches[0]
        values = {name: np.concatenate([getattr(batch, name) for batch in batches], axis=-1) for name in _LANE_ARRAYS}
        return Batch(
            control=first.control,
            lanes=first.lanes,
            order=np.concatenate([batch.order for batch in batches]),
            executed=np.concatenate([batch.settle() for batch in batches]),
            steps=0,
            clean=[all(flags) for flags in zip(*(batch.clean for batch in batches), strict=True)],
            frames=[np.concatenate(frames, axis=-1) for frames in zip(*(b.frames for b in batches), strict=True)],
            active_lanes=sum(batch.active_lanes for batch in batches),
            outstanding=reduce(or_, (batch.outstanding for batch in batches)),
            **values,
        )
