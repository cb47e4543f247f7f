"""Engine `serial`, through a pseudo-terminal, on a compiled machine with a bridge in Python."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.link import Request
from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.engines.serial.error import BoardError
from ctm.sim.engines.serial.link import Link
from ctm.sim.fault import CycleLimitError
from ctm.sim.runtime import CommandBuffer, Device, Layout, MachineError
from ctm.tb.board.stand_in import Line, StandIn
from ctm.tb.board.terminal import Terminal
from ctm.tb.cli.invocation import ctm, error_line
from ctm.tb.lib.machines import machine, options

TOP = Path(__file__).parents[2]
SAXPY = TOP / "examples" / "saxpy" / "saxpy.toml"
IDLE = 0.0005
"""Seconds that the board sleeps where nothing comes, for the sake of other tests."""


@pytest.fixture
def board() -> StandIn:
    return StandIn(machine("r5xx"))


@pytest.fixture
def port(board: StandIn) -> Iterator[str]:
    with Terminal(board, idle=IDLE) as terminal:
        yield terminal.port


def test_a_job_gives_the_golden_models_bits(port: str, tmp_path: Path) -> None:
    result = ctm(
        "run", SAXPY, "--engine", "serial", "--port", port, *options("r5xx"), "--check", "--json", "-o", tmp_path
    )
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert (found["status"], found["engine"]) == ("ok", "serial")
    assert found["counters"]["processors"] == 64 * 32
    assert 0 < found["cycles"] == found["counters"]["busy"]


def test_what_the_machine_writes_comes_back_and_nothing_else(port: str, board: StandIn) -> None:
    device = Device("serial", machine("r5xx"), port=port)
    assert not board.memory.read(0, board.greeting.memory_bytes).strip(b"\x00"), "memory begins as 0"
    layout = Layout(format=DataFormat.FLOAT32_1, width=16, height=16)
    image = device.image(layout, np.arange(256, dtype=np.float32).reshape(16, 16, 1))
    device.run(CommandBuffer().wait_for_idle())
    assert board.memory.read(image.base, 1024) == image.memory.read(image.base, 1024)
    crossed = [request for request, _ in board.requests if request in (Request.WRITE_MEMORY, Request.READ_MEMORY)]
    # The image, and a line with the command buffer; the machine has written nothing.
    assert crossed == [Request.WRITE_MEMORY] * 2
    device.run(CommandBuffer().wait_for_idle())
    crossed = [request for request, _ in board.requests if request in (Request.WRITE_MEMORY, Request.READ_MEMORY)]
    assert len(crossed) == 3


def test_an_error_of_the_machine_is_one_here(port: str) -> None:
    device = Device("serial", machine("r5xx"), port=port)
    wrong = CommandBuffer().set_domain(0, 0, 1, 1)
    wrong.words.append(0x1234_5678)
    with pytest.raises(MachineError) as caught:
        device.run(wrong)
    assert (caught.value.status, caught.value.word) == (Status.BAD_COMMAND, 0x1234_5678)
    # Beyond the board's memory.
    device.submit_at(0x10_0000, 4)
    with pytest.raises(MachineError) as caught:
        device.wait()
    assert (caught.value.status, caught.value.client) == (Status.BUS_ERROR, BusClient.COMMAND)
    device.run(CommandBuffer().wait_for_idle())


def test_what_the_board_has_not_is_not_handed_out(port: str) -> None:
    device = Device("serial", machine("r5xx"), port=port)
    device.allocate(1 << 19)
    with pytest.raises(MemoryError, match="1048576 bytes do not fit .* local memory: the machine has 1,024 KiB in all"):
        device.allocate(1 << 20)
    with pytest.raises(MemoryError, match="system memory"):
        device.allocate(4, "system")
    with pytest.raises(ValueError, match="4 bytes at 0x100000 leave the 1,024 KiB of memory"):
        device.memory.write(1 << 20, b"abcd")


@pytest.mark.parametrize(
    "line",
    [
        Line(lost=0.0003, changed=0.0003),
        pytest.param(Line(lost=0.0005), marks=pytest.mark.long),
        pytest.param(Line(changed=0.0005), marks=pytest.mark.long),
    ],
)
def test_results_survive_lost_and_changed_bytes(monkeypatch: pytest.MonkeyPatch, line: Line) -> None:
    monkeypatch.setattr(SerialEngine, "patience", 0.02)
    links: list[Link] = []
    monkeypatch.setattr(Link, "__init__", _noting(links))
    board = StandIn(machine("r5xx"), line)
    with Terminal(board, idle=IDLE) as terminal:
        device = Device("serial", machine("r5xx"), port=terminal.port)
        data = np.random.default_rng(1).bytes(4096)
        address = device.place(data)
        for _ in range(3):
            device.run(CommandBuffer().wait_for_idle())
        assert board.memory.read(address, len(data)) == data
        assert links[0].repeated > 0, "the line was too good"
        # Each push was made once, however often it was requested.
        engine: Any = device._engine
        assert engine._read("LAST_SUBMITTED") == 3


def _noting(links: list[Link]) -> object:
    make = Link.__init__

    def noted(self: Link, *arguments: object, **options: object) -> None:
        links.append(self)
        make(self, *arguments, **{**options, "attempts": 30})  # type: ignore[arg-type]

    return noted


def test_a_file_that_is_no_port_is_an_error(tmp_path: Path) -> None:
    plain = tmp_path / "file"
    plain.write_bytes(b"")
    run = ("run", SAXPY, "--engine", "serial", *options("r5xx"))
    assert "there is no such port; is the board connected?" in error_line(*run, "--port", tmp_path / "nothing")
    assert "this is no serial port" in error_line(*run, "--port", plain)
    assert "'7' is no speed of a serial port" in error_line(*run, "--port", f"{plain}@7")
    assert "engine 'serial' needs the port of a board" in error_line(*run)
    assert "engine 'golden' has no port" in error_line("run", SAXPY, "--engine", "golden", "--port", plain)


@pytest.mark.parametrize(
    ("exchange", "message"),
    [
        (lambda data: b"", "the board does not respond; has it power, and its bitstream?"),
        (lambda data: b"\x00\xffhello", "what comes is no response; is this the board's port, and 1000000 its speed?"),
        (lambda data: data, "what comes is no response"),
    ],
)
def test_a_port_without_a_board_is_told(monkeypatch: pytest.MonkeyPatch, exchange: object, message: str) -> None:
    monkeypatch.setattr(SerialEngine, "patience", 0.01)
    with Terminal(exchange, idle=0.005) as terminal:  # type: ignore[arg-type]
        told = error_line("run", SAXPY, "--engine", "serial", *options("r5xx"), "--port", terminal.port)
        assert f"error: {terminal.port}: {message}" in told


def test_a_wrong_bitstream_is_told(port: str, board: StandIn) -> None:
    run = ("run", SAXPY, "--engine", "serial", "--port", port)
    told = error_line(*run, "--preset", "small")
    threads = machine("r5xx").array.threads
    assert f"the FPGA has another configuration: 1 cores, 4 lanes, {threads} slots, fingerprint" in told
    assert "give --preset and --set as the bitstream was built" in told
    board.greeting.protocol = 2
    assert "the bitstream speaks protocol 2, not 1; build it again" in error_line(*run, *options("r5xx"))
    board.greeting.magic = b"ABCD"
    assert "what responds is no board of this machine" in error_line(*run, *options("r5xx"))


def test_a_cable_that_is_pulled_out_is_told_at_once(board: StandIn) -> None:
    with Terminal(board, idle=IDLE) as terminal:
        device = Device("serial", machine("r5xx"), port=terminal.port)
        device.run(CommandBuffer().wait_for_idle())
        terminal.pull_out()
        for _ in range(2):
            start = time.monotonic()
            with pytest.raises(BoardError, match="the port has gone; was the cable pulled out?"):
                device.run(CommandBuffer().wait_for_idle())
            assert time.monotonic() - start < 1


def test_a_board_that_falls_silent_is_told_once_and_then_at_once(
    monkeypatch: pytest.MonkeyPatch, port: str, board: StandIn
) -> None:
    monkeypatch.setattr(SerialEngine, "patience", 0.2)
    device = Device("serial", machine("r5xx"), port=port)
    board.is_silent = True
    for longest in (10.0, 0.1):
        start = time.monotonic()
        with pytest.raises(BoardError, match="the board does not respond any more"):
            device.run(CommandBuffer().wait_for_idle())
        assert time.monotonic() - start < longest


def test_a_port_is_one_programs(port: str) -> None:
    device = Device("serial", machine("r5xx"), port=port)
    with pytest.raises(BoardError, match="another program uses this port"):
        Device("serial", machine("r5xx"), port=port)
    device.run(CommandBuffer().wait_for_idle())


def test_a_machine_of_an_earlier_session_is_reset(port: str) -> None:
    """The next program finds no error that is not its own, and nothing at work."""
    device = Device("serial", machine("r5xx"), port=port)
    engine: Any = device._engine
    engine._write("QUEUE_ADDRESS", device.place(bytes(4)))
    engine._write("QUEUE_DWORDS", 1)
    engine._write("QUEUE_PUSH", 0)
    while not engine._read_fields("STATUS")["error"]:
        pass
    del device, engine
    again = Device("serial", machine("r5xx"), port=port)
    engine = again._engine
    assert not engine._read_fields("STATUS")["error"] and not any(engine.counters())
    again.run(CommandBuffer().wait_for_idle())


def test_a_limit_of_cycles_ends_what_goes_on(port: str, board: StandIn) -> None:
    board.cycles = 20
    device = Device("serial", machine("r5xx"), port=port, max_cycles=100)
    with pytest.raises(CycleLimitError):
        # A long command buffer.
        commands = CommandBuffer()
        for _ in range(300):
            commands.set_domain(0, 0, 1, 1)
        device.run(commands.wait_for_idle())
