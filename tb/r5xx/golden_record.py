"""Every instruction that the golden model executes, wavefront by wavefront, with the state that it leaves."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.pe.domain import Integers
from ctm.sim.golden.r5xx.instruction import Alu, Flow, Illegal, Tex
from ctm.sim.golden.r5xx.instruction_set import R5XX
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.state import Batch, Frame

Wavefronts = Iterable[tuple[Integers, Integers, Integers, npt.NDArray[np.bool_]]]
"""What `Run.add` takes: order, i, j and coverage."""
_COPIED = ("valid_mask", "active", "loop_inactive", "counter", "predicates", "alu_result")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of all wavefronts of a batch after an instruction."""

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
    """One instruction of one wavefront."""

    pc: int
    instruction: Alu | Tex | Flow
    snapshot: Snapshot
    wavefront: int
    """Its index in the snapshot's batch."""

    def state(self, name: str) -> np.ndarray:
        """An array of the state after the instruction, [..., lanes]."""
        lanes = self.snapshot.lanes
        return self.snapshot.arrays[name][..., self.wavefront * lanes : (self.wavefront + 1) * lanes]


@dataclass(eq=False)
class WavefrontRecord:
    """What one wavefront did; `fault` and its PC are those that stopped it."""

    i: int
    j: int
    covered: np.ndarray
    steps: list[Step] = field(default_factory=list)
    fault: tuple[Status, int] | None = None


class _Recorder:
    """An observer that keeps what each of `wavefronts` does, by the wavefront's index in the domain walk."""

    def __init__(self, program: Program, wavefronts: dict[int, WavefrontRecord]) -> None:
        self._instructions = program.code.instructions
        self._wavefronts = wavefronts

    def executed(self, pc: int, batches: Sequence[Batch]) -> None:
        instruction = self._instructions[pc]
        assert not isinstance(instruction, Illegal), "it faults, and is not executed"
        for batch in batches:
            snapshot = Snapshot.of(batch)
            for wavefront, order in enumerate(batch.order):
                self._wavefronts[int(order)].steps.append(Step(pc, instruction, snapshot, wavefront))

    def faulted(self, batch: Batch, status: Status, client: BusClient | None) -> None:
        for order in batch.order:
            self._wavefronts[int(order)].fault = status, batch.control.pc

    def ended(self, batch: Batch) -> None:
        """Nothing: the last instruction has its step."""


@dataclass(frozen=True, eq=False)
class Record:
    """The golden model's steps: each wavefront's instructions by its position (i, j), and the counts of each type."""

    wavefronts: dict[tuple[int, int], WavefrontRecord]
    issued: tuple[int, int, int]
    """ALU and OUTPUT, TEX, FC."""
    hazards: list[str]


def record(launch: Launch, wavefronts: Wavefronts) -> Record:
    """Run the golden model over wavefronts; those without a covered lane are left out. Writes the launch's memory."""
    recorded: dict[int, WavefrontRecord] = {}
    run = ArrayRun(R5XX, launch, hazards=True, observers=[_Recorder(launch.program, recorded)])
    for order, i, j, covered in wavefronts:
        for index, lanes in zip(order, np.arange(i.size).reshape(-1, launch.lanes), strict=True):
            if covered[lanes].any():
                recorded[int(index)] = WavefrontRecord(int(i[lanes[0]]), int(j[lanes[0]]), covered[lanes])
        run.execute(order, i, j, covered)
    types: dict[type, int] = defaultdict(int)
    for wavefront in recorded.values():
        for step in wavefront.steps:
            types[type(step.instruction)] += 1
    hazards = [f"pc {hazard.pc}: {hazard.text}" for hazard in run.hazards()]
    by_position = {(wavefront.i, wavefront.j): wavefront for wavefront in recorded.values()}
    return Record(by_position, (types[Alu], types[Tex], types[Flow]), hazards)
