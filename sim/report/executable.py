"""What is in an executable, as a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_description(description: Mapping[str, Any]) -> None:
    """Print what `describe` found as a table."""
    table = Table(show_header=False, box=None, pad_edge=False)
    for key, value in description.items():
        table.add_row(key.replace("_", " "), _text(value))
    Console().print(table)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {entry}" for key, entry in value.items()) or "none"
    if isinstance(value, list):
        # Else a 0 would look as if there were none of them.
        return f"number{'s' * (len(value) > 1)} {_ranges(value)}" if value else "none"
    return str(value)


def _ranges(indices: Sequence[int]) -> str:
    """Ascending numbers with runs as `3-7`."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and index == runs[-1][-1] + 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
