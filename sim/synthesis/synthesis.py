"""Units synthesised one by one, as many at a time as tools may run."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from importlib import resources
from pathlib import Path
from typing import Any

from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.constants import without_wired_constants
from ctm.sim.synthesis.devices import Cells
from ctm.sim.synthesis.hierarchy import Unit
from ctm.sim.synthesis.report import BLOCK_RAMS, CARRY_LUTS, MULTIPLIER, RAM_LUTS
from ctm.sim.synthesis.tool import SYNTH_OPTIONS, command, read_json

_LOGIC_SHARE = 0.5
"""Of a clock's period, what is left for logic; routing takes the rest."""
_PICOSECONDS = 1_000_000
"""In a period of 1 MHz."""
_MULTIPLEXER = "multiplexer.v"
_DENSITY = 80
"""Per cent of a selection's numbers that have a case of their own, at least."""
_COST = 220
"""Of a multiplexer of four inputs, where one of two costs 100."""
_NETLIST = "netlist.json"


class Synthesis:
    """Synthesises units, each in a folder of its own; `frequency` is the clock that it has in mind, in MHz."""

    def __init__(self, folder: Path, tools: Tools, frequency: float) -> None:
        self._folder, self._tools = folder, tools
        self._delay = round(_PICOSECONDS / frequency * _LOGIC_SHARE)
        self._multiplexer = resources.files("ctm.sim.synthesis").joinpath(_MULTIPLEXER).read_bytes()
        self._netlists: list[tuple[Unit, Path]] = []

    @property
    def modules(self) -> dict[str, Mapping[str, Any]]:
        """The netlists of all units so far, by their names, with no wires for constants."""
        netlists = ((part.top, read_json(file)["modules"]) for part, file in self._netlists)
        return {name: without_wired_constants(modules[name]) for name, modules in netlists}

    def run(self, parts: Sequence[Unit], progress: Callable[[str], None]) -> Iterator[Cells]:
        """The cells of each unit in turn.

        Raises
        ------
        ToolchainError
            Yosys failed.
        """
        runs = [(part, *self._start(part)) for part in parts]
        for number, (part, folder, run) in enumerate(runs):
            progress(f"{part.name}, {number + 1} of {len(runs)}")
            if run.result().returncode:
                run = self._tools.start(_yosys(_other_script(part)), folder)
                check(run.result(), FPGA_YOSYS.distribution)
            yield _cells(part, read_json(folder / "stat.json"))

    def _start(self, part: Unit) -> tuple[Path, Future[Result]]:
        folder = self._folder / str(len(self._netlists))
        folder.mkdir()
        write_file(folder / "unit.il", part.text.encode())
        write_file(folder / _MULTIPLEXER, self._multiplexer)
        self._netlists.append((part, folder / _NETLIST))
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
