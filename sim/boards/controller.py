"""The controller of a board's memory: made by LiteDRAM's generator each time, of the version that is installed."""

import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctm.rtl.board.startup import Step
from ctm.rtl.board.top import CONTROLLER, USER_PORTS
from ctm.sim.boards.header import Header
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.package import LITEDRAM
from ctm.sim.compiled.tools.programs import run
from ctm.sim.files import write_file

CHIP = "LongestTimes"
"""The memory chip, as `sdram_generator` names it."""
_SETTINGS = "settings.yml"
_FOLDER = Path("made")
_VERILOG = _FOLDER / "gateware" / f"{CONTROLLER}.v"
_HEADER = _FOLDER / "software" / "include" / "generated" / "sdram_phy.h"
_REGISTERS = _FOLDER / "csr.json"
_REFRESH_SECONDS = 64e-3 / 8192
"""Between two refreshes, on average: each of so many rows wants one in 64 ms."""
_DATA_PINS = re.compile(r"^    input (  *wire .*\bsdram_dq\b)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Controller:
    """Module `CONTROLLER` as Verilog, and what has to be written to it before memory can be used."""

    verilog: str
    steps: tuple[Step, ...]


def settings(*, frequency: int, data_bits: int) -> dict[str, Any]:
    """What LiteDRAM's generator is told: memory of a ULX3S at a clock of so many Hz, without a processor.

    The ports of machine and bridge are as wide as the machine's, and wait until memory has been started.
    """
    port = {"type": "axi", "data_width": data_bits, "id_width": 1, "block_until_ready": True}
    return {
        "cpu": "None",
        "memtype": "SDR",
        "sdram_phy": "GENSDRPHY",
        # Two of 8 bits, as LiteDRAM counts.
        "sdram_module": CHIP,
        "sdram_module_nb": 2,
        "sdram_rank_nb": 1,
        # It tells the makers apart, by the whole name.
        "device": "LFE5U-85F-6BG381C",
        "speedgrade": 6,
        "input_clk_freq": float(frequency),
        "sys_clk_freq": _told(frequency),
        "cmd_buffer_depth": 8,
        "user_ports": {name: port for name in USER_PORTS},
    }


def _told(frequency: int) -> float:
    """The clock that LiteDRAM is told, a little below the real one.

    It rounds the time between two refreshes up to whole cycles, which at 25 MHz is 0.4 % too long.
    """
    cycles = int(frequency * _REFRESH_SECONDS)
    return (cycles - 0.5) / _REFRESH_SECONDS


def generate(*, frequency: int, data_bits: int, input_cycles: int) -> Controller:
    """Make the controller; see `settings`, and `Target` for `input_cycles`.

    Raises
    ------
    ToolchainError
        LiteDRAM is missing, failed, or wrote something else than its version 2024.12 does.
    """
    LITEDRAM.require()
    with tempfile.TemporaryDirectory(prefix="ctm-controller-") as name:
        folder = Path(name)
        # YAML, of which JSON is a subset.
        wanted = settings(frequency=frequency, data_bits=data_bits)
        write_file(folder / _SETTINGS, json.dumps(wanted, indent=1).encode())
        command = [sys.executable, "-m", "ctm.sim.boards.sdram_generator", str(input_cycles), _SETTINGS]
        run([*command, "--name", CONTROLLER, "--output-dir", str(_FOLDER)], folder, name=LITEDRAM.distribution)
        registers = json.loads((folder / _REGISTERS).read_text())["csr_registers"]
        addresses = {register: entry["addr"] for register, entry in registers.items()}
        header = Header((folder / _HEADER).read_text(), addresses)
        # Its own software ends so, too: the controller takes over, and its ports open.
        handed_over = (header.write("sdram_dfii_control", "DFII_CONTROL_SEL"), header.write("ddrctrl_init_done", "1"))
        verilog = _with_data_pins((folder / _VERILOG).read_text())
        return Controller(verilog=verilog, steps=header.steps("init_sequence") + handed_over)


def _with_data_pins(verilog: str) -> str:
    """The module with bidirectional data pins instead of inputs."""
    changed, count = _DATA_PINS.subn(r"    inout \1", verilog)
    if count != 1:
        raise ToolchainError("litedram: the data pins are not where version 2024.12 has them; is it another version?")
    return changed
