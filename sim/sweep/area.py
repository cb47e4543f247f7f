"""LUT4 of machines, as ``ctm synth --area`` counts them, kept in the cache of compiled things."""

import json
import tempfile
from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.cache import cached
from ctm.sim.compiled.tools.package import FPGA_YOSYS, YOSYS
from ctm.sim.engines.model import hardware, key
from ctm.sim.synthesis.whole import FREQUENCY, measure_machine

_KIND = "area"


class _NotKnownError(Exception):
    """The cache has no area of a machine."""


def known_luts(config: MachineConfig) -> int | None:
    """LUT4 of a machine if they have been counted before; None if not."""

    def not_known(folder: Path, target: Path) -> None:
        raise _NotKnownError

    if not (FPGA_YOSYS.is_installed and YOSYS.is_installed):
        return None
    try:
        return _read(cached(_KIND, _key(config), ".json", not_known))
    except (_NotKnownError, ToolchainError):
        return None


def count_luts(config: MachineConfig) -> int:
    """LUT4 of a machine, whatever its simulated memory; counting takes minutes the first time.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    """
    FPGA_YOSYS.require()
    YOSYS.require()

    def make(folder: Path, target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="ctm-area-") as work:
            area = measure_machine(hardware(config), folder=Path(work), frequency=FREQUENCY)
        target.write_text(json.dumps({"luts": area.total.luts}) + "\n")

    return _read(cached(_KIND, _key(config), ".json", make))


def _key(config: MachineConfig) -> tuple[str, ...]:
    return key(hardware(config)), FPGA_YOSYS.version, str(FREQUENCY)


def _read(file: Path) -> int:
    # After the first line is the cache's own hash.
    luts: int = json.loads(file.read_bytes().partition(b"\n")[0])["luts"]
    return luts
