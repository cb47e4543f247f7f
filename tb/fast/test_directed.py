"""Small programs of which each looks at one thing that random ones seldom meet."""

from pathlib import Path

import pytest

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.r5xx.opcodes import RgbOperation, Swizzle, UmrtTarget, ZeroTest
from ctm.rtl.isa.r5xx.program import US_CONFIG
from ctm.rtl.isa.word import pack
from ctm.sim.engines.fast.host import Host
from ctm.sim.fault import MachineError
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.tb.fast.comparison import check
from ctm.tb.fast.tasks import STORE_POSITION, SUM, Made
from ctm.tb.r5xx.machine import alu, move
from ctm.tb.r5xx.statements import (
    ALU,
    NOT_ALU,
    POP,
    add,
    begin_if,
    begin_loop,
    compare,
    end_if,
    end_loop,
    jump,
    leave,
    otherwise,
)
from ctm.tb.system.memories import first_difference

COMPACTION = Path(__file__).parents[2] / "examples" / "r700" / "compaction" / "compaction.toml"
INFINITY = float("inf")
DOMAIN = (1, 1, 61, 12)
RESULT = move(0, 1, output=0)
MULTIPLY = alu(
    rgb={
        "addr0": 1, "addr1": 0, "addr1_const": 1, "sel_b": 1, "rgb_op": RgbOperation.MAD.value, "rgb_addrd": 1,
        "red_swiz_c": Swizzle.ZERO.value,
    },
    rgb_wmask=1,
)  # fmt: skip
"""r1.r is c0.r times as much."""
NESTED = [
    compare(1, ZeroTest.LESS), begin_if(6, ALU), compare(2, ZeroTest.LESS, channel=1), begin_if(6, ALU), add(0),
    end_if(2), add(2), RESULT,
]  # fmt: skip
ELSE = [compare(1, ZeroTest.LESS), begin_if(4, ALU, has_else=True), add(0), otherwise(6), add(2), end_if(), RESULT]
TWO_ENDS = [
    begin_loop(7), add(0), compare(1, ZeroTest.LESS), jump(5, ALU, jump_any=1), end_loop(1), add(2), end_loop(1),
    RESULT,
]  # fmt: skip
"""Groups on both sides of a column go round by different ends, and those that wait at the second are overtaken."""
OUT_OF_A_LOOP = [
    begin_loop(5), add(0), compare(1, ZeroTest.LESS), jump(5, ALU, jump_any=1), end_loop(1), begin_loop(8), add(2),
    end_loop(6), RESULT,
]  # fmt: skip
"""Some groups jump over the loop's end, and are one loop deeper from then on."""
INNER_BREAKS = [
    begin_loop(18), begin_loop(6), add(0), compare(1, ZeroTest.LESS), leave(6, 0, function=ALU), end_loop(2),
    compare(1, ZeroTest.LESS), begin_if(10, ALU, has_else=True), add(2), otherwise(12), add(0), end_if(),
    begin_loop(17), add(2), compare(1, ZeroTest.LESS), leave(17, 0, function=NOT_ALU), end_loop(13), end_loop(1),
    RESULT,
]  # fmt: skip
"""Lanes that break out of an inner loop are active in the next branch and in the next loop, which others leave."""
INACTIVE = [
    compare(1, ZeroTest.LESS), begin_if(4, ALU), add(0), add(2, temporary=2, write_inactive=1), end_if(),
    move(1, 2, rgb_wmask=2), add(0, temporary=2), RESULT,
]  # fmt: skip
LAST_RETURN = [compare(1, ZeroTest.LESS), jump(0, ALU, jump_any=1, a_op=POP, last=1), add(0), RESULT]
"""A return without a call at which groups would end early."""
_POSITION = {f"{color}_swiz_{name}": swizzle for color, swizzle in (("green", 0), ("blue", 1)) for name in "ab"}
WRITES = [
    alu(rgb={"rgb_op": RgbOperation.MIN.value, "rgb_addrd": 2, **_POSITION}, rgb_wmask=7),
    move(0, 2, output=UmrtTarget.PER_PROCESSOR_IDX.value), add(0, temporary=2),
    move(0, 2, output=UmrtTarget.PER_PROCESSOR_IDX.value),
]  # fmt: skip
"""Each pixel writes to its own address twice, past the caches."""
PROGRAMS = {
    "the machine's NaN, which is not the host's": Made(program=SUM, floats=(INFINITY, 40.0, -INFINITY)),
    "zero times infinity": Made(program=[MULTIPLY, RESULT], floats=(INFINITY,)),
    "zero times infinity, by the rule": Made(
        program=[MULTIPLY, RESULT],
        floats=(INFINITY,),
        information={"us_config": pack(US_CONFIG, zero_times_anything=1)},
    ),
    "registers by aL": Made(program=[begin_loop(3), add(0, relative=True), end_loop(1), move(0, 3, output=0)]),
    "branches that end together": Made(program=NESTED, floats=(1.5, 29.0, 7.0)),
    "the other branch": Made(program=ELSE, floats=(1.5, 29.0, 7.0)),
    "a loop with two ends": Made(program=TWO_ENDS, floats=(1.5, 29.0, 0.25)),
    "a jump out of a loop": Made(program=OUT_OF_A_LOOP, floats=(1.5, 29.0, 0.25)),
    "a BREAK out of an inner loop": Made(program=INNER_BREAKS, floats=(1.5, 29.0, 0.25)),
    "writes of the inactive": Made(program=[*INACTIVE[:-1], move(0, 2, output=0)], floats=(1.5, 29.0, 0.25)),
    "a fault where a group ends early": Made(program=LAST_RETURN, floats=(1.5, 29.0)),
    "pixels outside the domain": Made(program=STORE_POSITION),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_ends_as_on_golden(name: str) -> None:
    assert check(PROGRAMS[name].task(DOMAIN), Host.this(16)) == []


@pytest.mark.parametrize("watchdog", [1, 2, 3, 4, 5])
def test_uncached_writes_after_the_limit_are_not_made(watchdog: int) -> None:
    made = Made(program=WRITES, floats=(1.5, 29.0), watchdog=watchdog, information={"uncached_writes": True})
    assert check(made.task((1, 1, 30, 8)), Host.this(16)) == []


@pytest.mark.parametrize("watchdog", [20, 30])
def test_memory_exports_after_the_limit_are_not_made(watchdog: int) -> None:
    job = load_job(COMPACTION)
    memories = []
    for engine in ("golden", "fast"):
        execution = Execution(job, engine=engine, config=PRESETS["r700"], watchdog=watchdog)
        with pytest.raises(MachineError, match=f"a wavefront executed {watchdog} instructions"):
            execution.run()
        memories.append(execution.device.memory)
    assert first_difference(*memories, ignored=set()) is None
