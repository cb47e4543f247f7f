"""What is left to the golden model ends as there, and a remark says why."""

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.sim.engines.fast.engine import AutoEngine, FastEngine
from ctm.sim.engines.fast.host import Host
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer
from ctm.tb.fast.comparison import Task, check
from ctm.tb.fast.tasks import (
    COPY,
    LARGE,
    OTHER,
    OUTPUT,
    READS_BACK,
    STORE_POSITION,
    SUM,
    TANGLED,
    WRITES_PAST_THE_CACHES,
    Made,
    refusing,
)
from ctm.tb.r5xx.machine import move
from ctm.tb.r5xx.statements import add, fetch
from ctm.tb.system.memories import first_difference

SMALL = (1, 1, 60, 9)
REMARK = "engine 'fast' leaves a program to the golden model: "
BASE = Made(program=SUM)
TWO = replace(BASE, program=[move(0, 0, output=0), move(0, 1, output=1)])


def before(made: Made, change: Callable[[CommandBuffer], Any]) -> Made:
    buffer = CommandBuffer()
    change(buffer)
    return replace(made, before=buffer)


def moved(made: Made, distance: int) -> tuple[int, int, int]:
    """A buffer like output 0, but at another address."""
    return made.words(OUTPUT + distance)


def with_test(location: ConditionalLocation, test: ConditionalTest, distance: int) -> Made:
    def change(commands: CommandBuffer) -> None:
        commands.set_cond_out_fmt(*moved(BASE, distance)).set_cond_loc(location).set_cond_test(test)
        commands.append("set_cond_val", 0x3F80_0000)

    return before(BASE, change)


READS = before(
    replace(BASE, program=READS_BACK, floats=(-8.0, 0.5)), lambda commands: commands.set_inp_fmt(0, *BASE.words(OUTPUT))
)
LEFT: dict[str, tuple[Task, str]] = {
    "memory that responds with errors": (
        refusing(BASE.task(SMALL), 0x2000_0000, 0x2000_1000), "a range of memory responds with errors",
    ),
    "an input that cannot be read": (
        refusing(Made(program=COPY).task(SMALL), OTHER + 8192, OTHER + 8196), "a range of memory responds with errors",
    ),
    "outputs that overlap": (
        before(TWO, lambda commands: commands.set_out_fmt(1, *moved(TWO, 2048))).task(SMALL),
        "it writes two buffers that overlap",
    ),
    "an output in the conditional buffer": (
        with_test(ConditionalLocation.DPP, ConditionalTest.LESS, 2048).task(SMALL),
        "an output overlaps the conditional buffer",
    ),
    "an output in the conditional buffer of the command processor": (
        with_test(ConditionalLocation.PE, ConditionalTest.LESS, 0).task(SMALL),
        "an output overlaps the conditional buffer",
    ),
    "fetches past the caches in an output": (READS.task(SMALL), "it reads input 0, which it writes, past the caches"),
    "calls by too many paths": (
        Made(program=TANGLED, watchdog=5000).task((0, 0, 9, 3)), "calls lead to its code by too many paths",
    ),
}  # fmt: skip
COMPILED: dict[str, Task] = {
    "outputs that are the same": before(TWO, lambda commands: commands.set_out_fmt(1, *TWO.words(OUTPUT))).task(SMALL),
    "outputs side by side": before(TWO, lambda commands: commands.set_out_fmt(1, *moved(TWO, 1 << 20))).task(SMALL),
    "an output beside the conditional buffer": with_test(ConditionalLocation.DPP, ConditionalTest.LESS, 1 << 20).task(
        SMALL
    ),
    "an output in a conditional buffer that is not read": with_test(
        ConditionalLocation.DPP, ConditionalTest.ALWAYS, 0
    ).task(SMALL),
    "fetches past the caches in what is not written": replace(READS, before=None).task(SMALL),
    "fetches in an output through the caches": before(
        Made(program=[add(0, temporary=0), *COPY], floats=(-8.0,)),
        lambda commands: commands.set_inp_fmt(0, *BASE.words(OUTPUT)),
    ).task(LARGE),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_the_golden_model(name: str) -> None:
    task, reason = LEFT[name]
    assert check(task, Host.this(), threads=(1, 2)) == [REMARK + reason] * 2


@pytest.mark.parametrize("name", COMPILED)
def test_what_looks_like_it_but_is_compiled(name: str) -> None:
    assert check(COMPILED[name], Host.this(), threads=(1, 2)) == []


def test_engines_say_what_ran() -> None:
    task, _ = LEFT["outputs that overlap"]
    engine = FastEngine(task.config)
    assert engine.ran == "golden"
    task.on(engine)
    assert engine.ran == "golden"
    BASE.task(SMALL).on(engine)
    assert engine.ran == "fast"


def test_a_reason_is_said_once() -> None:
    task, reason = LEFT["outputs that overlap"]
    engine = FastEngine(task.config)
    for _ in range(3):
        task.on(engine)
    LEFT["calls by too many paths"][0].on(engine)
    assert engine.remarks == [REMARK + reason, REMARK + "calls lead to its code by too many paths"]


@pytest.mark.parametrize("kind", [FastEngine, AutoEngine])
def test_groups_that_read_what_others_write_find_what_they_find_on_golden(kind: type[FastEngine]) -> None:
    """Nothing promises them anything, but a domain of many batches ends the same."""
    task = before(
        Made(program=WRITES_PAST_THE_CACHES, floats=(-8.0, 0.5), information={"uncached_writes": True}),
        lambda commands: commands.set_inp_fmt(0, *BASE.words(OUTPUT)),
    ).task(LARGE)
    engine, golden = kind(task.config), GoldenEngine(task.config)
    assert task.on(engine) == task.on(golden) == [None]
    assert first_difference(engine.memory, golden.memory, ignored=set()) is None
    assert engine.report() == golden.report()


def test_with_hazards_the_golden_model_runs_everything() -> None:
    task = Made(program=[move(1, 0), fetch(destination=1, tex_sem_wait=0), *STORE_POSITION]).task(SMALL)
    for kind in (FastEngine, AutoEngine):
        engine = kind(task.config, hazards=True)
        assert task.on(engine) == task.on(GoldenEngine(task.config, hazards=True))
        assert engine.ran == "golden"
    assert FastEngine(task.config, hazards=True).remarks == [
        "engine 'fast' runs the golden model: only that watches for hazards"
    ]
    assert AutoEngine(task.config, hazards=True).remarks == []


def test_with_hazards_they_are_found() -> None:
    program = [fetch(destination=1, tex_sem_wait=0), move(0, 1, output=0, tex_sem_wait=0)]
    task = Made(program=program).task(SMALL)
    address, dwords = task.buffers[0]
    engine = FastEngine(task.config, hazards=True)
    for address, data in task.contents:
        engine.memory.write(address, data)
    with pytest.raises(MachineError, match="which a fetch has not delivered"):
        engine.execute(address, dwords)


@pytest.mark.parametrize("kind", [FastEngine, AutoEngine])
def test_with_a_trace_the_golden_model_writes_it(kind: type[FastEngine]) -> None:
    task = BASE.task((0, 0, 3, 1))
    traces = [StringIO(), StringIO()]
    engine = kind(task.config, trace=traces[0])
    assert task.on(engine) == task.on(GoldenEngine(task.config, trace=traces[1]))
    assert traces[0].getvalue() == traces[1].getvalue() != ""
    assert engine.ran == "golden"
