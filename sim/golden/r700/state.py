"""State of wavefronts: control state of one, and state of a pixel."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import QUAD
from ctm.rtl.isa.r700.limits import ALU_CLAUSE_UNITS, GROUP_SLOTS
from ctm.rtl.isa.r700.program import FAULT_PC
from ctm.sim.golden.dpp import batch as dpp
from ctm.sim.golden.dpp.batch import Floats, Mask

_ADDRESS_BIT = FAULT_PC["address"].offset
_WORD_MASK = (1 << FAULT_PC["word"].width) - 1

UNLIMITED = -1
"""Rounds of a loop that only a break ends."""
BRANCH, CONTINUE, BREAK, ENTERED = range(4)
"""Rows of a loop's frame: the masks as they were before it, and the pixels that entered it. A branch has the first."""


class EntryKind(Enum):
    """What an entry of the stack is for; its value is the number of masks in its frame."""

    BRANCH = 1
    LOOP = 4
    CALL = 0


class Entry(NamedTuple):
    """What an entry of the stack holds for the wavefront as a whole."""

    kind: EntryKind
    rounds: int = 0
    """Of a loop, those that remain."""
    loop_index: int = 0
    """aL as it was before the loop."""
    step: int = 0
    target: int = 0
    """Of a call, where it returns to."""
    call_count: int = 0


class Control(NamedTuple):
    """Control state that all wavefronts of a batch share.

    `word` is the address of the CF instruction. Inside its clause `item` counts to the next group or fetch instruction
    and `address` where that is; before the clause they are -1 and 0.
    """

    word: int
    item: int = -1
    address: int = 0
    loop_index: int = 0
    stack: tuple[Entry, ...] = ()

    @property
    def pc(self) -> int:
        """The CF instruction in the lower half, the address of what stands in its clause in the upper one."""
        return self.address << _ADDRESS_BIT | self.word & _WORD_MASK

    @property
    def position(self) -> int:
        """CF instructions are executed upward but for jumps, clauses from their start."""
        return self.word * (ALU_CLAUSE_UNITS + 1) + self.item + 1

    def at_word(self, word: int) -> "Control":
        """Before the CF instruction at an address."""
        return self._replace(word=word, item=-1, address=0)


@dataclass(slots=True, eq=False, kw_only=True)
class Batch(dpp.Batch[Control]):
    """A batch of wavefronts.

    A pixel is active while it is in `branch_mask` and neither in `continue_mask` nor in `break_mask`. `valid_mask` has
    the pixels that were not killed: the manual's valid bit but for coverage. The stack's masks are in `frames`,
    `EntryKind.value` rows for each entry.
    """

    LANE_ARRAYS = (
        *dpp.Batch.LANE_ARRAYS, "branch_mask", "continue_mask", "break_mask", "cleared", "predicate", "address",
        "previous",
    )  # fmt: skip
    WAVEFRONT_ARRAYS = ("share",)

    branch_mask: Mask
    continue_mask: Mask
    break_mask: Mask
    cleared: Mask
    """Pixels that this clause's PRED_SETs took out of `branch_mask`."""
    predicate: Mask
    address: npt.NDArray[np.int64]
    """AR, [4, n]."""
    previous: Floats
    """Results of the last group, [5, n]: PV and PS."""
    previous_clean: list[bool] = field(default_factory=lambda: [True] * GROUP_SLOTS)
    """Of which slots' results hold no denormal for certain."""
    share: npt.NDArray[np.uint32]
    """The local data share, [dwords, banks, wavefronts]."""
    outstanding: frozenset[bool] = frozenset()
    """Of the writes of memory that may not be there yet, whether they are acknowledged: a wait is for those that are.
    Kept where hazards are watched only."""

    def update_active(self) -> None:
        """Make the active mask that of the masks that it follows from."""
        self.set_active(self.branch_mask & ~self.continue_mask & ~self.break_mask)

    def wait(self) -> None:
        """Acknowledged writes are there from now on."""
        self.outstanding -= {True}

    def lane_states(self) -> list[str]:
        """The manual's state of each pixel: A active, or inactive by a b(ranch), c(ontinue) or (brea)k."""
        states = np.select([self.break_mask, self.continue_mask, ~self.branch_mask], ["k", "c", "b"], "A")
        return list(states.tolist())

    def _beside(self, batches: Sequence[Self]) -> dict[str, Any]:
        clean = [all(flags) for flags in zip(*(batch.previous_clean for batch in batches), strict=True)]
        outstanding = frozenset[bool]().union(*(batch.outstanding for batch in batches))
        return {"previous_clean": clean, "outstanding": outstanding}


def whole_quads(mask: Mask) -> Mask:
    """Every pixel of the quads of which any is in `mask` [n]."""
    return np.repeat(mask.reshape(-1, QUAD).any(axis=1), QUAD)


def split(batch: Batch, mask: Mask) -> Iterator[tuple[Batch, bool]]:
    """The wavefronts in `mask` [wavefronts] and the others, where there are any; the batch itself if one has all."""
    if mask.all() or not mask.any():
        yield batch, bool(mask.any())
        return
    yield batch.select(mask), True
    yield batch.select(~mask), False
