"""Small sweeps over the examples, as files, and the rows of their tables."""

from pathlib import Path
from typing import Any

from ctm.examples.catalogue import job
from ctm.sim.sweep.table import read_table

TOP = Path(__file__).parents[2].resolve()
SAXPY = job("saxpy")
SMALL = f"""
engines = ["golden"]

[[configurations]]
preset = "tiny"
[configurations.settings]
array.threads = [4, 8, 16]

[[jobs]]
file = "{SAXPY}"
sizes = [8, [4, 12]]
"""
"""Six points that take no time."""
POINTS = 6


def sweep_in(folder: Path, text: str = SMALL) -> Path:
    """A file of a sweep in a folder."""
    path = folder / "sweep.toml"
    path.write_text(text)
    return path


def rows_of(table: Path) -> list[dict[str, Any]]:
    """Rows without the seconds that they took."""
    return [{name: value for name, value in row.items() if name != "host_seconds"} for row in read_table(table)]
