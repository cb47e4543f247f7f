"""One wavefront, stepped instruction by instruction and back.

Going back takes the nearest checkpoint before and steps from there: checkpoints are copies of the wavefront's state,
and of what its program writes past the caches. They are thinned when there are many, so that a million steps fit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.images.elements import Store
from ctm.sim.debug.stopping.stores import Area
from ctm.sim.debug.undo import Kept, keep
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.batch import Batch, Integers, Mask
from ctm.sim.golden.dpp.core import InstructionSet
from ctm.sim.golden.dpp.journal import Journal
from ctm.sim.golden.dpp.launch import Launch

_INTERVAL = 64
"""Steps between checkpoints, at first."""
_MOST_BYTES = 256 << 20
"""Of all checkpoints together."""


class _Checkpoint(NamedTuple):
    step: int
    batch: Batch[Any]
    memory: Kept


class Wavefront:
    """A wavefront from its start to its end, or to its fault.

    `order` is its index in the domain walk. `step` counts the instructions that it has executed. `batch` is its state,
    the last one when it has ended.
    """

    def __init__(
        self, instruction_set: InstructionSet[Any, Any], launch: Launch[Any], order: int, i: npt.NDArray[Any],
        j: npt.NDArray[Any], covered: npt.NDArray[np.bool_], cancellation: Cancellation,
    ) -> None:  # fmt: skip
        self.order = order
        self.error: MachineError | None = None
        self.has_ended = False
        self._launch = launch
        self._journal = Journal[Any](
            launch, describe_pc=instruction_set.describe_pc, observers=[self, cancellation], stores=self
        )
        self._executor = instruction_set.executor(launch, self._journal)
        self.batch: Batch[Any] = self._executor.start(np.array([order]), i, j, covered)
        self._interval = _INTERVAL
        self._own = keep(launch, i, j)
        self._checkpoints = [_Checkpoint(0, self.batch.copy(), self._areas())]
        self._stored: list[tuple[Integers, int, Mask]] = []
        self.edits: list[int] = []
        """Steps at which values were set, ascending: going back before one discards it."""
        self._set: list[tuple[int, Store, Store]] = []
        """Steps at which memory was set, what was written, and what writes back what was there."""

    @property
    def step(self) -> int:
        """Instructions that it has executed."""
        return int(self.batch.settle()[0])

    @property
    def cycle(self) -> int | None:
        """The cycle in which its last instruction was done: the golden model has none."""
        return None

    @property
    def is_over(self) -> bool:
        """Whether it has ended or failed."""
        return self.has_ended or self.error is not None

    def advance(self) -> None:
        """Execute one instruction; not after its end. One that fails leaves the wavefront in front of it."""
        assert not self.is_over
        self._stored = []
        if self._launch.watchdog and self.step == self._launch.watchdog:
            detail = f"a wavefront executed {self._launch.watchdog} instructions"
            self._journal.faulted(self.batch, Status.WATCHDOG, detail)
            return
        if self.step >= self._checkpoints[-1].step + self._interval:
            self._add_checkpoint()
        before = self.step
        with np.errstate(all="ignore"):
            states = self._executor.step(self.batch)
        if states:
            (self.batch,) = states
        elif self.error is not None:
            # A fault leaves no state: the wavefront is shown as it was in front of the instruction.
            error = self.error
            self.back_to(before)
            self.error = error

    def leap(self, state: Batch[Any]) -> None:
        """Go to a state that it comes to, unless it would have stored something before it."""
        if not self._checkpoints[-1].memory.is_empty:
            return
        self.batch = state
        self._add_checkpoint()

    def back_to(self, step: int) -> None:
        """Return to an earlier step; what it stored since then is undone."""
        self._stored = []
        while self._set and self._set[-1][0] > step:
            self._set.pop()[-1].swap()
        if self.has_ended:
            self._own.restore()
            for _, store, _ in self._set:
                store.swap()
        self.has_ended, self.error = False, None
        self.edits = [edit for edit in self.edits if edit <= step]
        while self._checkpoints[-1].step > step:
            self._checkpoints.pop()
        nearest = self._checkpoints[-1]
        nearest.memory.restore()
        self.batch = nearest.batch.copy()
        self._journal.fault = None
        while self.step < step:
            self.advance()

    def edit(self) -> None:
        """Something of the state was set from outside: steps before it are not reached any more by stepping again."""
        self.edits.append(self.step)
        self._add_checkpoint()

    def store(self, store: Store) -> None:
        """Memory is set from outside; see `edit`."""
        self._set.append((self.step, store, store.swap()))
        self.edit()

    def storing(self, area: Area) -> Mask:
        """The lanes that the last instruction stored to an area from, as it was executed; none after `back_to`."""
        found = np.zeros(self.batch.size, bool)
        for stored in self._stored:
            found |= area.lanes(*stored)
        return found

    # What the journal tells, see `Observer`.

    def stored(self, batch: Batch[Any], addresses: Integers, size: int, mask: Mask) -> None:
        """See `StoreObserver.stored`."""
        del batch
        self._stored.append((addresses, size, mask))

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`."""

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""
        del status, client
        fault = self._journal.fault
        assert fault is not None
        self.error, self.batch = fault.error, batch

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""
        self.has_ended, self.batch = True, batch

    def _add_checkpoint(self) -> None:
        self._checkpoints.append(_Checkpoint(self.step, self.batch.copy(), self._areas()))
        size = sum(_bytes(each.batch) + each.memory.size for each in self._checkpoints[-1:]) * len(self._checkpoints)
        if size > _MOST_BYTES and len(self._checkpoints) > 2:
            # Every second one; the first one, and what was set from outside, stay.
            kept = [each for number, each in enumerate(self._checkpoints) if number % 2 == 0 or each.step in self.edits]
            self._checkpoints = kept if kept[-1] is self._checkpoints[-1] else [*kept, self._checkpoints[-1]]
            self._interval *= 2

    def _areas(self) -> Kept:
        return Kept.of_areas(self._launch, self.batch.i)


def _bytes(batch: Batch[Any]) -> int:
    return sum(getattr(batch, name).nbytes for name in (*batch.LANE_ARRAYS, *batch.WAVEFRONT_ARRAYS))
