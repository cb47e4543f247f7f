"""The R700 core as RTL: compiled programs on the whole machine, word for word as the golden model, and rare cases."""

from collections.abc import Callable

import numpy as np
import pytest

from ctm.rtl.config import R700
from ctm.sim.report.r700_workloads import mandelbrot, sha256
from ctm.sim.report.workloads import Workload, prepare
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import some
from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.hardware.machine import MEMORIES, compare, engine
from ctm.tb.r700.machine import Input, Job, run_golden, run_on
from ctm.tb.r700.shaders import FILES, Shader, run
from ctm.tb.r700.words import export, group, share_read, slot, tex, vtx

_ROUNDS, _MOST_FOR_A_JUMP = 200, 8
_INTERVAL, _BUSY = 4, 0.95
"""Cycles of an interval, and the share of intervals in which a group is issued."""


@pytest.mark.parametrize("name", some(list(FILES), 8))
def test_compiled_programs(name: str) -> None:
    shader = Shader.load(name)
    for one, two in zip(run(shader).bits, run(shader, engine="rtl", config=machine("r700")).bits, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_fetch_faults_after_fetches_that_are_in_flight() -> None:
    a = Assembly()
    a.fetch(tex("LD", 1, 0), tex("LD", 2, 0), tex("FETCH4", 3, 0))
    a.end()
    picture = Input(values=np.arange(64, dtype=np.float32).reshape(4, 4, 4))
    found = compare(Job(program=a.executable(), inputs={0: picture}))
    assert found.fault is not None and found.fault[0] == "ILLEGAL_INSTRUCTION"


def test_an_instruction_without_effect_does_not_end_its_clause() -> None:
    a = Assembly()
    a.alu(group(slot("MOV", "R1.x", "0"), slot("MOV", "R1.y", "0")))
    a.fetch(tex("SET_GRADIENTS_H", 2, 0), *(tex("LD", number, 1) for number in range(2, 10)))
    a.raw(export(0, 9))
    a.end()
    picture = Input(values=np.arange(1, 65, dtype=np.float32).reshape(4, 4, 4))
    assert compare(Job(program=a.executable(), inputs={0: picture})).error is None


def test_a_missing_input_is_read_after_fetches() -> None:
    """Its zeros, which need no memory, stay in the register, though an earlier response comes later."""
    a = Assembly()
    a.fetch(tex("LD", 1, 0), tex("LD", 1, 0, 1), tex("LD", 2, 0), vtx(2, 0, 1))
    a.raw(export(0, 1))
    a.raw(export(1, 2))
    a.end()
    picture = Input(values=np.arange(1, 65, dtype=np.float32).reshape(4, 4, 4))
    found = compare(Job(program=a.executable(), inputs={0: picture}, targets=2), engine(*MEMORIES[-1]))
    assert found.error is None and not found.outputs.any()


def test_a_burst_of_the_data_share_is_read_after_fetches() -> None:
    """Its zeros stay in all of its registers."""
    a = Assembly()
    a.fetch(tex("LD", 2, 0), share_read(1, 0, burst_count=1))
    a.raw(export(0, 2))
    a.end()
    picture = Input(values=np.arange(1, 65, dtype=np.float32).reshape(4, 4, 4))
    found = compare(Job(program=a.executable(), inputs={0: picture}), engine(*MEMORIES[-1]))
    assert found.error is None and not found.outputs.any()


def test_a_burst_counts_beyond_the_last_register() -> None:
    """Registers 124 to 127 are clause temporaries, the last registers."""
    a = Assembly()
    a.alu(*(group(slot("MOV", f"T{number}.x", f"#{number + 1}")) for number in range(4)))
    a.raw(export(0, 126, burst_count=3))
    a.end()
    found = compare(Job(program=a.executable(), targets=4))
    assert found.outputs[:, 0, 0, 0].tolist() == [3, 4, 0, 0]


def _cycles_of_jumps(count: int) -> int:
    """Of so many jumps to the next word, in each of many rounds of a loop."""
    a = Assembly()
    loop = a.flow("LOOP_START", to=count + 2, const=0)
    for _ in range(count):
        a.flow("JUMP", to=a.here + 1)
    a.flow("LOOP_END", to=loop + 1)
    a.end()
    on = engine()
    before = on.report().cycles or 0
    assert compare(Job(program=a.executable(), ints={0: (_ROUNDS, 0, 0)}), on).error is None
    return (on.report().cycles or 0) - before


def test_a_jump_takes_few_cycles() -> None:
    """With a single wavefront, from word to word, in code that is in the cache."""
    assert _cycles_of_jumps(24) - _cycles_of_jumps(8) <= _MOST_FOR_A_JUMP * 16 * _ROUNDS


def _relative_reads(*indices: str) -> Job:
    """Channels of R0 from the same port, relative to indices 0, 1 and 2, and constants alike."""
    a = Assembly()
    numbers = [group(slot("MOV", f"R{number}.y", f"#{number + 5}")) for number in range(3)]
    sets = group(*(slot("MOVA_INT", f"_.{c}", value) for c, value in zip("xyz", ("0", "1i", "#2"), strict=True)))
    reads = [slot("MOV", f"R9.{c}", "R0+.y", index=index, swizzle=0) for c, index in zip("xyz", indices, strict=False)]
    a.alu(*numbers, sets, group(*reads))
    a.raw(export(0, 9))
    a.end()
    return Job(program=a.executable())


def test_registers_at_one_port_relative_to_different_indices() -> None:
    """One of them is read in another cycle. A third one is not."""
    found = compare(_relative_reads("AR_X", "AR_Z"))
    assert found.error is None
    assert found.outputs[0, 0, 0, :2].tolist() == [5, 7]
    job = _relative_reads("AR_X", "AR_Y", "AR_Z")
    assert run_golden(job).error is None
    on = engine()
    on.begin(job.watchdog)
    fault = run_on(job, on).fault
    assert fault is not None and fault[0] == "ILLEGAL_INSTRUCTION"


@pytest.mark.long
@pytest.mark.parametrize(("make", "side"), [(mandelbrot, 64), (sha256, 32)])
def test_the_lanes_are_busy(make: Callable[[int], Workload], side: int) -> None:
    prepared = prepare(make(side), "rtl", R700)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    report = prepared.device.report()
    assert report.cycles is not None
    assert _INTERVAL * report.counters["issued_alu"] > _BUSY * report.cycles
