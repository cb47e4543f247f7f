"""Random work for the whole machine: compiled hardware and golden model agree in errors and in all of memory."""

from dataclasses import fields

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT, PRESETS, MachineConfig, PipelineConfig, with_settings
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.engines.model import Disturbance
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import fewer, some
from ctm.tb.soak.comparison import Comparison, Hardware, Outcome
from ctm.tb.soak.work import draw_work
from ctm.tb.system.memories import copy, first_difference, touched_pages

_RUNS, _LONG_RUNS = fewer(160), 10_000
_BATCH = 20
_QUEUED = range(20_000, 20_000 + fewer(30))
_OTHER: dict[str, dict[str, int | str]] = {
    "one port of 64 bits": {"memory.split": 1 << 32, "memory.data_bits": 64, "array.threads": 4},
    "eight lanes, two cores, two banks of each cache, two local ports of 256 bits, rows": {
        "array.lanes": 8,
        "array.cores": 2,
        "array.walk": "rows",
        "shared_cache.banks": 2,
        "output_cache.banks": 2,
        "memory.local_ports": 2,
        "memory.data_bits": 256,
    },
    "four cores of four slots, two banks, four of outputs, four local ports of 512 bits and no other": {
        "array.cores": 4,
        "array.threads": 4,
        "shared_cache.banks": 2,
        "output_cache.banks": 4,
        "memory.local_ports": 4,
        "memory.data_bits": 512,
        "memory.split": 1 << 32,
    },
    "one lane of four in a cycle, one port": {"array.rate": 1, "array.threads": 4, "memory.split": 1 << 32},
    "two cores, two lanes of eight in a cycle": {"array.cores": 2, "array.lanes": 8, "array.rate": 2},
    "hardly a register in the arithmetic": {
        f"{unit}.{step.name}": 0
        for unit in ("arithmetic", "presubtract")
        for step in fields(PipelineConfig)
        if (unit, step.name) != ("arithmetic", "product")
    },
}
_PROGRAM, _OUTPUT, _BUFFER = 0x1_0000, 0x2_0000, 0x3_0000


def check(seeds: range, config: MachineConfig) -> list[Outcome]:
    """Run the work of seeds; how buffers ended."""
    return [outcome for seed in seeds for outcome in Comparison(draw_work(seed), config).run()]


@pytest.mark.parametrize("first", some(range(0, _RUNS, _BATCH), 2))
def test_random_work_leaves_the_same_errors_and_the_same_memory(first: int) -> None:
    check(range(first, first + _BATCH), machine("r5xx"))


@pytest.mark.long
def test_much_random_work_reaches_every_error_and_every_client() -> None:
    outcomes = check(range(_RUNS, _LONG_RUNS), DEFAULT)
    elsewhere = {Status.HAZARD, Status.QUEUE_FULL, Status.RESET, Status.BAD_DRAW}
    assert {outcome.status for outcome in outcomes} == set(Status) - elsewhere
    assert {outcome.client for outcome in outcomes} == {None, *BusClient}


@pytest.mark.long
@pytest.mark.parametrize("settings", _OTHER.values(), ids=_OTHER.keys())
def test_other_machines_agree_too(settings: dict[str, int | str]) -> None:
    check(range(300), with_settings(DEFAULT, settings))


@pytest.mark.long
@pytest.mark.parametrize("preset", ["small", "compact"])
def test_small_machines_agree_too(preset: str) -> None:
    check(range(1000), PRESETS[preset])


def test_buffers_that_wait_in_the_queue_run_in_order() -> None:
    statuses = [status for seed in _QUEUED for status in Comparison(draw_work(seed), machine("r5xx")).run_queued()]
    assert len(set(statuses)) > 3


@pytest.mark.parametrize("number", [1, 2, 3])
def test_groups_fault_that_execute_a_line_of_code_with_an_error_response(number: int) -> None:
    """The model has a bus error of the whole program; what the machine does is told here."""
    hardware = Hardware(machine("r5xx"), watchdog=0, disturbance=Disturbance())
    image = write(assemble("ALU r1 = MOV(r0)\n" * 8 + "OUT o0 = MOV(r1)"))
    layout = Layout(width=8, height=2, format=DataFormat.FLOAT32_4)
    code = _PROGRAM + int.from_bytes(image[56:60], "little")
    hardware.memory.write(_PROGRAM, image)
    line = (code // 64 + number) * 64
    hardware.memory.respond_with_errors(line, line + 64)
    buffer = CommandBuffer().set_inst_fmt(_PROGRAM).set_out_fmt(0, _OUTPUT, layout.format_word, layout.height)
    buffer.set_domain(0, 0, 7, 1).start_program()
    hardware.memory.write(_BUFFER, bytes(buffer))
    hardware.limit(100_000)
    with pytest.raises(MachineError) as caught:
        hardware.execute(_BUFFER, len(buffer.words))
    error = caught.value
    assert (error.status, error.client, error.address) == (Status.BUS_ERROR, BusClient.INSTRUCTION, line)
    assert not Image(memory=hardware.memory, base=_OUTPUT, layout=layout).read().any()


def test_memories_are_compared_everywhere() -> None:
    work = draw_work(0)
    one, other = (Comparison(work, machine("r5xx")).model.memory for _ in range(2))
    assert first_difference(one, other, ignored=set()) is None
    for address in (0, 0x7FFF_FFFF, 0xFFFF_FFFF):
        one.bytes[address] ^= 1
        assert first_difference(one, other, ignored=set()) == address
        assert first_difference(one, other, ignored={address}) is None
        assert address // 4096 in touched_pages(one)
        copy(other, one)
        assert first_difference(one, other, ignored=set()) is None
    np.testing.assert_array_equal(one.bytes[:4096], other.bytes[:4096])
