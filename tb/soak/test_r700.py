"""Random work with R700 programs: compiled hardware and golden model agree in errors and in all of memory."""

import numpy as np
import pytest

from ctm.rtl.config import R700, MachineConfig, with_settings
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.assembler import assemble
from ctm.sim.elf import write
from ctm.sim.engines.model import Disturbance
from ctm.sim.fault import MachineError
from ctm.sim.runtime import CommandBuffer, Image, Layout
from ctm.tb.lib.machines import machine
from ctm.tb.lib.some import fewer
from ctm.tb.r700.hardware.machines import MACHINES
from ctm.tb.soak import r700
from ctm.tb.soak.comparison import Comparison, Hardware, Outcome
from ctm.tb.soak.work import draw_work

_RUNS, _LONG_RUNS, _OTHER_RUNS = fewer(12), 2000, 200
_QUEUED = range(20_000, 20_004)
_PROGRAM, _CONSTANTS, _OUTPUT, _UNREADABLE, _BUFFER = range(0x1_0000, 0x6_0000, 0x1_0000)
_OTHER = (
    "four cores",
    "two cores of eight slots, two banks, two local ports of 256 bits",
    "eight passes, one port",
    "one pixel in a cycle, one port",
    "two pixels in a cycle, two cores",
)
"""Some of `MACHINES`."""


def check(seeds: range, config: MachineConfig) -> list[Outcome]:
    """Run the work of seeds; how buffers ended."""
    return [outcome for seed in seeds for outcome in Comparison(draw_work(seed, r700.R700), config).run()]


@pytest.mark.slow
def test_random_work_leaves_the_same_errors_and_the_same_memory() -> None:
    check(range(_RUNS), machine("r700"))


@pytest.mark.slow
def test_fetches_for_valid_pixels_count_all_that_are_active() -> None:
    """Work that reads LANES_TEX after fetch clauses with VALID_PIX, where pixels are killed or not covered."""
    check(range(24, 26), machine("r700"))


@pytest.mark.long
def test_much_random_work_reaches_every_error_and_every_client() -> None:
    outcomes = check(range(_RUNS, _LONG_RUNS), R700)
    asked_for = {Status.HAZARD, Status.QUEUE_FULL, Status.RESET}
    assert {outcome.status for outcome in outcomes} == set(Status) - asked_for
    # Counters are the command processor's, and have error responses in too few runs.
    assert {None, *BusClient} - {outcome.client for outcome in outcomes} <= {BusClient.COUNTERS}


@pytest.mark.long
@pytest.mark.parametrize("name", _OTHER)
def test_other_machines_agree_too(name: str) -> None:
    check(range(_OTHER_RUNS), with_settings(R700, MACHINES[name]))


def test_buffers_that_wait_in_the_queue_run_in_order() -> None:
    for seed in _QUEUED:
        Comparison(draw_work(seed, r700.R700), machine("r700")).run_queued()


def test_constants_are_loaded_from_elsewhere_after_an_error_response() -> None:
    hardware = Hardware(machine("r700"), watchdog=0, disturbance=Disturbance())
    image = write(assemble(".isa r700\nADD R1.x, C0.x, C1.x\nEXPORT PIX0, R1.x000"))
    layout = Layout(width=4, height=2, format=DataFormat.FLOAT32_4)
    hardware.memory.write(_PROGRAM, image)
    hardware.memory.respond_with_errors(_UNREADABLE, _UNREADABLE + 64)
    hardware.memory.write(_CONSTANTS, np.array([[1.5] * 4, [2.0] * 4], np.float32).tobytes())
    for base in (_UNREADABLE, _CONSTANTS):
        buffer = CommandBuffer().set_inst_fmt(_PROGRAM).set_constf_fmt(base)
        buffer.set_out_fmt(0, _OUTPUT, layout.format_word, layout.height).set_domain(0, 0, 3, 1).start_program()
        hardware.memory.write(_BUFFER, bytes(buffer.flush_out_cache()))
        hardware.limit(100_000)
        if base == _UNREADABLE:
            with pytest.raises(MachineError) as caught:
                hardware.execute(_BUFFER, len(buffer.words))
            assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.FLOAT_CONSTANT)
        else:
            hardware.execute(_BUFFER, len(buffer.words))
    found = Image(memory=hardware.memory, base=_OUTPUT, layout=layout).read()
    assert (found == [3.5, 0, 0, 0]).all()
