"""Measures what docs/area.md says: cells of each preset on an LFE5U-85F, recorded in docs/preset_areas.json.

``python -m scripts.preset_areas`` maps each preset as ``ctm synth --area`` does, a few minutes each, and writes the
page anew. With names of presets the others stay as they are recorded. Cells are the same on every computer.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctm.rtl.config import PRESETS
from ctm.sim.files import write_file
from ctm.sim.synthesis.cells import KINDS, Cells
from ctm.sim.synthesis.devices import DEFAULT_DEVICE, DEVICES
from ctm.sim.synthesis.whole import measure_machine
from scripts.preset_names import short
from scripts.records import measured
from scripts.reference_tables import table

DOCS = Path(__file__).parents[1] / "docs"
FILE, PAGE = DOCS / "preset_areas.json", DOCS / "area.md"
_LARGE = 1_000
"""LUT4 from which on a unit has a row of its own, if it takes as many in one of the presets."""

Areas = Mapping[str, Any]


def measure(preset: str) -> Areas:
    """All cells of a preset, and those of its units by their names, all that it has of a unit together."""
    with tempfile.TemporaryDirectory(prefix="ctm-areas-") as folder:
        found = measure_machine(PRESETS[preset], folder=Path(folder))
    units: dict[str, Cells] = {}
    for unit in found.units:
        name = short(unit.name)
        units[name] = units.get(name, Cells()) + unit.all
    return {"all": asdict(found.total), "units": {name: asdict(cells) for name, cells in units.items()}}


def page(recorded: Mapping[str, Areas]) -> str:
    """The document."""
    device = DEVICES[DEFAULT_DEVICE]
    kinds = [device.family.kinds[kind] for kind in KINDS]
    lines = [
        "# Cells of presets",
        "",
        "Written by `python -m scripts.preset_areas`; do not edit. Cells are those of `ctm synth --preset P --area`, "
        f"of an {device.title}: [fpga.md](fpga.md#how-it-is-counted) says how they are counted.",
        "",
        *table(("preset", *kinds, "beyond the device"), (_total(preset, each) for preset, each in recorded.items())),
        f"LUT4 of units that take {_LARGE:,} or more in one preset, all instances of a unit together. A dash: the "
        "preset has no such unit.",
        "",
        *table(("unit", *(f"`{preset}`" for preset in recorded)), _units([*recorded.values()])),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _total(preset: str, areas: Areas) -> tuple[object, ...]:
    device, cells = DEVICES[DEFAULT_DEVICE], Cells(**areas["all"])
    missing = cells.lacks(device.capacity)
    lacking = ", ".join(f"{count:,} {device.family.kinds[kind]}" for kind, count in missing.items())
    return f"`{preset}`", *(f"{areas['all'][kind]:,}" for kind in KINDS), lacking or "fits"


def _units(presets: list[Areas]) -> Iterator[tuple[str, ...]]:
    """A row for each large unit, the largest first, and one for the others."""
    luts = [{name: cells["luts"] for name, cells in areas["units"].items()} for areas in presets]
    most = {
        name: max(each.get(name, 0) for each in luts) for name in dict.fromkeys(name for each in luts for name in each)
    }
    large = sorted((name for name in most if most[name] >= _LARGE), key=lambda name: -most[name])
    for name in large:
        yield f"`{name}`", *(f"{each[name]:,}" if name in each else "-" for each in luts)
    yield "all else", *(f"{sum(each.values()) - sum(each.get(name, 0) for name in large):,}" for each in luts)


def main(presets: list[str]) -> None:
    """Measure some presets, or all, and write what is recorded and the page."""
    for preset, recorded in measured(FILE, presets, [*PRESETS], measure):
        print(f"{preset}: {recorded[preset]['all']['luts']:,} LUT4", file=sys.stderr, flush=True)
        write_file(PAGE, page(recorded).encode())


if __name__ == "__main__":
    main(sys.argv[1:])
