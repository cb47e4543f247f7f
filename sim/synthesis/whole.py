"""Whole machines on an FPGA: the area of each unit, synthesised by itself, and of all together, and the clock."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.machine import machine_rtlil
from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.files import write_file
from ctm.sim.synthesis.border import Border
from ctm.sim.synthesis.devices import DEVICES, Cells
from ctm.sim.synthesis.hierarchy import Unit, units
from ctm.sim.synthesis.placing import place
from ctm.sim.synthesis.report import BLOCK_RAMS, CARRY_LUTS, MULTIPLIER, RAM_LUTS, Placement
from ctm.sim.synthesis.tool import SYNTH_OPTIONS, command, read_json

FREQUENCY = 60.0
"""The clock that synthesis has in mind if nobody says otherwise, MHz."""
_LOGIC_SHARE = 0.5
"""Of a clock's period, what is left for logic; routing takes the rest."""
_PICOSECONDS = 1_000_000
"""In a period of 1 MHz."""
_TOP = "ctm"
_MULTIPLEXER = "multiplexer.v"
_DENSITY = 80
"""Per cent of a selection's numbers that have a case of their own, at least."""
_COST = 220
"""Of a multiplexer of four inputs, where one of two costs 100."""
_NETLIST = "netlist.json"
_BORDER = "border"


@dataclass(frozen=True, kw_only=True)
class UnitArea:
    """A unit, how often the machine has it, and what one of it takes."""

    name: str
    count: int
    each: Cells

    @property
    def all(self) -> Cells:
        """What all of them take."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class MachineArea:
    """The units of a machine, those that take the most places first, and what each seed gave if it was placed."""

    units: tuple[UnitArea, ...]
    placements: tuple[Placement, ...] = ()

    @property
    def total(self) -> Cells:
        """What the machine takes."""
        return sum((unit.all for unit in self.units), Cells())


def measure_machine(
    config: MachineConfig,
    *,
    frequency: float = FREQUENCY,
    device: str | None = None,
    seeds: Sequence[int] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> MachineArea:
    """Synthesise a machine for an ECP5, unit by unit, as many at a time as there are processors.

    Paths that are shorter than half of the period of `frequency`, in MHz, are mapped for area. With `seeds`, if it fits
    `device`, it is placed and routed, once for each. `progress` is told what is being done.

    Raises
    ------
    ToolchainError
        Yosys or nextpnr is missing or failed.
    """
    FPGA_YOSYS.require()
    progress("writing the machine")
    parts = units(machine_rtlil(config, top=_TOP), _TOP)
    with tempfile.TemporaryDirectory(prefix="ctm-synthesis-") as name, Tools(len(os.sched_getaffinity(0))) as tools:
        folder = Path(name)
        synthesis = _Synthesis(folder, tools, frequency)
        areas = tuple(
            UnitArea(name=part.name, count=part.count, each=cells)
            for part, cells in zip(parts, synthesis.run(parts, progress), strict=True)
        )
        found = MachineArea(units=tuple(sorted(areas, key=lambda area: -area.all.luts)))
        if not seeds or device is None or found.total.lacks(DEVICES[device]):
            return found
        around = surrounding(parts)
        list(synthesis.run([around], progress))
        modules = {part.top: read_json(file)["modules"][part.top] for part, file in synthesis.netlists}
        placements = place(
            modules, around.top, device=device, frequency=frequency, seeds=seeds, folder=folder, tools=tools,
            progress=progress,
        )  # fmt: skip
        return replace(found, placements=placements)


def surrounding(parts: Sequence[Unit]) -> Unit:
    """What lies around the machine of these units where it is placed; the machine is a box in it."""
    machine = next(part for part in parts if part.top == _TOP)
    text = convert_to_rtlil(Border(_TOP, machine.ports), top=_BORDER)
    return Unit(module=f"\\{_BORDER}", count=1, text=text + machine.box)


class _Synthesis:
    """Synthesises units, each in a folder of its own."""

    def __init__(self, folder: Path, tools: Tools, frequency: float) -> None:
        self._folder, self._tools = folder, tools
        self._delay = round(_PICOSECONDS / frequency * _LOGIC_SHARE)
        self._multiplexer = resources.files("ctm.sim.synthesis").joinpath(_MULTIPLEXER).read_bytes()
        self.netlists: list[tuple[Unit, Path]] = []

    def run(self, parts: Sequence[Unit], progress: Callable[[str], None]) -> Iterator[Cells]:
        """The cells of each unit in turn."""
        runs = [(part, *self._start(part)) for part in parts]
        for number, (part, folder, run) in enumerate(runs):
            progress(f"{part.name}, {number + 1} of {len(runs)}")
            if run.result().returncode:
                run = self._tools.start(_yosys(_other_script(part)), folder)
                check(run.result(), FPGA_YOSYS.distribution)
            yield _cells(part, read_json(folder / "stat.json"))

    def _start(self, part: Unit) -> tuple[Path, Future[Result]]:
        folder = self._folder / str(len(self.netlists))
        folder.mkdir()
        write_file(folder / "unit.il", part.text.encode())
        write_file(folder / _MULTIPLEXER, self._multiplexer)
        self.netlists.append((part, folder / _NETLIST))
        return folder, self._tools.start(_yosys(_script(part, self._delay)), folder)


def _yosys(script: str) -> list[str]:
    return command(FPGA_YOSYS, "run_yosys", "-q", "-p", script)


def _script(unit: Unit, delay: int) -> str:
    """What Yosys does with a unit whose paths may take so many picoseconds."""
    return f"scratchpad -set abc9.D {delay}; {_mapped(unit)}; {_synth(unit, 'map_ffs:')}; {_result(unit)}"


def _other_script(unit: Unit) -> str:
    """The same with ABC in place of ABC9, which ends without a word in some units of many registers and little logic.

    It knows no delays of the FPGA's cells, and needs more of them.
    """
    flip_flops, behind = _synth(unit, "map_ffs:map_luts"), _synth(unit, "map_cells:check")
    return (
        f"{_mapped(unit)}; {flip_flops}; techmap -map +/lattice/latches_map.v; abc -lut 4:7; {behind}; {_result(unit)}"
    )


def _mapped(unit: Unit) -> str:
    """A unit mapped to gates, flip-flops, and what is neither."""
    # What is selected by a number is to become multiplexers of four, not sums of products.
    numbered = f"hierarchy -top {unit.top}; proc; flatten; opt; pmux2shiftx -min_density {_DENSITY} -min_choices 4"
    gates = _synth(unit, "begin:map_ffs")
    return f"read_rtlil unit.il; {numbered}; {gates}; muxcover -mux4={_COST}; techmap -map {_MULTIPLEXER}"


def _result(unit: Unit) -> str:
    """What Yosys leaves: counts, and the netlist without its boxes, of which some have no form as JSON."""
    return f"tee -q -o stat.json stat -json; select {unit.top}; write_json -selected {_NETLIST}"


def _synth(unit: Unit, steps: str) -> str:
    return f"synth_ecp5 {SYNTH_OPTIONS} -top {unit.top} -run {steps}"


def _cells(unit: Unit, statistics: Mapping[str, Any]) -> Cells:
    """The cells that Yosys counts in a unit; black boxes are none of the FPGA's."""
    counted: Mapping[str, int] = statistics["modules"][unit.module].get("num_cells_by_type", {})
    types = Counter(counted)
    return Cells(
        luts=types["LUT4"] + CARRY_LUTS * types["CCU2C"] + RAM_LUTS * types["TRELLIS_DPR16X4"],
        registers=types["TRELLIS_FF"],
        block_rams=sum(types[kind] for kind in BLOCK_RAMS),
        multipliers=types[MULTIPLIER],
    )
