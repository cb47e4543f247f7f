"""Engine `auto`: golden bits whichever engine runs a group, and compiled code where it ends sooner."""

from collections.abc import Iterator
from itertools import repeat
from types import SimpleNamespace

import numpy as np
import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.engines.fast.choice import auto, patience
from ctm.sim.engines.fast.engine import AutoEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.fast.comparison import Task
from ctm.tb.fast.tasks import (
    COPY,
    ENDLESS,
    FAULTS,
    LARGE,
    OUTPUT,
    READS_BACK,
    STORE_POSITION,
    SUM,
    TANGLED,
    WRITES_PAST_THE_CACHES,
    Made,
)
from ctm.tb.r5xx.statements import add
from ctm.tb.system.memories import first_difference

SMALL = (1, 1, 40, 9)
BACK = CommandBuffer().set_inp_fmt(0, *Made(program=SUM).words(OUTPUT))
GREATER = CommandBuffer().set_cond_out_fmt(*Made(program=SUM).words(0x300_0000)).set_cond_loc(ConditionalLocation.DPP)
GREATER.set_cond_test(ConditionalTest.GREATER).set_cond_val(1.0).set_cond_out_mask(enable=True)
ONCE = {
    "reads what others write": Made(program=READS_BACK, floats=(-8.0, 0.5), before=BACK),
    "writes past the caches": Made(
        program=WRITES_PAST_THE_CACHES, floats=(-8.0, 0.5), before=BACK, information={"uncached_writes": True}
    ),
    "tests what it stored": Made(program=SUM, before=GREATER),
}  # fmt: skip
"""Programs that do something else when they run once more."""


def clock(monkeypatch: pytest.MonkeyPatch, seconds: Iterator[float]) -> None:
    """Let each segment that the golden model runs take so long."""
    now = [0.0]

    def perf_counter() -> float:
        # It is read before and after each segment.
        now.append(now[-1] + (next(seconds) if len(now) % 2 == 0 else 0.0))
        return now[-1]

    monkeypatch.setattr(auto, "time", SimpleNamespace(perf_counter=perf_counter))
    impatient_after(monkeypatch, None)


def impatient_after(monkeypatch: pytest.MonkeyPatch, instructions: int | None) -> None:
    """Let groups take longer than they may when this many instructions were executed in all, None for never."""
    count = 0

    def perf_counter() -> float:
        # It is read before each segment, too.
        nonlocal count
        count += 1
        return 0.0 if instructions is None else 1e6 * max(0, count - instructions)

    monkeypatch.setattr(patience, "time", SimpleNamespace(perf_counter=perf_counter))


def slow_from(segment: int) -> Iterator[float]:
    """The golden model takes no time for the segments before this one, and long from it on."""
    yield from repeat(0.0, segment)
    yield from repeat(1000.0)


def check(task: Task) -> AutoEngine:
    """Run on both engines; memory, counts and errors are equal."""
    engine, golden = AutoEngine(task.config, watchdog=task.watchdog), GoldenEngine(task.config, watchdog=task.watchdog)
    assert task.on(engine) == task.on(golden)
    assert first_difference(engine.memory, golden.memory, ignored=set()) is None
    assert engine.report() == golden.report()
    assert engine.remarks == []
    return engine


@pytest.mark.parametrize("segment", [0, 1, 2, 4, 7])
def test_wherever_it_changes_over_the_bits_are_golden(segment: int, monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, slow_from(segment))
    assert check(Made(program=SUM).task(LARGE)).ran == "fast"


def test_a_program_that_is_not_slow_runs_on_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, repeat(0.0))
    assert check(Made(program=SUM).task(LARGE)).ran == "golden"


def test_an_output_that_is_the_input_is_read_as_it_was_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by those groups that run compiled after others wrote."""
    clock(monkeypatch, slow_from(2))
    before = CommandBuffer().set_inp_fmt(0, *Made(program=COPY).words(0x100_0000))
    program = [add(2, temporary=0), *COPY]
    made = Made(program=program, floats=(1.5, 0.0, -2.0), before=before)
    assert check(made.task(LARGE, LARGE)).ran == "fast"


@pytest.mark.parametrize("segment", [0, 3, 5])
@pytest.mark.parametrize(("column", "row"), [(5.0, 4000.0), (4000.0, 200.0), (301.0, 2.0), (517.0, 258.0)])
def test_faults_on_either_side_of_the_change(
    segment: int, column: float, row: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, slow_from(segment))
    assert check(Made(program=FAULTS, floats=(column, row)).task(LARGE)).ran == "fast"


def test_a_program_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, slow_from(1))
    check(Made(program=ENDLESS).task(LARGE))


@pytest.mark.parametrize("instructions", [1, 5, 12, 40, 70])
def test_groups_that_take_too_long_are_given_up(instructions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bits, counts and errors are golden, whatever those did that had run."""
    clock(monkeypatch, repeat(0.0))
    impatient_after(monkeypatch, instructions)
    assert check(Made(program=SUM).task(LARGE)).ran == "fast"
    impatient_after(monkeypatch, instructions)
    before = CommandBuffer().set_inp_fmt(0, *Made(program=COPY).words(0x100_0000))
    made = Made(program=[add(2, temporary=0), *COPY], floats=(1.5, 0.0, -2.0), before=before)
    assert check(made.task(LARGE, LARGE)).ran == "fast"
    impatient_after(monkeypatch, instructions)
    assert check(Made(program=FAULTS, floats=(301.0, 2.0)).task(LARGE)).ran == "fast"


def test_groups_are_given_up_for_what_cannot_be_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, repeat(0.0))
    impatient_after(monkeypatch, 9)
    assert check(Made(program=TANGLED, watchdog=100).task((0, 0, 99, 99))).ran == "golden"


@pytest.mark.parametrize("instructions", [1, 5, 12, 40])
@pytest.mark.parametrize("name", ONCE)
def test_groups_that_cannot_run_again_are_not_given_up(
    name: str, instructions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, repeat(0.0))
    impatient_after(monkeypatch, instructions)
    assert check(ONCE[name].task(LARGE)).ran == "golden"


def test_many_runs_of_the_same_program_are_compiled_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them is worth it, but all together are."""
    clock(monkeypatch, repeat(0.01))
    few, many = (Made(program=SUM).task(*[SMALL] * count) for count in (5, 60))
    assert check(few).ran == "golden"
    assert check(many).ran == "fast"


@pytest.mark.parametrize(("starts", "expected"), [(2, "golden"), (1000, "fast")])
def test_a_program_that_will_be_started_often_is_compiled_soon(
    starts: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, repeat(0.01))
    task = Made(program=SUM).task(SMALL, SMALL)
    engine = AutoEngine(task.config, watchdog=task.watchdog)
    engine.expect(starts)
    task.on(engine)
    assert engine.ran == expected


def test_runs_of_other_programs_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, repeat(0.01))
    engine = AutoEngine(Made(program=SUM).task(SMALL).config)
    for number in range(60):
        Made(program=[*[add(0)] * number, *STORE_POSITION]).task(SMALL).on(engine)
    assert engine.ran == "golden"


def test_a_program_that_cannot_be_compiled_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    clock(monkeypatch, slow_from(2))
    assert check(Made(program=TANGLED, watchdog=100).task((0, 0, 99, 99))).ran == "golden"


def run(engine: str, side: int) -> tuple[str, np.ndarray]:
    """What ran a program on a device of this engine, by the true clock, and its output."""
    device = Device(engine)
    layout = Layout(width=side, height=side, format=DataFormat.FLOAT32_1)
    output = device.image(layout)
    program = Made(program=SUM, size=(side, side)).executable
    bases = [device.place(data) for data in Made(program=SUM).constants]
    commands = CommandBuffer().set_inst_fmt(device.place(program))
    commands.set_constf_fmt(bases[0]).set_consti_fmt(bases[1])
    commands.set_out_fmt(0, output.base, layout.format_word, layout.height).set_domain(0, 0, side - 1, side - 1)
    device.run(commands.start_program().flush_out_cache())
    return device.ran, output.read()


@pytest.mark.parametrize(("side", "expected"), [(8, "golden"), (1200, "fast")])
def test_a_device_by_the_true_clock(side: int, expected: str) -> None:
    ran, found = run("auto", side)
    assert ran == expected
    assert found.tobytes() == run("fast", side)[1].tobytes()
