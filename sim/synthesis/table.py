"""Results of synthesis for people and for programs."""

from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.sim.synthesis.cells import KINDS, Cells
from ctm.sim.synthesis.devices import Device
from ctm.sim.synthesis.flow import DEVICE, Result
from ctm.sim.synthesis.report import Placement, Placements, best, median_frequency
from ctm.sim.synthesis.whole import MachineArea

_SHOWN = 12
"""Lines of slow paths."""


def as_fields(result: Result) -> dict[str, Any]:
    """The figures for JSON: frequencies in MHz, times in ns."""
    return {"area": asdict(result.area), **placement_fields(result.placements)}


def placement_fields(placements: Placements) -> dict[str, Any]:
    """The same of placements alone."""
    return {
        "best": asdict(best(placements)),
        "median_frequency": median_frequency(placements),
        "placements": [asdict(found) for found in placements],
    }


def print_result(unit: str, result: Result) -> None:
    """Print the figures: a table of cells, one of seeds, and the critical path of the best."""
    console = Console()
    area = result.area
    cells = Table(title=f"{unit} on {DEVICE}")
    figures = {
        "LUT4": area.luts,
        "logic": area.logic_luts,
        "carry": area.carry_luts,
        "memory": area.ram_luts,
        "registers": area.registers,
        "MULT18X18D": area.multipliers,
        "block RAMs": area.block_rams,
    }
    for title in figures:
        cells.add_column(title, justify="right")
    cells.add_row(*(f"{number:,}" for number in figures.values()))
    console.print(cells)

    print_placements(console, result.placements)
    console.print(f"not counted: {area.enclosure_registers} registers around the unit")


def print_placements(console: Console, placements: Placements) -> None:
    """Print a table of seeds, and of the best one the critical path and other slow ones."""
    seeds = Table()
    for title in ("seed", "MHz", "logic, ns", "routing, ns", "levels"):
        seeds.add_column(title, justify="right")
    for found in placements:
        seeds.add_row(str(found.seed), *_figures(found))
    console.print(seeds)
    fastest = best(placements)
    if len(placements) > 1:
        console.print(f"best {fastest.frequency:.1f} MHz, median {median_frequency(placements):.1f} MHz")
    path = fastest.critical_path
    console.print(f"critical path: {path.start} -> {path.end}", markup=False, highlight=False, soft_wrap=True)
    if fastest.slow_paths:
        _print_slow_paths(console, fastest)


def _print_slow_paths(console: Console, found: Placement) -> None:
    """Print a line for each two registers with slow paths between them, the slowest first."""
    console.print(f"slow paths of seed {found.seed}, of 0.9 of that time or more:", highlight=False)
    for paths in found.slow_paths[:_SHOWN]:
        figures = f"{paths.delay:6.2f} ns, {paths.routing:.2f} routing, {paths.levels:2} levels, {paths.ends:3} ends"
        console.print(f"{figures}: {paths.start} -> {paths.end}", markup=False, highlight=False, soft_wrap=True)
    more = len(found.slow_paths) - _SHOWN
    if more > 0:
        console.print(f"and {more} more, which --json has", highlight=False)


def _figures(found: Placement) -> tuple[str, ...]:
    path = found.critical_path
    return f"{found.frequency:.1f}", f"{path.logic:.2f}", f"{path.routing:.2f}", str(path.levels)


def machine_fields(found: MachineArea, device: Device) -> dict[str, Any]:
    """The figures for JSON: cells of each unit and of all, what they are, what the device has and what it lacks."""
    lacks = found.total.lacks(device.capacity)
    placed = placement_fields(found.placements) if found.placements else {}
    return placed | {
        "units": [{"name": unit.name, "count": unit.count, "each": asdict(unit.each)} for unit in found.units],
        "total": asdict(found.total),
        "room": asdict(device.capacity),
        "kinds": dict(device.family.kinds),
        "fits": not lacks,
        "lacks": lacks,
        "unrouted": [{"seed": seed, "message": message} for seed, message in found.unrouted.items()],
    }


def print_machine(found: MachineArea, device: Device) -> None:
    """Print the figures: a table of units, then whether the machine fits, and if not by how much."""
    console = Console()
    capacity, kinds = device.capacity, device.family.kinds
    table = Table(title=f"the machine on {device.title}")
    for title, justify in (("unit", "left"), ("number", "right"), *((title, "right") for title in kinds.values())):
        table.add_column(title, justify=justify)  # type: ignore[arg-type]
    for unit in found.units:
        table.add_row(unit.name, str(unit.count), *_counts(unit.all))
    table.add_section()
    table.add_row("all", "", *_counts(found.total))
    table.add_row(device.title, "", *_counts(capacity))
    console.print(table)
    total, lacks = found.total, found.total.lacks(capacity)
    missing = (
        f"{count:,} {kinds[name]} too many ({getattr(total, name) / getattr(capacity, name):.2f} times what there is)"
        for name, count in lacks.items()
    )
    console.print(f"does not fit: {', '.join(missing)}" if lacks else "fits", highlight=False, soft_wrap=True)
    if found.placements:
        print_placements(console, found.placements)
    for seed, message in found.unrouted.items():
        console.print(f"seed {seed}: {message}", highlight=False, soft_wrap=True)


def _counts(cells: Cells) -> tuple[str, ...]:
    return tuple(f"{getattr(cells, name):,}" for name in KINDS)
