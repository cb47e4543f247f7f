"""Cocotb tests of the command processor alone: random command streams, wrong ones, programs that fault."""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import cocotb
import numpy as np

from ctm.rtl.isa.conditional import ConditionalTest
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.memory import Memory
from ctm.sim.runtime import CommandBuffer
from ctm.tb.cosim.bench import LIMIT, Clocked
from ctm.tb.cosim.choice import IS_LONG, PAUSES, seeds, with_pauses
from ctm.tb.cosim.configuration import SMALL
from ctm.tb.cosim.processor_surroundings import Surroundings
from ctm.tb.cosim.processor_top import Mistake
from ctm.tb.pe.checking import difference
from ctm.tb.pe.images import put_small
from ctm.tb.pe.reference import expected, first_faults, normalised
from ctm.tb.pe.simulation import Event, Fault, Timing, Work
from ctm.tb.pe.streams import LINE, random_case

_LANES = SMALL.array.lanes
_PROGRAM, _BUFFERS, _COUNTERS = 0x10000, 0x2000_0000, 0x4000_0000
_STEP = 1024
"""Bytes from buffer to buffer."""
_FAR = Timing(latency=5, jitter=10, hold=20, delay=2, seed=1)
_WRONG_BITS = (0, 9, 26)
_FAULTING = 6
_SOME_PAUSES = PAUSES[:2] if IS_LONG else [0.3]


async def _check(dut: Any, work: Work, timing: Timing) -> list[Event]:
    """Run some work and compare all events with the golden command processor's, in order."""
    bench = Clocked(dut)
    dut.mistake.value = Mistake[os.environ.get("MISTAKE", "NONE")].value
    surroundings = Surroundings(dut, work, timing, lanes=_LANES)
    await bench.start()
    events = await surroundings.run()
    found, wanted = normalised(events, work.memory), expected(work, SMALL.array, first_faults(events))
    assert found == wanted, difference(found, wanted)
    return events


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize((("seed", "pauses"), with_pauses(seeds(8))))
async def random_streams(dut: Any, seed: int, pauses: float) -> None:
    case = random_case(seed)
    await _check(dut, case.work, replace(case.timing, stall=pauses))


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=_SOME_PAUSES)
async def a_stream_that_is_wrong_at_each_word(dut: Any, pauses: float) -> None:
    """It ends after each word, each word has a wrong bit, or memory fails from each word on: one buffer each."""
    words = _stream().words
    ends = [words[:count] for count in range(len(words) + 1)]
    corrupted = [
        [*words[:index], words[index] ^ 1 << bit, *words[index + 1 :]]
        for index in range(len(words))
        for bit in _WRONG_BITS
    ]
    memory = Memory()
    buffers: list[tuple[int, int]] = []
    error_lines = []
    put_small(memory, _PROGRAM)
    for buffer in ends + corrupted:
        buffers.append((_BUFFERS + _STEP * len(buffers), len(buffer)))
        memory.write(buffers[-1][0], np.array(buffer, "<u4").tobytes())
    for index in range(len(words)):
        first = _BUFFERS + _STEP * (len(buffers) + 1)
        buffers.append((first - 4 * index, len(words)))
        memory.write(buffers[-1][0], np.array(words, "<u4").tobytes())
        error_lines.append((first // LINE, (first + 4 * len(words)) // LINE + 1))
    for low, end in error_lines:
        memory.respond_with_errors(LINE * low, min(LINE * end, ADDRESS_SPACE))
    events = await _check(
        dut, Work(memory=memory, buffers=buffers, error_lines=error_lines), replace(_FAR, stall=pauses)
    )
    statuses = Counter(Status(values[0]) for kind, values in events if kind == "error")
    assert statuses[Status.BUS_ERROR] == len(words)
    for status in (Status.TRUNCATED, Status.BAD_COMMAND, Status.BAD_PARAMETER, Status.BAD_EXECUTABLE):
        assert statuses[status], f"no buffer ended with {status.name}"


@cocotb.test(timeout_time=LIMIT, timeout_unit="ns")
@cocotb.parametrize(pauses=_SOME_PAUSES)
async def programs_that_fault(dut: Any, pauses: float) -> None:
    """Each faults twice; commands after it are not executed, which the next buffer tests."""
    first = CommandBuffer().set_cond_val(3.0).init_perf_counters(enable=True)
    first.set_inst_fmt(_PROGRAM).set_domain(0, 0, 9, 5).start_program()
    first.set_cond_val(9.0).set_domain(0, 0, 20, 20).init_perf_counters(enable=False)
    again = CommandBuffer().start_program().wait_for_idle().read_perf_counters(_COUNTERS)
    memory = Memory()
    buffers: list[tuple[int, int]] = []
    faults = []
    put_small(memory, _PROGRAM)
    for number in range(_FAULTING):
        for buffer in (first, again):
            buffers.append((_BUFFERS + _STEP * len(buffers), len(buffer.words)))
            memory.write(buffers[-1][0], bytes(buffer))
        for status, wavefront in ((Status.STACK, number), (Status.BUS_ERROR, number + 7)):
            index = {"pc": 10 * number + wavefront, "i": wavefront, "j": number, "address": 64 * number}
            fault = Fault(
                program=2 * number, wavefront=wavefront, status=status.value, client=BusClient.INPUT.value, **index
            )
            faults.append(fault)
    work = Work(memory=memory, buffers=buffers, faults=faults)
    events = await _check(dut, work, replace(_FAR, stall=pauses))
    assert Counter(kind for kind, _ in events)["error"] == _FAULTING


def _stream() -> CommandBuffer:
    """A short stream with commands of the processor itself and of both units."""
    stream = CommandBuffer().init_perf_counters(enable=True).set_inst_fmt(_PROGRAM).set_domain(2, 1, 7, 4)
    stream.set_out_fmt(1, 0x8000, 0x0200_0002, 8).set_cond_val(0.5).start_program()
    return stream.set_cond_test(ConditionalTest.LESS).flush_out_cache().wait_for_idle().read_perf_counters(_COUNTERS)
