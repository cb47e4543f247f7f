"""The core in the machine: real compiled programs, examples, faults of programs and of memory."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT, ArrayConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import ZeroTest
from ctm.rtl.isa.r5xx.program import US_FC_CTRL
from ctm.rtl.isa.status import Status
from ctm.rtl.isa.word import pack
from ctm.sim.elf import write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.engines.choice import ENGINES
from ctm.sim.fault import MachineError
from ctm.sim.report.workloads import blackscholes, matmul, nbody, prepare
from ctm.sim.runtime import CommandBuffer, Device, Image, Layout
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.lib.some import some
from ctm.tb.r5xx.core_engine import CoreEngine
from ctm.tb.r5xx.machine import Instruction, alu, move
from ctm.tb.r5xx.shaders import NAMES, Shader, run
from ctm.tb.r5xx.simulation.simulation import Timing
from ctm.tb.r5xx.statements import (
    BOOL,
    ENDREP,
    REP,
    begin_if,
    begin_loop,
    compare,
    constant_into,
    end_if,
    end_loop,
    fetch,
    jump,
)

pytestmark = pytest.mark.slow

SIZE = 8
ILLEGAL = alu(rgb={"rgb_op": 6})
FLOATS, INTS, BOOLS, INPUT = 0x10000, 0x20000, 0x30000, 0x40000


@pytest.fixture(autouse=True)
def core_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ENGINES, "core", CoreEngine)


@pytest.mark.parametrize("name", some(NAMES, 4))
def test_compiled_programs_are_as_in_the_golden_model(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    for domain in ((0, 0, width - 1, height - 1), (1, 1, width - 2, height - 2)):
        expected, found = run(shader, domain=domain), run(shader, domain=domain, engine="core")
        for bits, right in zip(found.bits, expected.bits, strict=True):
            np.testing.assert_array_equal(bits, right)


@pytest.mark.parametrize("workload", [matmul(32), nbody(8), blackscholes(16)], ids=lambda workload: workload.name)
def test_examples_compute_what_numpy_says(workload) -> None:
    prepared = prepare(workload, "core", DEFAULT)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()


def start(device: Device, instructions: Sequence[Instruction]) -> tuple[MachineError | None, np.ndarray]:
    """Run a program over 8 x 8 pixels; how it ended, and output 0, which was -1."""
    executable = Executable(
        instructions=tuple(instructions), end=len(instructions) - 1, highest_temporary=7,
        us_fc_ctrl=pack(US_FC_CTRL, full_fc_en=1),
    )  # fmt: skip
    layout = Layout(width=SIZE, height=SIZE, format=DataFormat.FLOAT32_4)
    image: Image = device.image(layout, np.full((SIZE, SIZE, 4), -1, np.float32))
    commands = CommandBuffer().set_inst_fmt(device.place(write(executable)))
    commands.set_constf_fmt(FLOATS).set_consti_fmt(INTS).set_constb_fmt(BOOLS)
    commands.set_inp_fmt(0, INPUT, layout.format_word, SIZE)
    commands.set_out_fmt(0, image.base, layout.format_word, SIZE).set_domain(0, 0, SIZE - 1, SIZE - 1)
    try:
        device.run(commands.start_program().flush_out_cache())
    except MachineError as error:
        return error, image.read()
    return None, image.read()


def devices(watchdog: int = WATCHDOG) -> tuple[Device, Device]:
    """A golden one and one with the core; c0 is (4, 0, 0, 0), i1 counts to 2, b1 is true."""
    made = Device("golden", watchdog=watchdog), Device("core", watchdog=watchdog)
    for device in made:
        device.memory.write(FLOATS, np.array([4, 0, 0, 0], "<f4").tobytes())
        device.memory.write(INTS + 4, bytes([2, 0, 0, 0]))
        device.memory.write(BOOLS + 4, bytes([1]))
        device._heap.allocate(1 << 20, "local")
    return made


FEW_WAVES = replace(DEFAULT, array=ArrayConfig(threads=4, temporaries=128))


@pytest.mark.long
def test_outputs_that_wait_for_memory_are_those_of_their_wavefronts() -> None:
    """Of wavefronts of one instruction, so that both contexts of every wave slot wait."""
    device = Device("core", FEW_WAVES)
    device._engine.timing = Timing(latency=150, stall=0.9)  # type: ignore[attr-defined]
    error, found = start(device, [move(0, 0, output=0)])
    assert error is None
    assert (found[..., 0] == np.arange(SIZE)).all()
    assert (found[..., 1] == np.arange(SIZE)[:, None]).all()


GOOD = [move(1, 0), move(0, 1, output=0)]
FROM_4 = compare(0, ZeroTest.GREATER_EQUAL)
"""ALU result: i is 4 or more."""
FAULTS = {
    "illegal": (Status.ILLEGAL_INSTRUCTION, [FROM_4, begin_if(4), ILLEGAL, end_if(), move(0, 0, output=0)]),
    "underflow": (Status.STACK, [FROM_4, begin_if(4), end_loop(0, op=ENDREP), end_if(), move(0, 0, output=0)]),
    "range": (Status.PC_RANGE, [FROM_4, begin_if(4), jump(400), end_if(), move(0, 0, output=0)]),
    "endless": (Status.WATCHDOG, [FROM_4, begin_if(4), jump(2), end_if(), move(0, 0, output=0)]),
}


@pytest.mark.parametrize("name", FAULTS)
def test_other_wavefronts_finish_and_the_machine_can_be_used_again(name: str) -> None:
    status, instructions = FAULTS[name]
    golden, core = devices(watchdog=500)
    expected, right = start(golden, instructions)
    error, found = start(core, instructions)
    assert error is not None and expected is not None
    assert (error.status, error.pc) == (expected.status, expected.pc)
    assert error.status is status
    np.testing.assert_array_equal(found, right)
    assert (found[:, :4, 0] != -1).all()
    assert (found[:, 4:] == -1).all()
    error, found = start(core, GOOD)
    assert error is None
    assert (found[..., 0] == np.arange(SIZE)).all()


ERRORS = {
    "float constant": (FLOATS, 16, [constant_into(1, 0), *GOOD]),
    "unused float constant": (FLOATS + 16, 16, [constant_into(1, 0), *GOOD]),
    "int constant": (INTS, 16, [begin_loop(2, 1, op=REP), end_loop(1, 1, op=ENDREP), *GOOD]),
    "bool constant": (BOOLS, 16, [begin_if(2, BOOL, bool_addr=1), end_if(), *GOOD]),
    "input": (INPUT + 2 * 128, 16, [fetch(), *GOOD]),
    "output": (1 << 20, 1 << 21, GOOD),
}


@pytest.mark.parametrize("name", ERRORS)
def test_accesses_with_errors(name: str) -> None:
    address, size, instructions = ERRORS[name]
    outcomes = []
    for device in devices():
        device.memory.respond_with_errors(address, address + size)
        error, found = start(device, instructions)
        again, _ = start(device, [move(0, 0, output=0)])
        outcomes.append((error and (error.status, error.client, error.pc), again and again.status, found.tobytes()))
    assert outcomes[0] == outcomes[1]
    assert (outcomes[0][0] is None) == name.startswith("unused")
