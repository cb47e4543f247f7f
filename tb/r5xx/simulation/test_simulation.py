"""What stands around a compiled core: its memory, its timing, and that it notices a core that breaks a rule."""

from dataclasses import replace

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.memory import Memory
from ctm.tb.r5xx.simulation.cases import (
    CONDITIONAL,
    FLOAT4,
    FLOATS,
    INPUT,
    OUTPUT,
    filled,
    floats_at,
    launch_of,
    outputs,
    simulation,
    wavefronts_of,
)
from ctm.tb.r5xx.simulation.copier import Mistake
from ctm.tb.r5xx.simulation.simulation import CoreRun, ProtocolError, Timing

pytestmark = pytest.mark.slow

QUICK, ROUGH = Timing(), Timing(latency=7, jitter=20, stall=0.5, seed=3)


def fault_set(run: CoreRun) -> set[tuple[int, int]]:
    return {(fault.i, fault.j) for fault in run.faults}


@pytest.mark.parametrize("lanes", [4, *(pytest.param(lanes, marks=pytest.mark.long) for lanes in (8, 16))])
@pytest.mark.parametrize("timing", [QUICK, ROUGH])
def test_every_client_is_served_and_a_run_ends_idle(lanes: int, timing: Timing) -> None:
    core = simulation(lanes)
    for seed, domain in enumerate((Domain(i0=1, j0=1, i1=9, j1=4), Domain(i0=6, j0=0, i1=15, j1=7))):
        memory = filled(seed)
        unit = ConditionalUnit(
            buffer=Buffer(base=CONDITIONAL, pitch=16, height=8, format=DataFormat.FLOAT32_1),
            test=ConditionalTest.LESS, location=ConditionalLocation.DPP, write_enabled=True,
        )  # fmt: skip
        launch = launch_of(memory, lanes=lanes, conditional=unit)
        run = core.run(launch, wavefronts_of(domain, lanes), timing=timing, max_cycles=100_000)
        copy = floats_at(memory, FLOAT4, domain)
        assert np.array_equal(floats_at(run.memory, outputs()[0], domain), copy)
        instruction = launch.program.image.code[0][0]
        words = [instruction, *(memory.word(FLOATS + 16 * beat) for beat in (0, 1, 3))]
        assert np.array_equal(
            floats_at(run.memory, outputs()[1], domain), np.tile(words, (copy.shape[1], 1)).T.astype(np.uint32)
        )
        passed = expected_tests(memory, unit, domain, copy[0])
        assert np.array_equal(
            floats_at(run.memory, outputs()[2], domain), np.tile(passed, (4, 1)) * [[1], [0], [0], [0]]
        )
        assert passed.any()
        assert not passed.all()
        assert not run.faults
        count = sum(
            1 for _, _, _, covered in wavefronts_of(domain, lanes) for g in covered.reshape(-1, lanes) if g.any()
        )
        assert run.issued == (count, count, count)
        assert run.cycles > 8 * count


def expected_tests(memory: Memory, unit: ConditionalUnit, domain: Domain, values: np.ndarray) -> np.ndarray:
    y, x = (axis.ravel() for axis in np.mgrid[domain.j0 : domain.j1 + 1, domain.i0 : domain.i1 + 1])
    return unit.decide(memory, x, y, values.view(np.float32))[0].astype(np.uint32)


def test_wavefronts_without_a_covered_lane_are_omitted() -> None:
    covered = np.array([0, 0, 0, 0, 0, 1, 0, 0], bool)
    i, j = np.array([0, 1, 0, 1, 2, 3, 2, 3]), np.array([0, 0, 1, 1] * 2)
    launch = launch_of(filled())
    run = simulation().run(launch, [(np.arange(2), i, j, covered)], timing=QUICK, max_cycles=1000, trace=True)
    wavefront = run.events("start")["wavefront"]
    assert (list(wavefront["i"]), list(wavefront["j"]), list(wavefront["covered"])) == ([2], [0], [0b0010])
    written = np.flatnonzero(run.memory.view(np.uint32)[OUTPUT // 4 :][:256])
    assert set(written // 4) <= {3}


def test_columns_reach_beyond_the_last_one() -> None:
    far = Domain(i0=4094, j0=4095, i1=4095, j1=4095)
    wide = replace(FLOAT4, pitch=4096, height=4096)
    launch = launch_of(filled(), source=replace(wide, pitch=0), targets=tuple([wide] * 4))
    run = simulation().run(launch, wavefronts_of(far, 4), timing=QUICK, max_cycles=1000, trace=True)
    assert list(run.events("start")["wavefront"]["i"]) == [4094]
    # Width 0 reads 0 in every channel, whose tests pass; target 2 came last.
    assert list(floats_at(run.memory, wide, far)[0]) == [1, 1]


def test_a_run_does_not_change_the_launch_s_memory_and_cached_reads_see_the_start() -> None:
    memory = filled()
    before = memory.bytes[INPUT:][:0x1000].copy()
    # Target 0 writes what the next wavefront reads.
    shifted = replace(FLOAT4, base=INPUT + 0x800, height=4)
    launch = launch_of(memory, targets=(shifted, *outputs()[1:]))
    domain = Domain(i0=0, j0=0, i1=15, j1=3)
    run = simulation().run(launch, wavefronts_of(domain, 4), timing=QUICK, max_cycles=10_000)
    assert np.array_equal(memory.bytes[INPUT:][:0x1000], before)
    assert np.array_equal(floats_at(run.memory, shifted, domain), floats_at(memory, FLOAT4, domain))
    assert run.difference(memory) == min(INPUT + 0x800 + np.flatnonzero(
        run.memory.bytes[INPUT + 0x800 :][:0x400] != memory.bytes[INPUT + 0x800 :][:0x400]
    ))  # fmt: skip
    assert run.difference(run.memory) is None


def test_uncached_writes_reach_output_0() -> None:
    launch = launch_of(filled(), targets=outputs(format=DataFormat.FLOAT32_1), uncached_writes=True)
    domain = Domain(i0=0, j0=0, i1=7, j1=3)
    run = simulation().run(launch, wavefronts_of(domain, 4), timing=ROUGH, max_cycles=10_000)
    expected = ~floats_at(launch.memory, FLOAT4, domain)[0]
    assert np.array_equal(floats_at(run.memory, launch.outputs[0], domain)[0], expected)
    hidden = launch_of(filled(), uncached_writes=True, mask=(False, True, True, True))
    run = simulation().run(hidden, wavefronts_of(domain, 4), timing=ROUGH, max_cycles=10_000)
    assert not floats_at(run.memory, hidden.outputs[0], domain)[0].any()


def test_fetches_with_errors_return_errors_and_writes_with_errors_are_dropped() -> None:
    memory = filled()
    memory.respond_with_errors(INPUT + 16 * 5, INPUT + 16 * 5 + 1)
    memory.respond_with_errors(OUTPUT + 16 * 16 + 3, OUTPUT + 16 * 16 + 5)
    memory.respond_with_errors(OUTPUT + 16 * 22, OUTPUT + 16 * 23)
    domain = Domain(i0=0, j0=0, i1=7, j1=1)
    run = simulation().run(launch_of(memory), wavefronts_of(domain, 4), timing=QUICK, max_cycles=10_000)
    assert fault_set(run) == {(4, 0)}
    assert (run.faults[0].status, run.faults[0].client, run.faults[0].pc) == (Status.BUS_ERROR, BusClient.INPUT, 3)
    assert run.memory.lost == (BusClient.OUTPUT, OUTPUT + 16 * 16)
    found, expected = floats_at(run.memory, outputs()[0], domain), floats_at(memory, FLOAT4, domain)
    expected[:, [4, 5, 8, 12, 13, 14]] = 0
    assert np.array_equal(found, expected)


def test_a_lane_that_does_not_fetch_gets_a_poison_and_cannot_fail() -> None:
    memory = filled()
    memory.respond_with_errors(INPUT, INPUT + 16)
    domain = Domain(i0=1, j0=0, i1=1, j1=0)
    run = simulation().run(launch_of(memory), wavefronts_of(domain, 4), timing=QUICK, max_cycles=10_000, trace=True)
    assert not run.faults
    words = run.events("fetch")["words"]
    assert words.shape == (1, 4, 4)
    assert set(words[0, [0, 2, 3]].ravel()) == {0x7FBADBAD}
    assert np.array_equal(words[0, 1], floats_at(memory, FLOAT4, domain)[:, 0])


def test_constants_with_errors_are_poison() -> None:
    memory = filled()
    memory.respond_with_errors(FLOATS + 16, FLOATS + 17)
    domain = Domain(i0=0, j0=0, i1=0, j1=0)
    run = simulation().run(launch_of(memory), wavefronts_of(domain, 4), timing=QUICK, max_cycles=10_000)
    assert floats_at(run.memory, outputs()[1], domain)[2, 0] == 0x7FBADBAD


@pytest.mark.parametrize("timing", [QUICK, ROUGH])
def test_traces_are_arrays_by_field(timing: Timing) -> None:
    domain = Domain(i0=2, j0=0, i1=9, j1=3)
    launch = launch_of(filled())
    run = simulation().run(launch, wavefronts_of(domain, 4), timing=timing, max_cycles=10_000, trace=True)
    starts, fetches, flows = run.events("start"), run.events("fetch"), run.events("flow")
    assert list(starts["wavefront"]["i"]) == [2, 4, 6, 8] * 2
    assert list(starts["wavefront"]["j"]) == [0] * 4 + [2] * 4
    assert starts["cycle"][0] < (1 if timing is QUICK else 50)
    assert (np.diff(starts["cycle"].astype(np.int64)) > 8).all()
    assert (fetches["cycle"] > starts["cycle"]).all()
    assert list(fetches["context"]) == [1, 2, 3, 4] * 2
    pairs = floats_at(launch.memory, FLOAT4, domain).reshape(4, 2, 2, 4, 2).transpose(1, 3, 2, 4, 0)
    assert np.array_equal(fetches["words"], pairs.reshape(8, 4, 4))
    assert (fetches["words"].dtype, flows["state"]["frames"]["iterations"].shape) == (np.uint32, (8, 4))
    assert set(flows["state"]["frames"]["iterations"][:, 2]) == {0xA5}
    assert len(run.events("alu")["cycle"]) == 0
    with pytest.raises(ValueError, match="without trace"):
        simulation().run(launch, [], timing=timing, max_cycles=100).events("alu")


def test_each_run_invalidates_the_program_once() -> None:
    domain = Domain(i0=0, j0=0, i1=0, j1=0)
    runs = [
        simulation().run(launch_of(filled()), wavefronts_of(domain, 4), timing=ROUGH, max_cycles=10_000, trace=True)
        for _ in range(2)
    ]
    first, second = (int(run.events("flow")["pc"][0]) for run in runs)
    assert second == first + 1


def test_a_seed_decides_all_of_the_timing() -> None:
    domain = Domain(i0=0, j0=0, i1=15, j1=7)
    cycles = [
        simulation()
        .run(launch_of(filled()), wavefronts_of(domain, 4), timing=replace(ROUGH, seed=seed), max_cycles=99_999)
        .cycles
        for seed in (1, 2, 1)
    ]
    assert cycles[0] == cycles[2] != cycles[1]


def test_latency_is_what_it_says() -> None:
    domain = Domain(i0=0, j0=0, i1=0, j1=0)
    one, ten = (
        simulation().run(
            launch_of(filled()), wavefronts_of(domain, 4), timing=Timing(latency=latency), max_cycles=999
        ).cycles
        for latency in (1, 10)
    )  # fmt: skip
    # An instruction, a line, a fetch and a test, one after the other.
    assert ten - one == 4 * 9


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (Mistake.DROPS_VALID, r"cycle \d+: output: valid fell before ready"),
        (Mistake.CHANGES_PAYLOAD, r"cycle \d+: output: the payload changed before ready"),
        (Mistake.FETCHES_BEYOND, r"cycle \d+: code_request: instruction 100 of a program of 1"),
        (Mistake.IDLE_TOO_EARLY, r"cycle \d+: idle: it is high while .*1 uncached write responses outstanding"),
    ],
)
def test_a_core_that_breaks_a_rule_is_noticed(mistake: Mistake, message: str) -> None:
    core = simulation()
    launch = launch_of(filled(), uncached_writes=True, mistake=mistake)
    wavefronts = list(wavefronts_of(Domain(i0=0, j0=0, i1=7, j1=7), 4))
    timing = replace(ROUGH, latency=200)
    for _ in range(2):
        with pytest.raises(ProtocolError, match=message):
            core.run(launch, wavefronts, timing=timing, max_cycles=100_000)


def test_fetches_outside_the_limits_break_a_rule() -> None:
    launch = launch_of(filled(), source=replace(FLOAT4, pitch=4))
    with pytest.raises(ProtocolError, match=r"fetches_request: lane 0 requests \(4, 0\), which input 0 does not have"):
        simulation().run(launch, wavefronts_of(Domain(i0=4, j0=0, i1=4, j1=0), 4), timing=QUICK, max_cycles=1000)


def test_a_run_that_takes_too_long_says_what_is_outstanding() -> None:
    wavefronts = list(wavefronts_of(Domain(i0=0, j0=0, i1=7, j1=1), 4))
    with pytest.raises(
        TimeoutError, match="cycle 100: 1 of 4 wavefronts taken, 1 instruction responses outstanding, idle is low"
    ):
        simulation().run(launch_of(filled()), wavefronts, timing=Timing(latency=1000), max_cycles=100)
    never = launch_of(filled(), mistake=Mistake.NEVER_IDLE)
    with pytest.raises(TimeoutError, match="cycle 1000: 4 of 4 wavefronts taken, idle is low"):
        simulation().run(never, wavefronts, timing=QUICK, max_cycles=1000)
    assert simulation().run(launch_of(filled()), wavefronts, timing=QUICK, max_cycles=10_000).issued == (4, 4, 4)


@pytest.mark.long
def test_a_run_begins_when_the_core_is_idle() -> None:
    wavefronts = list(wavefronts_of(Domain(i0=0, j0=0, i1=7, j1=1), 4))
    with pytest.raises(TimeoutError, match="cycle 50: 0 of 4 wavefronts taken, idle is low"):
        simulation(4, Mistake.NEVER_IDLE).run(launch_of(filled()), wavefronts, timing=QUICK, max_cycles=50)


def test_timing_and_launch_are_checked() -> None:
    for wrong in ({"latency": 0}, {"jitter": -1}, {"stall": 1.0}, {"stall": -0.1}):
        with pytest.raises(ValueError, match="latency|stall"):
            Timing(**wrong)
    with pytest.raises(ValueError, match="the launch has 8 lanes, the core 4"):
        simulation().run(launch_of(filled(), lanes=8), [], timing=QUICK, max_cycles=1)
