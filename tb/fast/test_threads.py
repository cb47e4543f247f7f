"""Segments of the domain on threads: memory, counts and errors are those of the golden model."""

import time

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.sim.engines.fast import engine
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.fast.host import Host
from ctm.tb.fast.comparison import Task, check
from ctm.tb.fast.tasks import COPY, ENDLESS, FAULTS, LARGE, OUTPUT, STORE_POSITION, SUM, Domain, Made
from ctm.tb.r5xx.machine import move
from ctm.tb.r5xx.statements import ALU, add, begin_loop, compare, end_loop, jump

THREADS = (1, 2)
SHAPES: list[Domain] = [
    (0, 0, 0, 0), (511, 259, 511, 259), (7, 3, 7, 3), (0, 0, 519, 0), (1, 1, 519, 1), (5, 0, 5, 259), (2, 1, 3, 258),
    (0, 0, 4, 4), (3, 3, 14, 9), (9, 9, 8, 9), (17, 2, 130, 61), (300, 5, 519, 259),
]  # fmt: skip


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """So small that many threads have neighbouring ones, and that few groups fill one."""
    monkeypatch.setattr(engine, "SEGMENT_LANES", 64)


def test_one_large_domain() -> None:
    assert check(Made(program=SUM).task(LARGE), Host.this(), threads=THREADS) == []


@pytest.mark.parametrize("group", [4, 16])
def test_domains_of_all_shapes_in_small_segments(group: int, small_segments: None) -> None:
    assert check(Made(program=SUM, group=group).task(*SHAPES), Host.this(), threads=THREADS) == []


def test_many_small_programs_that_read_what_the_one_before_wrote(small_segments: None) -> None:
    generator = np.random.default_rng(1)
    corners = generator.integers(0, 60, (150, 2, 2))
    domains = [(*map(int, corner.min(axis=0)), *map(int, corner.max(axis=0))) for corner in corners]
    made = Made(program=COPY, size=(64, 64), contents=[(0x800_0000, generator.bytes(64 * 64 * 4))])
    assert check(made.task(*domains, changing=True), Host.this(), threads=THREADS) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("tiling", [Tiling.LINEAR, Tiling.TILED])
@pytest.mark.parametrize("data_format", [DataFormat.UINT16_1, DataFormat.UINT8_4, DataFormat.FLOAT32_4])
def test_elements_that_share_words_with_those_of_other_threads(
    data_format: DataFormat, tiling: Tiling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "SEGMENT_LANES", 16)
    made = Made(program=STORE_POSITION, format=data_format, tiling=tiling, size=(67, 49))
    domains: list[Domain] = [(1, 1, 65, 47), (0, 0, 66, 48), (2, 0, 33, 48)]
    assert check(made.task(*domains), Host.this(4), threads=(4,)) == []


def error(task: Task) -> str:
    """The error of a task's only buffer, which is that of the golden model."""
    assert check(task, Host.this(), threads=THREADS) == []
    (found,) = task.on(FastEngine(task.config, watchdog=task.watchdog))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("column", "row", "position"),
    [
        (301.0, 4000.0, "ILLEGAL_INSTRUCTION: RGB_OP is 6; at pc 5, wavefront of (i, j) = (300, 0)"),
        (301.0, 1.0, "STACK: a flow-control stack overflowed or underflowed; at pc 6, wavefront of (i, j) = (2, 0)"),
        (301.0, 2.0, "ILLEGAL_INSTRUCTION: RGB_OP is 6; at pc 5, wavefront of (i, j) = (300, 0)"),
        (
            4000.0,
            131.0,
            "STACK: a flow-control stack overflowed or underflowed; at pc 6, wavefront of (i, j) = (2, 130)",
        ),
        (517.0, 258.0, "ILLEGAL_INSTRUCTION: RGB_OP is 6; at pc 5, wavefront of (i, j) = (516, 0)"),
    ],
)
def test_of_several_groups_that_fault_the_first_is_reported(column: float, row: float, position: str) -> None:
    assert error(Made(program=FAULTS, floats=(column, row)).task(LARGE)).startswith(position)


def test_the_first_of_a_walk_by_tiles_is_another_one() -> None:
    found = error(Made(program=FAULTS, floats=(301.0, 2.0), walk="tiles").task(LARGE))
    assert "at pc 6, wavefront of (i, j) = (2, 2)" in found


def test_a_buffer_is_dropped_after_a_fault(small_segments: None) -> None:
    task = Made(program=FAULTS, floats=(30.0, 4000.0)).task((0, 0, 20, 20), (8, 5, 60, 30), (100, 100, 130, 130))
    assert "pc 5, wavefront of (i, j) = (30, 4)" in error(task)


@pytest.mark.parametrize("watchdog", [1, 7, 300, 1 << 24])
def test_a_program_without_an_end(watchdog: int) -> None:
    task = Made(program=ENDLESS, watchdog=watchdog).task(LARGE)
    message = f"WATCHDOG: a wavefront executed {watchdog} instructions; at pc 0, wavefront of (i, j) = (2, 0)"
    start = time.monotonic()
    assert error(task).startswith(message)
    assert time.monotonic() - start < 60


def test_some_groups_without_an_end_among_many_that_end() -> None:
    """The others' outputs are stored, and their counts are counted."""
    program = [compare(0, ZeroTest.EQUAL), jump(3, ALU, jump_any=1), jump(4), jump(3), *STORE_POSITION]
    message = f"WATCHDOG: a wavefront executed {1 << 24} instructions; at pc 3, wavefront of (i, j) = (300, 0)"
    assert error(Made(program=program, floats=(300.0,)).task(LARGE)).startswith(message)


@pytest.mark.parametrize(("watchdog", "at"), [(20, "(0, 0)"), (36, "(0, 0)"), (37, "(40, 0)"), (43, "(40, 0)")])
def test_groups_that_reach_the_limit_among_others_that_do_not(watchdog: int, at: str, small_segments: None) -> None:
    """The loop takes groups right of column 40 more instructions."""
    task = Made(program=SUM, watchdog=watchdog).task((1, 1, 90, 30))
    found = error(task)
    assert f"a wavefront executed {watchdog} instructions; at pc" in found
    assert f"wavefront of (i, j) = {at};" in found


def test_groups_that_take_just_what_they_may(small_segments: None) -> None:
    assert check(Made(program=SUM, watchdog=44).task((1, 1, 90, 30)), Host.this(), threads=THREADS) == []


def test_nothing_runs_on_after_an_exception() -> None:
    """As a signal raises one: in the middle of segments that take minutes."""
    rounds = [*(begin_loop(10 - depth) for depth in range(4)), add(0), add(0), *(end_loop(4 - at) for at in range(4))]
    task = Made(program=[*rounds, move(0, 1, output=0)], rounds=250).task(LARGE)

    def interrupt(_: int) -> None:
        raise InterruptedError

    fast = FastEngine(task.config, progress=interrupt, threads=2)
    start = time.monotonic()
    with pytest.raises(InterruptedError):
        task.on(fast)
    assert time.monotonic() - start < 20
    assert not fast.memory.bytes[OUTPUT : OUTPUT + (1 << 16)].any()
