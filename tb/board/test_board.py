"""The whole board, compiled, from the bits on one pin to those on the other; the host's end is the real engine."""

from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import SMALL
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.engines.serial.link import Link
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, MachineError
from ctm.sim.runtime.device import WATCHDOG
from ctm.tb.board.simulated import MEMORY_BYTES, SimulatedBoard
from ctm.tb.board.terminal import Terminal
from ctm.tb.r5xx.shaders import NAMES, Shader, run

pytestmark = pytest.mark.long
SAXPY = Path(__file__).parents[2] / "examples" / "saxpy" / "saxpy.toml"


@pytest.fixture(autouse=True)
def slow_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated board's seconds are longer."""
    monkeypatch.setattr(SerialEngine, "patience", 60.0)


def test_saxpy_gives_the_golden_models_bits() -> None:
    loaded = load_job(SAXPY)
    with Terminal(SimulatedBoard(SMALL, stall=0.3)) as line:
        found = Execution(loaded, engine="serial", config=SMALL, watchdog=WATCHDOG, port=line.port).run()
    expected = Execution(loaded, engine="golden", config=SMALL, watchdog=WATCHDOG).run()
    assert first_difference(found, expected) is None
    assert found.report.counters["processors"] == 64 * 32


@pytest.mark.parametrize("name", NAMES[:2])
def test_compiled_programs_give_the_golden_models_bits(name: str) -> None:
    shader = Shader.load(name)
    width, height = shader.grid
    domain = (0, 0, width - 1, height - 1)
    with Terminal(SimulatedBoard(SMALL)) as line:
        found = run(shader, domain=domain, engine="serial", config=SMALL, port=line.port)
    expected = run(shader, domain=domain, config=SMALL)
    for other, bits in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(other, bits)


def test_errors_are_the_machines_and_the_next_buffer_runs() -> None:
    with Terminal(SimulatedBoard(SMALL)) as line:
        device = Device("serial", SMALL, port=line.port)
        wrong = CommandBuffer()
        wrong.words.append(0x1234_5678)
        with pytest.raises(MachineError) as caught:
            device.run(wrong)
        assert (caught.value.status, caught.value.word) == (Status.BAD_COMMAND, 0x1234_5678)
        # A program that lies beyond the board's memory.
        with pytest.raises(MachineError) as caught:
            device.run(CommandBuffer().set_inst_fmt(MEMORY_BYTES + 4096).set_domain(0, 0, 1, 1).start_program())
        assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.INSTRUCTION)
        assert caught.value.address == MEMORY_BYTES + 4096
        device.run(CommandBuffer().wait_for_idle())


def test_results_survive_noise_on_the_line_and_lost_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels that are wrong for up to two bits, in both directions, and bytes that never reach the pin."""
    monkeypatch.setattr(SerialEngine, "patience", 5.0)
    links: list[Link] = []
    make = Link.__init__

    def noted(self: Link, *arguments: object, **options: object) -> None:
        links.append(self)
        make(self, *arguments, **{**options, "attempts": 40})  # type: ignore[arg-type]

    monkeypatch.setattr(Link, "__init__", noted)
    generator = np.random.default_rng(1)
    board = SimulatedBoard(SMALL, noise=4e-6, seed=3)

    def losing(sent: bytes) -> bytes:
        kept = generator.random(len(sent)) >= 0.0001
        return board(np.frombuffer(sent, np.uint8)[kept].tobytes())

    shader = Shader.load(NAMES[0])
    width, height = shader.grid
    domain = (0, 0, width - 1, height - 1)
    with Terminal(losing) as line:
        found = run(shader, domain=domain, engine="serial", config=SMALL, port=line.port)
    assert links[0].repeated > 0, "the line was too good"
    expected = run(shader, domain=domain, config=SMALL)
    for other, bits in zip(found.bits, expected.bits, strict=True):
        np.testing.assert_array_equal(other, bits)
