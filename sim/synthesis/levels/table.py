"""Levels and chains for people and for programs."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ctm.sim.synthesis.levels.measuring import Chain, MachineLevels


def levels_fields(found: MachineLevels) -> dict[str, Any]:
    """The figures for JSON; without chains if only some units are mapped."""
    fields = {"units": [asdict(unit) for unit in found.units]}
    if found.deepest is None:
        return fields
    return fields | {
        "ends": {str(units): count for units, count in found.ends.items()},
        "deepest": asdict(found.deepest),
        "chains": [asdict(chain) for chain in found.chains],
    }


def print_levels(found: MachineLevels) -> None:
    """Print a table of units, and if all are linked the path of the most levels and the longest chains."""
    console = Console()
    is_linked = found.deepest is not None
    table = Table(title="levels of LUT4")
    table.add_column("unit")
    for title in ("number", "alone", *(("linked",) if is_linked else ())):
        table.add_column(title, justify="right")
    for unit in found.units:
        table.add_row(unit.name, str(unit.count), str(unit.alone), *((str(unit.linked),) if is_linked else ()))
    console.print(table)
    if found.deepest is not None:
        _print_chains(console, "the path of the most levels", (found.deepest,))
        _print_chains(console, "the chains of the most units", found.chains)
        console.print(f"ends of paths by the units of their longest chain: {told_ends(found.ends)}", soft_wrap=True)


def told_ends(ends: Mapping[int, int]) -> str:
    """How many ends have chains of how many units, in words."""
    return ", ".join(f"{units}: {count:,}" for units, count in ends.items())


def _print_chains(console: Console, title: str, chains: tuple[Chain, ...]) -> None:
    table = Table(title=title)
    for name in ("units", "levels"):
        table.add_column(name, justify="right")
    for name in ("unit", "comes by", "leaves by"):
        table.add_column(name, overflow="fold")
    for chain in chains:
        last = len(chain.steps) - 1
        for number, step in enumerate(chain.steps):
            figures = (str(len(chain.steps)), str(chain.levels)) if number == 0 else ("", "")
            entered = chain.start if number == 0 else step.entered or ""
            left = chain.end if number == last else step.left or ""
            table.add_row(*figures, step.unit, escape(entered), escape(left))
        table.add_section()
    console.print(table)
