"""Two tables of a sweep: what changed from the old one to the new one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.sim.sweep.columns import Row
from ctm.sim.sweep.measuring import OK
from ctm.sim.sweep.settings import SETTINGS

_COORDINATES = ("job", "height", "width", "engine")
_SHOWN = 60
"""Changes that are printed, those that matter most."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What differs at a point. `percent` is how much more the new value is, None where that says nothing."""

    point: str
    what: str
    old: Any
    new: Any
    percent: float | None = None
    is_beyond: bool = False
    """Whether it is worse, and by more than is tolerated."""


def changes(old: Sequence[Row], new: Sequence[Row], tolerance: float) -> list[Change]:
    """What differs between two tables, point by point; `tolerance` in percent.

    Points are the same if their settings, job, size and engine are; settings that only one table has do not count.
    Worse is: more cycles (or instructions where there are no cycles), more LUT4, a point that fails or is missing, and
    other outputs of the same program and job.
    """
    both = [name for name in (*SETTINGS, *_COORDINATES) if old and new and name in old[0] and name in new[0]]
    found = {_key(row, both): row for row in new}
    listed: list[Change] = []
    for row in old:
        other = found.pop(_key(row, both), None)
        if other is None:
            listed.append(Change(point=_name(row), what="point", old="there", new="missing", is_beyond=True))
        else:
            listed += _changes(row, other, tolerance)
    listed += [Change(point=_name(row), what="point", old="missing", new="there") for row in found.values()]
    return sorted(listed, key=lambda each: (not each.is_beyond, -abs(each.percent or 0.0)))


def _key(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _name(row: Row) -> str:
    return f"{row['configuration']}, {row['job']} {row['height']} x {row['width']}, {row['engine']}"


def _changes(old: Row, new: Row, tolerance: float) -> list[Change]:
    name = _name(new)
    if old["status"] != new["status"]:
        return [Change(point=name, what="status", old=old["status"], new=new["status"], is_beyond=old["status"] == OK)]
    found = []
    measure = "cycles" if old["cycles"] is not None and new["cycles"] is not None else "instructions"
    for what in (measure, "lut4"):
        before, after = old[what], new[what]
        if before is not None and after is not None and before != after:
            percent = 100.0 * (after - before) / before if before else float("inf")
            found.append(
                Change(point=name, what=what, old=before, new=after, percent=percent, is_beyond=percent > tolerance)
            )
    if old["outputs_sha256"] != new["outputs_sha256"]:
        is_same = all(old[column] == new[column] for column in ("program_sha256", "job_sha256"))
        short = [str(row["outputs_sha256"])[:12] for row in (old, new)]
        found.append(Change(point=name, what="outputs", old=short[0], new=short[1], is_beyond=is_same))
    return found


def as_fields(listed: Sequence[Change]) -> list[Mapping[str, Any]]:
    """Changes as plain values."""
    return [asdict(change) for change in listed]


def print_changes(console: Console, listed: Sequence[Change]) -> None:
    """A table of the changes, first those that are beyond the tolerance."""
    table = Table("point", "what", "before", "now", "change", "")
    for column in table.columns[2:5]:
        column.justify = "right"
    for change in listed[:_SHOWN]:
        values = [f"{value:,}" if isinstance(value, int) else str(value) for value in (change.old, change.new)]
        percent = "" if change.percent is None else f"{change.percent:+.2f} %"
        table.add_row(change.point, change.what, *values, percent, "beyond" if change.is_beyond else "")
    console.print(table)
    if len(listed) > _SHOWN:
        console.print(f"and {len(listed) - _SHOWN:,} changes more; --json has all")
