"""A profile as text for a terminal."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from ctm.sim.profile.advice import advice
from ctm.sim.profile.figures import WAITS, Figures
from ctm.sim.profile.profile import ProgramProfile

_MOST_EXPENSIVE = 5
_SHOWN = 0.005
"""Causes that have less of all cycles have no column."""
_WIDTH = 150
_NOTHING = ""
_ACCESSES = "misses", "bytes", "of memory"
"""Columns of a program with fetches."""


def print_profile(profile: ProgramProfile, console: Console) -> None:
    """Print what a program issued and waited for: a sentence, the most expensive lines, and all of it.

    Lines are those of the source; of a program without them, instructions.
    """
    whole = profile.figures
    unit = "cycles of wavefronts" if profile.has_cycles else "issues"
    console.print(
        f"{profile.name}: {whole.issues:,} instructions issued, {whole.cost:,} {unit}, "
        f"{whole.efficiency:.0%} of the lanes that are covered work",
        highlight=False,
    )
    residency, occupancy = profile.residency, profile.occupancy
    if residency is not None and occupancy is not None:
        console.print(
            f"{residency.wave_slots:.1f} of the {occupancy.wave_slots} wave slots that it may use are in use; in "
            f"{residency.share_exposed:.0%} of the cycles all of them wait for results or fetches and every unit is "
            "free: others would issue then",
            highlight=False,
        )
    for sentence in advice(profile):
        console.print(f"* {sentence}", highlight=False)
    rows = list(_rows(profile))
    expensive = sorted(rows, key=lambda each: -each[1].cost)[:_MOST_EXPENSIVE]
    _print(profile, "most expensive", [each for each in expensive if each[1].cost], console)
    _print(profile, "all", rows, console)


def _rows(profile: ProgramProfile) -> Iterator[tuple[str, Figures, str]]:
    """Location, figures and text of each line, else of each instruction."""
    if profile.lines:
        for line, figures in profile.lines.items():
            yield str(line), figures, profile.source(line)
        return
    for statement in profile.statements:
        yield str(statement.unit), statement.figures, statement.text


def _print(profile: ProgramProfile, title: str, rows: list[tuple[str, Figures, str]], console: Console) -> None:
    whole = profile.figures
    waits = [wait for wait in WAITS if whole.waits_for(wait) > _SHOWN * whole.cost]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    table.add_column("line" if profile.lines else "unit", no_wrap=True)
    for name in ("share", "issues", "lanes", *(wait.name.lower() for wait in waits)):
        table.add_column(name, justify="right", no_wrap=True)
    columns = [name for name in _ACCESSES if whole.hits + whole.misses]
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    # In a narrow terminal the text is the column that wraps.
    table.add_column("source" if profile.lines else "instruction", overflow="fold")
    for location, figures, text in rows:
        waited = (_count(figures.waits_for(wait)) for wait in waits)
        lanes = f"{figures.efficiency:.0%}" if figures.issues else _NOTHING
        share = f"{figures.cost / whole.cost:.1%}" if figures.cost else _NOTHING
        accesses = tuple(map(_count, (figures.misses, figures.loaded, figures.from_memory))) if columns else ()
        table.add_row(location, share, _count(figures.issues), lanes, *waited, *accesses, text)
    console.print(table, highlight=False)


def _count(number: int) -> str:
    return f"{number:,}" if number else _NOTHING


def profile_console() -> Console:
    """Standard output, wide enough for whole lines."""
    return Console(width=max(_WIDTH, Console().width), markup=False)
