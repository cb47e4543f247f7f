"""The whole design of a ULX3S from pin to pin: bytes on its serial line, and a memory chip that knows its rules."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.board.top import MEMORY_BYTES
from ctm.rtl.config import PRESETS
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.boards.design import design
from ctm.sim.boards.target import ULX3S
from ctm.sim.compiled.tools.package import BOARDS, LITEDRAM
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, MachineError
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.board.pins import PERIOD, BoardAtPins, board_library
from ctm.tb.board.terminal import Terminal
from ctm.tb.r5xx import shaders

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (BOARDS.is_installed and LITEDRAM.is_installed), reason="needs the extra board"),
]
SAXPY = Path(__file__).parents[2] / "examples" / "saxpy" / "saxpy.toml"
FREQUENCY = ULX3S.usual or 0
CONFIG = PRESETS[ULX3S.preset]


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    """All tests have one device: to clear 32 MiB is a second of the board's, and minutes of simulation."""
    board = BoardAtPins(board_library(design(ULX3S, CONFIG, baud=FREQUENCY // PERIOD)))
    board.start()
    with pytest.MonkeyPatch.context() as patch, Terminal(board) as line:
        patch.setattr(SerialEngine, "patience", 1200.0)
        yield Device("serial", CONFIG, watchdog=WATCHDOG, port=line.port)
    assert board.is_ready
    assert board.counts["refreshes"] > 0


def test_saxpy_gives_the_golden_models_bits(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = load_job(SAXPY)
    expected = Execution(loaded, engine="golden", config=CONFIG, watchdog=WATCHDOG).run()
    monkeypatch.setattr(Execution, "make_device", staticmethod(lambda *_, **__: device))
    found = Execution(loaded, engine="serial", config=CONFIG, watchdog=WATCHDOG).run()
    assert first_difference(found, expected) is None


@pytest.mark.parametrize("name", shaders.NAMES[:2])
def test_compiled_programs_give_the_golden_models_bits(
    device: Device, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shader = shaders.Shader.load(name)
    width, height = shader.grid
    domain = (0, 0, width - 1, height - 1)
    expected = shaders.run(shader, domain=domain, config=CONFIG)
    monkeypatch.setattr(shaders, "Device", lambda *_, **__: device)
    found = shaders.run(shader, domain=domain, engine="serial", config=CONFIG)
    for other, bits in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(other, bits)


def test_what_lies_beyond_memory_is_an_error_and_the_next_buffer_runs(device: Device) -> None:
    program = MEMORY_BYTES + 4096
    with pytest.raises(MachineError) as caught:
        device.run(CommandBuffer().set_inst_fmt(program).set_domain(0, 0, 1, 1).start_program())
    assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.INSTRUCTION)
    assert caught.value.address == program
    device.run(CommandBuffer().wait_for_idle())


def test_an_allocation_beyond_memory_is_an_error(device: Device) -> None:
    with pytest.raises(MemoryError):
        device.place(bytes(MEMORY_BYTES))
