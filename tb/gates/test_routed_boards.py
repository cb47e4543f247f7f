"""Whole boards as nextpnr writes them after routing, simulated with a memory chip and a serial line at their pins."""

import shutil
import struct
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.board.top import MEMORY_BYTES
from ctm.rtl.config import PRESETS
from ctm.rtl.isa.link import GREETING, LARGEST, MAGIC, Request
from ctm.rtl.isa.status import Status
from ctm.sim.boards.bitstream import bitstream
from ctm.sim.boards.design import Design, design
from ctm.sim.boards.target import ULX3S
from ctm.sim.compiled.tools.package import BOARDS, FPGA_NEXTPNR, FPGA_YOSYS, LITEDRAM
from ctm.sim.engines.serial.engine import SerialEngine
from ctm.sim.engines.serial.link import Link
from ctm.sim.engines.serial.port import SerialPort
from ctm.sim.jobs.execution import Execution, first_difference
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import CommandBuffer, Device, MachineError
from ctm.sim.runtime.device import WATCHDOG
from ctm.sim.synthesis.placing import ROUTED
from ctm.sim.synthesis.tool import read_json
from ctm.tb.board.memory_board import memory_design
from ctm.tb.board.pins import PERIOD, BoardAtPins, library
from ctm.tb.board.terminal import Terminal
from ctm.tb.gates.library import cells
from ctm.tb.gates.netlist import verilog
from ctm.tb.gates.routed import unpacked

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not all(package.is_installed for package in (BOARDS, LITEDRAM, FPGA_YOSYS, FPGA_NEXTPNR)),
        reason="needs the extra board",
    ),
]
SAXPY = Path(__file__).parents[2] / "examples" / "saxpy"
CONFIG = PRESETS[ULX3S.preset]
BAUD = ULX3S.clock(None) // PERIOD if BOARDS.is_installed else 0
PATIENCE = 3600.0
CLEARED = 1 << 17
"""Bytes; to clear all of memory would take hours."""


def after_routing(wanted: Design, folder: Path) -> BoardAtPins:
    """A board of the cells and at the sites that its bitstream has."""
    made = bitstream(wanted, seeds=[1, 2, 3], folder=folder, allow_slow=True)
    assert made.placement.frequency > made.wanted
    (module,) = read_json(folder / ROUTED)["modules"].values()
    text = verilog({wanted.target.top: unpacked(module)})
    board = BoardAtPins(library(wanted.pins, [cells(), text], wanted.frequency))
    board.start()
    return board


def small_saxpy(folder: Path) -> Path:
    """The example's job with 16 x 4 pixels."""
    text = (SAXPY / "saxpy.toml").read_text()
    for large, small in (("i = [0, 63]", "i = [0, 15]"), ("j = [0, 31]", "j = [0, 3]"), ("[32, 64]", "[4, 16]")):
        assert text.count(large) == 1
        text = text.replace(large, small)
    job = folder / "saxpy.toml"
    job.write_text(text)
    shutil.copy(SAXPY / "saxpy.s", folder)
    for name in ("x.npy", "y.npy"):
        np.save(folder / name, np.load(SAXPY / name)[:4, :16])
    return job


def test_memory_is_written_and_read(tmp_path: Path) -> None:
    """On the board without a machine, which is routed in a minute."""
    board = after_routing(memory_design(baud=BAUD), tmp_path)
    sent = np.random.default_rng(5).bytes(LARGEST)
    with Terminal(board) as line:
        link = Link(SerialPort(line.port, 1_000_000), patience=PATIENCE)
        greeting = link.ask(Request.HELLO, length=GREETING.size // 8)
        assert struct.unpack_from("<I", greeting) == (MAGIC,)
        for address in (0, 5 * LARGEST, MEMORY_BYTES - LARGEST):
            link.ask(Request.WRITE_MEMORY, address=address, data=sent)
        link.ask(Request.CLEAR_MEMORY, data=struct.pack("<I", 64))
        read = [link.ask(Request.READ_MEMORY, address=address, length=LARGEST) for address in (0, 5 * LARGEST)]
        assert read == [bytes(64) + sent[64:], sent]
        last = link.ask(Request.READ_MEMORY, address=MEMORY_BYTES - LARGEST, length=LARGEST)
        assert last == sent
    assert board.is_ready
    assert board.counts["refreshes"] > 0


def test_the_machine_gives_the_golden_models_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half an hour, most of which routing takes."""
    board = after_routing(design(ULX3S, CONFIG, baud=BAUD), tmp_path)
    ask = Link.ask

    def ask_less(self: Link, request: Request, **options: object) -> bytes:
        if request is Request.CLEAR_MEMORY:
            options["data"] = struct.pack("<I", CLEARED)
        return ask(self, request, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Link, "ask", ask_less)
    monkeypatch.setattr(SerialEngine, "patience", PATIENCE)
    loaded = load_job(small_saxpy(tmp_path))
    expected = Execution(loaded, engine="golden", config=CONFIG, watchdog=WATCHDOG).run()
    with Terminal(board) as line:
        device = Device("serial", CONFIG, watchdog=WATCHDOG, port=line.port)
        monkeypatch.setattr(Execution, "make_device", staticmethod(lambda *_, **__: device))
        found = Execution(loaded, engine="serial", config=CONFIG, watchdog=WATCHDOG).run()
        assert first_difference(found, expected) is None
        with pytest.raises(MachineError) as caught:
            device.run(CommandBuffer().set_inst_fmt(MEMORY_BYTES).set_domain(0, 0, 1, 1).start_program())
        assert (caught.value.status, caught.value.address) == (Status.BUS_ERROR, MEMORY_BYTES)
