"""Whole machines on an FPGA: the area of each unit, synthesised by itself, and of all together, and the clock."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.machine import machine_rtlil
from ctm.sim.compiled.tools.package import FPGA_YOSYS
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis.border import Border
from ctm.sim.synthesis.cells import Cells
from ctm.sim.synthesis.devices import DEFAULT_DEVICE, DEVICES
from ctm.sim.synthesis.hierarchy import Unit, units
from ctm.sim.synthesis.placing import Placer, UnroutedError
from ctm.sim.synthesis.report import Placement
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import side_by_side

FREQUENCY = 60.0
"""The default clock of synthesis, MHz."""
_TOP = "ctm"
_BORDER = "border"


@dataclass(frozen=True, kw_only=True)
class UnitArea:
    """A unit: its name, how many the machine has, and the cells of one."""

    name: str
    count: int
    each: Cells

    @property
    def all(self) -> Cells:
        """The cells of all of them."""
        return self.each * self.count


@dataclass(frozen=True, kw_only=True)
class MachineArea:
    """The units of a machine, those with the most LUTs first, and what each seed gave if it was placed.

    `unrouted` has the reason for each seed with which it was not routed.
    """

    units: tuple[UnitArea, ...]
    placements: tuple[Placement, ...] = ()
    unrouted: Mapping[int, str] = field(default_factory=dict)

    @property
    def total(self) -> Cells:
        """The cells of the machine."""
        return sum((unit.all for unit in self.units), Cells())


def measure_machine(
    config: MachineConfig,
    *,
    folder: Path,
    frequency: float = FREQUENCY,
    device: str = DEFAULT_DEVICE,
    seeds: Sequence[int] = (),
    progress: Callable[[str], None] = lambda text: None,
) -> MachineArea:
    """Synthesise a machine for one of `DEVICES`, unit by unit, as many at a time as there are processors.

    Paths that are shorter than half of the period of `frequency`, in MHz, are mapped for area. With `seeds` it is
    placed and routed, once for each, if there are tools for `device` and it is large enough. `folder` keeps what the
    tools write, of the last seed. `progress` is called with the title of each step.

    Raises
    ------
    ToolchainError
        Yosys or nextpnr is missing or failed.
    """
    FPGA_YOSYS.require()
    target = DEVICES[device]
    progress("writing the machine")
    listed = units(machine_rtlil(config, top=_TOP), _TOP)
    with side_by_side() as tools:
        synthesis = Synthesis(folder, tools, frequency, target.family)
        areas = tuple(
            UnitArea(name=unit.name, count=unit.count, each=cells)
            for unit, cells in zip(listed, synthesis.run(listed, progress), strict=True)
        )
        found = MachineArea(units=tuple(sorted(areas, key=lambda area: -area.all.luts)))
        nextpnr = target.alone
        if not seeds or nextpnr is None or found.total.lacks(target.capacity):
            return found
        around = surrounding(listed)
        list(synthesis.run([around], progress))
        netlist = synthesis.netlist(around.top)
    placer = Placer(nextpnr=nextpnr, frequency=frequency, folder=folder, progress=progress, tells_paths=True)
    sited = placer.with_sites(netlist, around.top, seeds[0])
    placements, unrouted = [], {}
    for seed in seeds:
        try:
            placed = placer.place(sited, around.top, seed)
        except UnroutedError as error:
            # Not an error: another seed may be routed, and each has taken an hour.
            unrouted[seed] = str(error)
        else:
            placements.append(placed)
    return replace(found, placements=tuple(placements), unrouted=unrouted)


def surrounding(listed: Sequence[Unit]) -> Unit:
    """The registers around the machine of these units where it is placed, as a unit; the machine is a box in it."""
    machine = next(unit for unit in listed if unit.top == _TOP)
    text = convert_to_rtlil(Border(_TOP, machine.ports), top=_BORDER)
    return Unit(module=f"\\{_BORDER}", count=1, text=text + machine.box)
