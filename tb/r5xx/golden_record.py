"""Every instruction that the golden model executes, group by group, with the state that it leaves."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.array import Array
from ctm.sim.golden.dpp.batch import Batch, Frame
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import Integers
from ctm.sim.golden.r5xx.instruction import Alu, Flow, Tex

Groups = Iterable[tuple[Integers, Integers, Integers, npt.NDArray[np.bool_]]]
"""What `Run.add` takes: order, i, j and coverage."""
_COPIED = ("live", "active", "loop_inactive", "counter", "predicates", "alu_result")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of all groups of a batch behind an instruction."""

    lanes: int
    next_pc: int
    loop_index: int
    kinds: tuple[Frame, ...]
    returns: tuple[int, ...]
    arrays: dict[str, np.ndarray]

    @staticmethod
    def of(batch: Batch) -> "Snapshot":
        arrays = {name: getattr(batch, name).copy() for name in _COPIED}
        arrays["temporaries"] = batch.temporaries.copy().view(np.uint32)
        arrays["frames"] = np.array(batch.frames, bool).reshape(len(batch.frames), 3, batch.size)
        control = batch.control
        return Snapshot(batch.lanes, control.pc, control.loop_index, control.frames, control.returns, arrays)


@dataclass(frozen=True, eq=False)
class Step:
    """One instruction of one group."""

    pc: int
    instruction: Alu | Tex | Flow
    snapshot: Snapshot
    group: int
    """Its place in the snapshot's batch."""

    def state(self, name: str) -> np.ndarray:
        """An array of the state behind the instruction, [..., lanes]."""
        lanes = self.snapshot.lanes
        return self.snapshot.arrays[name][..., self.group * lanes : (self.group + 1) * lanes]


@dataclass(eq=False)
class GroupRecord:
    """What one group did; `fault` and its PC are those that stopped it."""

    i: int
    j: int
    covered: np.ndarray
    steps: list[Step] = field(default_factory=list)
    fault: tuple[Status, int] | None = None


class _RecordingArray(Array):
    def __init__(self, launch: Launch, *, hazards: bool) -> None:
        super().__init__(launch, hazards=hazards)
        self.groups: dict[int, GroupRecord] = {}
        self._nested = False

    def run(self, batch: Batch) -> None:
        for group, order in enumerate(batch.order):
            lane = group * batch.lanes
            covered = batch.covered[lane : lane + batch.lanes].copy()
            self.groups[int(order)] = GroupRecord(int(batch.i[lane]), int(batch.j[lane]), covered)
        super().run(batch)

    def _execute(self, batch: Batch, instruction: Alu | Tex | Flow) -> list[Batch]:
        # It calls itself for the groups that go on where memory refuses an access of others.
        nested, self._nested = self._nested, True
        pc = batch.control.pc
        parts = super()._execute(batch, instruction)
        self._nested = nested
        if not nested:
            for part in parts:
                snapshot = Snapshot.of(part)
                for group, order in enumerate(part.order):
                    self.groups[int(order)].steps.append(Step(pc, instruction, snapshot, group))
        return parts

    def _fault(self, batch: Batch, status: Status, *arguments: object, **access: object) -> list[Batch]:
        for order in batch.order:
            self.groups[int(order)].fault = status, batch.control.pc
        return super()._fault(batch, status, *arguments, **access)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class Record:
    """What the golden model did: each group's instructions by the group's place (i, j), and the counts of each type."""

    groups: dict[tuple[int, int], GroupRecord]
    issued: tuple[int, int, int]
    """ALU and OUTPUT, TEX, FC."""
    hazards: list[str]


def record(launch: Launch, groups: Groups) -> Record:
    """Run the golden model over groups; those without a covered lane are left out. Writes the launch's memory."""
    array = _RecordingArray(launch, hazards=True)
    for order, i, j, covered in groups:
        batch = Batch.start(launch.program, launch.lanes, order, i, j, covered, launch.first_conditional(i.size))
        issued = batch.any_lane(covered)
        if issued.any():
            array.run(batch.select(issued))
    types: dict[type, int] = defaultdict(int)
    for group in array.groups.values():
        for step in group.steps:
            types[type(step.instruction)] += 1
    hazards = [f"pc {hazard.pc}: {hazard.text}" for hazard in array.hazards()]
    by_place = {(group.i, group.j): group for group in array.groups.values()}
    return Record(by_place, (types[Alu], types[Tex], types[Flow]), hazards)
