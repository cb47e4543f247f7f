"""Measures what docs/synthesis.md says of levels and chains of presets, recorded in docs/preset_levels.json.

``python -m scripts.preset_levels`` maps each preset as ``ctm synth --levels`` does, a few minutes each, and writes the
document's section anew. With names of presets the others stay as they are recorded. Levels are the same on every
computer.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from ctm.rtl.config import PRESETS
from ctm.sim.files import write_file
from ctm.sim.synthesis.levels.measuring import measure_levels
from ctm.sim.synthesis.levels.table import levels_fields
from ctm.sim.synthesis.whole import FREQUENCY
from scripts.preset_names import short
from scripts.records import measured
from scripts.reference_tables import table

DOCS = Path(__file__).parents[1] / "docs"
FILE, PAGE = DOCS / "preset_levels.json", DOCS / "synthesis.md"
HEADING = "## Levels of presets\n"
MEASURED = ("tiny", "default", "small", "r700", "r700-small")
_CHAINS = 3
"""Chains of each preset in the document."""

Levels = Mapping[str, Any]


def measure(preset: str) -> Levels:
    """The figures of a preset, as of `levels_fields`, with the first chains."""
    with tempfile.TemporaryDirectory(prefix="ctm-levels-") as folder:
        found = levels_fields(measure_levels(PRESETS[preset], folder=Path(folder), frequency=FREQUENCY))
    return found | {"chains": found["chains"][:_CHAINS]}


def section(recorded: Mapping[str, Levels]) -> str:
    """The section of the document, with its heading."""
    presets = [preset for preset in MEASURED if preset in recorded]
    most = max(int(units) for preset in presets for units in recorded[preset]["ends"])
    texts = [
        HEADING,
        "Written by `python -m scripts.preset_levels`; do not edit. Ends are those of all paths of a machine, by the "
        "units of the longest chain that leads to them.",
        "",
        *table(
            (
                "preset",
                "most levels",
                "most units",
                "ends",
                "1 unit",
                *(f"{units} units" for units in range(2, most + 1)),
            ),
            (_ends(preset, recorded[preset], most) for preset in presets),
        ),
        "Levels of each unit alone, and linked; 0 if no path ends there. A dash: the machine has no such unit.",
        "",
        *table(("unit", *presets), _units([recorded[preset]["units"] for preset in presets])),
        f"The path of the most levels, and the {_CHAINS} chains of the most units. After each unit is the port by "
        "which the signal leaves it, or comes to the next one.",
        "",
        *table(
            ("preset", "units", "levels", "from", "through", "to"),
            (row for preset in presets for row in _chains(preset, recorded[preset])),
        ),
    ]
    return "\n".join(texts).rstrip() + "\n"


def _ends(preset: str, levels: Levels, most: int) -> tuple[object, ...]:
    ends = {int(units): count for units, count in levels["ends"].items()}
    counts = (f"{ends[units]:,}" if units in ends else "" for units in range(1, most + 1))
    return f"`{preset}`", levels["deepest"]["levels"], max(ends), f"{sum(ends.values()):,}", *counts


def _units(presets: list[list[Levels]]) -> Iterator[tuple[str, ...]]:
    """A row for each unit, those with the most levels first."""
    figures = [{short(unit["name"]): (unit["linked"], unit["alone"]) for unit in units} for units in presets]
    names = {name for each in figures for name in each}
    most = {name: max(each[name] for each in figures if name in each) for name in names}
    for name in sorted(names, key=lambda name: (-most[name][0], -most[name][1], name)):
        yield f"`{name}`", *(f"{each[name][1]}, {each[name][0]}" if name in each else "-" for each in figures)


def _chains(preset: str, levels: Levels) -> Iterator[tuple[object, ...]]:
    for chain in (levels["deepest"], *levels["chains"]):
        start, end = (f"`{chain[name]}`" for name in ("start", "end"))
        yield f"`{preset}`", len(chain["steps"]), chain["levels"], start, _through(chain), end


def _through(chain: Levels) -> str:
    steps = chain["steps"]
    ports = [before["left"] or after["entered"] or "" for before, after in pairwise(steps)]
    return " > ".join(
        f"{short(step['unit'])} `{port}`" if port else short(step["unit"])
        for step, port in zip(steps, [*ports, ""], strict=True)
    )


def written(page: str, recorded: Mapping[str, Levels]) -> str:
    """The document with its section anew."""
    before, _, after = page.partition(HEADING)
    following = re.search(r"^## ", after, re.MULTILINE)
    return before + section(recorded) + (f"\n{after[following.start() :]}" if following else "")


def main(presets: list[str]) -> None:
    """Measure some presets, or all, and write what is recorded and the document."""
    for preset, recorded in measured(FILE, presets, MEASURED, measure):
        print(f"{preset}: {recorded[preset]['deepest']['levels']} levels", file=sys.stderr, flush=True)
        write_file(PAGE, written(PAGE.read_text(encoding="utf-8"), recorded).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
