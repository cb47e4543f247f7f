"""The golden model's wavefronts: every CF instruction, group and fetch, with the state after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.r700.state import Batch, Control
from ctm.tb.r700.machine import Job, Run, run_golden

_COPIED = ("valid_mask", "branch_mask", "continue_mask", "break_mask", "predicate", "address")
_WORDS = {"registers": "temporaries", "previous": "previous"}


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of all wavefronts of a batch."""

    lanes: int
    control: Control
    arrays: dict[str, np.ndarray]
    frames: tuple[np.ndarray, ...]

    @staticmethod
    def of(batch: Batch) -> "Snapshot":
        """What the batch is now."""
        arrays = {name: getattr(batch, name).copy() for name in _COPIED}
        arrays |= {name: getattr(batch, own).copy().view(np.uint32) for name, own in _WORDS.items()}
        return Snapshot(batch.lanes, batch.control, arrays, tuple(frame.copy() for frame in batch.frames))


@dataclass(frozen=True, eq=False)
class Step:
    """The steps of one wavefront, and the state after each."""

    pc: int
    snapshot: Snapshot
    wavefront: int

    @property
    def control(self) -> Control:
        """What steers it as a whole."""
        return self.snapshot.control

    def state(self, name: str) -> np.ndarray:
        """An array of its state, [..., lanes]; `registers` and `previous` are words."""
        return self._own(self.snapshot.arrays[name])

    @property
    def frames(self) -> list[np.ndarray]:
        """The masks that each entry of its stack keeps, [any, lanes]."""
        return [self._own(frame) for frame in self.snapshot.frames]

    def _own(self, array: np.ndarray) -> np.ndarray:
        lanes = self.snapshot.lanes
        return array[..., self.wavefront * lanes : (self.wavefront + 1) * lanes]


@dataclass(eq=False)
class WavefrontRecord:
    """What one wavefront did; `fault` is why it stopped, with its PC."""

    i: int
    j: int
    covered: np.ndarray
    steps: list[Step] = field(default_factory=list)
    fault: tuple[Status, int] | None = None


class _Recorder:
    """An observer that keeps the steps of wavefronts, by their index in the domain's walk."""

    def __init__(self) -> None:
        self.wavefronts: dict[int, WavefrontRecord] = {}

    def executed(self, pc: int, batches: Sequence[Batch]) -> None:
        for batch in batches:
            snapshot = Snapshot.of(batch)
            for number, record in enumerate(self._records(batch)):
                record.steps.append(Step(pc, snapshot, number))

    def faulted(self, batch: Batch, status: Status, client: BusClient | None) -> None:
        for record in self._records(batch):
            record.fault = status, batch.control.pc

    def ended(self, batch: Batch) -> None:
        self._records(batch)

    def _records(self, batch: Batch) -> list[WavefrontRecord]:
        """Those of the batch's wavefronts, in its order."""
        found = []
        for number, order in enumerate(batch.order.tolist()):
            if order not in self.wavefronts:
                own = slice(number * batch.lanes, (number + 1) * batch.lanes)
                i, j = int(batch.i[own.start]), int(batch.j[own.start])
                self.wavefronts[order] = WavefrontRecord(i, j, batch.covered[own].copy())
            found.append(self.wavefronts[order])
        return found


def record(job: Job) -> tuple[Run, Mapping[tuple[int, int], WavefrontRecord]]:
    """Run a job on the golden model: its results, and the record of each wavefront by its position (i, j)."""
    recorder = _Recorder()
    found = run_golden(replace(job, observers=(*job.observers, recorder)))
    return found, {(each.i, each.j): each for each in recorder.wavefronts.values()}
