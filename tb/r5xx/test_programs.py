"""Random flow control: that the programs obey the rules and try what they should, and the core beside the model."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT
from ctm.rtl.isa.r5xx.limits import ADDRESS_STACK, BRANCH_COUNTER_FULL, LOOP_STACK
from ctm.rtl.isa.r5xx.opcodes import AddressOperation, BranchOperation, FlowOperation, InstructionType
from ctm.rtl.isa.status import Status
from ctm.sim.golden.dpp.core import ArrayRun
from ctm.sim.golden.r5xx.instruction_set import R5XX
from ctm.tb.r5xx.core_engine import simulation
from ctm.tb.r5xx.coverage import Coverage
from ctm.tb.r5xx.golden_record import Record, WavefrontRecord, record
from ctm.tb.r5xx.lockstep import compare
from ctm.tb.r5xx.programs.flow import random_flow_case
from ctm.tb.r5xx.random_cases import Case, random_case
from ctm.tb.r5xx.simulation.simulation import Timing

CASES = 200
LEAST = 20
FAULTS = {Status.STACK, Status.WATCHDOG, Status.PC_RANGE, Status.ILLEGAL_INSTRUCTION}
TRIED = [
    *(f"flow {operation.name} {outcome}" for operation in FlowOperation for outcome in ("jumps", "falls through")),
    *(f"branch {operation.name}" for operation in BranchOperation),
    *(f"address {operation.name}" for operation in AddressOperation),
    "B_ELSE", "JUMP_ANY", "flow IGNORE_UNCOVERED", "LAST", "some pixels inactive", "no pixel active",
    "wavefront partly covered", "wavefront partly killed", "wavefront faults",
]  # fmt: skip
TIMINGS = (Timing(latency=1), Timing(latency=5, jitter=60), Timing(latency=30, stall=0.1))
DRAWS = pytest.mark.parametrize("draw", [random_flow_case, random_case])
Draw = Callable[..., Case]


@pytest.fixture(scope="module")
def recorded() -> tuple[list[Record], Coverage]:
    """What random flow programs do on the golden model, and what they try."""
    found, coverage = [], Coverage()
    for seed in range(CASES):
        launch, wavefronts = random_flow_case(seed, lanes=4).launch()
        found.append(record(launch, wavefronts))
        coverage.add(launch, found[-1])
    return found, coverage


@pytest.fixture(scope="module")
def records(recorded: tuple[list[Record], Coverage]) -> list[Record]:
    return recorded[0]


@pytest.mark.slow
def test_flow_programs_obey_the_rules_of_synchronisation(records: list[Record]) -> None:
    assert {seed: found.hazards for seed, found in enumerate(records) if found.hazards} == {}


@pytest.mark.slow
def test_flow_programs_have_both_outcomes_of_every_operation(recorded: tuple[list[Record], Coverage]) -> None:
    coverage = recorded[1]
    assert {name: coverage.counts[name] for name in TRIED if coverage.counts[name] < LEAST} == {}


@pytest.mark.slow
def test_flow_programs_reach_the_limits_of_all_stacks(records: list[Record]) -> None:
    snapshots = [
        step.snapshot for found in records for wavefront in found.wavefronts.values() for step in wavefront.steps
    ]
    assert max(len(snapshot.kinds) for snapshot in snapshots) == LOOP_STACK
    assert max(len(snapshot.returns) for snapshot in snapshots) == ADDRESS_STACK
    assert max(int(snapshot.arrays["counter"].max()) for snapshot in snapshots) == BRANCH_COUNTER_FULL


@pytest.mark.slow
def test_flow_programs_have_all_faults_and_mostly_in_some_wavefronts_only(records: list[Record]) -> None:
    outcomes = [
        Counter(wavefront.fault and wavefront.fault[0] for wavefront in found.wavefronts.values()) for found in records
    ]
    seen = sum(outcomes, Counter())
    assert {status: seen[status] for status in {*FAULTS, None} if seen[status] < LEAST} == {}
    assert sum(len(outcome) > 1 for outcome in outcomes) >= CASES // 20


@DRAWS
def test_a_case_is_the_same_each_time(draw: Draw) -> None:
    first, second = draw(5, lanes=8), draw(5, lanes=8)
    assert first.executable == second.executable
    assert first.contents == second.contents
    assert first.commands.words == second.commands.words
    assert first.listing() != draw(6, lanes=8).listing()


@DRAWS
def test_recording_changes_nothing(draw: Draw) -> None:
    for seed in range(20):
        recorded, wavefronts = draw(seed, lanes=4).launch()
        found = record(recorded, wavefronts)
        plain, wavefronts = draw(seed, lanes=4).launch()
        run = ArrayRun(R5XX, plain)
        for order, i, j, covered in wavefronts:
            run.execute(order, i, j, covered)
        issued = {kind: run.counters.issued.get(kind.name, 0) for kind in InstructionType}
        types = (issued[InstructionType.ALU] + issued[InstructionType.OUTPUT], issued[InstructionType.TEX],
                 issued[InstructionType.FC])  # fmt: skip
        # An illegal instruction and one that faults while it executes are issued, but leave no step.
        unfinished = sum(_faults_inside(wavefront) for wavefront in found.wavefronts.values())
        assert sum(found.issued) + unfinished == sum(types), seed
        assert (run.fault is not None) == any(wavefront.fault for wavefront in found.wavefronts.values()), seed
        for output in plain.outputs:
            extent = slice(output.base, output.base + 0x8000)
            assert np.array_equal(recorded.memory.bytes[extent], plain.memory.bytes[extent]), seed


def _faults_inside(wavefront: WavefrontRecord) -> bool:
    return wavefront.fault is not None and wavefront.fault[0] not in (Status.WATCHDOG, Status.PC_RANGE)


@pytest.mark.slow
@DRAWS
def test_a_wavefront_does_the_same_alone_and_among_others(draw: Draw) -> None:
    for seed in range(12):
        launch, wavefronts = draw(seed, lanes=4).launch()
        if launch.program.uncached_writes:
            # Programs that read what they write see what others wrote before.
            continue
        together = record(launch, wavefronts)
        alone: dict[tuple[int, int], WavefrontRecord] = {}
        launch, wavefronts = draw(seed, lanes=4).launch()
        for order, i, j, covered in wavefronts:
            for wavefront, number in enumerate(order):
                lanes = slice(4 * wavefront, 4 * wavefront + 4)
                one = record(launch, [(np.array([number]), i[lanes], j[lanes], covered[lanes])])
                alone |= one.wavefronts
        assert alone.keys() == together.wavefronts.keys(), seed
        for position, own in alone.items():
            _same(own, together.wavefronts[position], f"seed {seed}, wavefront {position}")


def _same(found: WavefrontRecord, expected: WavefrontRecord, where: str) -> None:
    assert found.fault == expected.fault, where
    assert [step.pc for step in found.steps] == [step.pc for step in expected.steps], where
    for number, (one, other) in enumerate(zip(found.steps, expected.steps, strict=True)):
        at = f"{where}, instruction {number} at pc {one.pc}"
        assert one.snapshot.kinds == other.snapshot.kinds, at
        assert one.snapshot.returns == other.snapshot.returns, at
        assert one.snapshot.loop_index == other.snapshot.loop_index, at
        for name in one.snapshot.arrays:
            assert np.array_equal(one.state(name), other.state(name)), f"{at}: {name}"


@pytest.mark.slow
def test_the_core_decides_as_the_model() -> None:
    core = simulation(DEFAULT)
    for seed in range(0, CASES, 2):
        timing = TIMINGS[seed // 2 % len(TIMINGS)]
        compare(core, random_flow_case(seed, lanes=DEFAULT.array.lanes), timing=timing)
