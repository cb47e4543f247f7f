"""Synthesis, placement and routing with Yosys and nextpnr for an ECP5."""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from amaranth.back.rtlil import convert
from amaranth.lib import wiring

from ctm.sim.compiled.tools.package import FPGA_NEXTPNR, FPGA_YOSYS, Package
from ctm.sim.compiled.tools.programs import run
from ctm.sim.files import write_file
from ctm.sim.synthesis.enclosure import Enclosure
from ctm.sim.synthesis.families.ecp5 import SYNTH_OPTIONS
from ctm.sim.synthesis.report import Area, Netlist, Placement, Placements, best, median_frequency, placement
from ctm.sim.synthesis.timing.delays import read_delays
from ctm.sim.synthesis.timing.slow_paths import slow_paths
from ctm.sim.synthesis.tool import command, read_json

DEVICE = "LFE5U-85F, speed grade 6"
FREQUENCY = 100.0
"""The placer's default target, MHz."""
_TOP = "enclosure"
_DEVICE_OPTIONS = ("--85k", "--speed", "6", "--package", "CABGA756")
# Ports are not pins, so none needs a site at the edge. The clock is then routed as other nets are.
_NEXTPNR_OPTIONS = (*_DEVICE_OPTIONS, "--out-of-context", "--timing-allow-fail", "--quiet")


@dataclass(frozen=True, kw_only=True)
class Result:
    """The cells of a unit, and the placement of each seed."""

    area: Area
    placements: Placements

    @property
    def best(self) -> Placement:
        """The placement with the fastest clock."""
        return best(self.placements)

    @property
    def median_frequency(self) -> float:
        """The median of the seeds, MHz."""
        return median_frequency(self.placements)


def measure(
    unit: wiring.Component,
    *,
    seeds: Iterable[int],
    frequency: float = FREQUENCY,
    progress: Callable[[str], None] = lambda text: None,
) -> Result:
    """Synthesise a unit between registers, and place and route it once for each seed, of which there is at least one.

    `frequency` is the placer's target in MHz, which it may miss. `progress` is called with the title of each step.

    Raises
    ------
    ToolchainError
        A tool is missing or failed.
    """
    with tempfile.TemporaryDirectory(prefix="ctm-synthesis-") as name:
        folder = Path(name)
        progress("synthesising")
        write_file(folder / "unit.il", convert(Enclosure(unit), name=_TOP, emit_src=False).encode())
        for package in (FPGA_YOSYS, FPGA_NEXTPNR):
            package.require()
        _run(FPGA_YOSYS, "run_yosys", folder, "-q", "-p",
             f"read_rtlil unit.il; synth_ecp5 {SYNTH_OPTIONS} -top {_TOP} -json netlist.json")  # fmt: skip
        netlist = Netlist(read_json(folder / "netlist.json")["modules"][_TOP])
        placements = []
        for seed in seeds:
            progress(f"placing and routing with seed {seed}")
            _run(FPGA_NEXTPNR, "run_nextpnr_ecp5", folder, *_NEXTPNR_OPTIONS, "--freq", str(frequency),
                 "--seed", str(seed), "--json", "netlist.json", "--report", "report.json",
                 "--sdf", "delays.sdf")  # fmt: skip
            report = read_json(folder / "report.json")
            slow = slow_paths(read_delays(folder / "delays.sdf"), netlist)
            placements.append(placement(report, netlist, seed, slow))
        return Result(area=netlist.area(report), placements=tuple(placements))


def _run(package: Package, function: str, folder: Path, *arguments: str) -> None:
    """Run a tool and wait for it."""
    run(command(package, function, *arguments), folder, name=package.distribution)
