"""Each instruction of each wavefront, in order, for pictures of a run."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.dpp.batch import Batch, Integers
from ctm.sim.golden.dpp.launch import Launch


@dataclass(frozen=True)
class Issue:
    """An instruction that the wavefronts of a batch are about to execute.

    For each of them [wavefronts]: the index in the walk, i and j of the first lane, lanes that are active, covered and
    valid, and those that are covered and valid.
    """

    launch: int
    pc: int
    order: Integers
    i: Integers
    j: Integers
    working: Integers
    present: Integers


@dataclass(frozen=True)
class Begun:
    """A launch that began: its executable's address, and of a draw the name of the program."""

    executable: int
    stage: str | None


@dataclass
class Steps:
    """At most `most` instructions of wavefronts; `lost` is the number of those after them."""

    most: int
    issues: list[Issue] = field(default_factory=list)
    launches: list[Begun] = field(default_factory=list)
    """In the order in which they began; an issue has the number of its own."""
    lost: int = 0
    _space: int = field(init=False)

    def __post_init__(self) -> None:
        self._space = self.most

    def begin(self, launch: Launch[Any]) -> int:
        """A launch begins: its number."""
        self.launches.append(Begun(launch.executable, launch.stage))
        return len(self.launches) - 1

    def add(self, launch: int, batch: Batch[Any]) -> None:
        """All wavefronts of a batch are about to execute the instruction at its PC."""
        kept = min(batch.wavefronts, self._space)
        self.lost += batch.wavefronts - kept
        self._space -= kept
        if not kept:
            return
        present = batch.covered & batch.valid_mask
        each = (
            batch.order, batch.i[:: batch.lanes], batch.j[:: batch.lanes], _by_wavefront(batch, present & batch.active),
            _by_wavefront(batch, present),
        )  # fmt: skip
        self.issues.append(Issue(launch, batch.control.pc, *(values[:kept].copy() for values in each)))


def _by_wavefront(batch: Batch[Any], mask: npt.NDArray[np.bool_]) -> Integers:
    counted: Integers = np.count_nonzero(mask.reshape(-1, batch.lanes), axis=1)
    return counted
