"""Measurements of presets, kept in a JSON file with a line for each."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ctm.sim.files import write_file


def read_records(file: Path) -> dict[str, Any]:
    """What is recorded by the names of presets; nothing where there is no file yet."""
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def write_records(file: Path, records: Mapping[str, Any], order: Iterable[str]) -> None:
    """Record the presets of `order` that were measured, in this order."""
    rows = (f"  {json.dumps(name)}: {json.dumps(records[name])}" for name in order if name in records)
    write_file(file, ("{\n" + ",\n".join(rows) + "\n}\n").encode())


def measured(
    file: Path, presets: Sequence[str], order: Sequence[str], measure: Callable[[str], Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Measure `presets`, or all of `order`, and record each in the file; its name, and what is recorded then."""
    records = read_records(file)
    for preset in presets or order:
        records[preset] = measure(preset)
        write_records(file, records, order)
        yield preset, read_records(file)
