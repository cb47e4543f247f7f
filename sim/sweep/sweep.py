"""A sweep from its points to its table: what is done already, what is left, and rows as they come."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ctm import __version__
from ctm.rtl.config import MachineConfig
from ctm.sim.files import try_files
from ctm.sim.sweep.area import known_luts
from ctm.sim.sweep.columns import Row, columns_of, hardware_of, row_of
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.journal import Journal, journal_of
from ctm.sim.sweep.measuring import ERROR, OK, Plan, Record, Task
from ctm.sim.sweep.points import Points
from ctm.sim.sweep.table import read_table, write_table
from ctm.sim.sweep.versions import sources

_HEAD = "sweep"
"""Key of the journal's first record, which says what made it."""
_NOT_MEASURED = ("number", "configuration", "preset", "job", "height", "width", "engine")


@dataclass
class Progress:
    """How far a sweep is; `records` are those of points by identity, `areas` LUT4 by hardware."""

    points: Points
    table: Path
    records: dict[str, Record] = field(default_factory=dict)
    areas: dict[str, int] = field(default_factory=dict)
    uncounted: dict[str, str] = field(default_factory=dict)
    """Hardware whose area could not be counted, and why."""

    def plan(self) -> Plan:
        """What is left: points without a record, and those that failed for what may have been mended since."""
        sweep, digests = self.points.sweep, self.points.digests
        left = [
            point for point in self.points.points
            if self.records.get(point.identity, {"status": ERROR})["status"] == ERROR
        ]  # fmt: skip
        tasks = tuple(
            Task(
                identity=point.identity, job=digests[point.job, point.size], config=point.config, engine=point.engine,
                watchdog=sweep.watchdog, max_cycles=sweep.max_cycles,
            )
            for point in left
        )  # fmt: skip
        jobs = {digests[key]: job for key, job in self.points.jobs.items()}
        return Plan(tasks=tasks, jobs=jobs, areas=self._missing_areas() if sweep.area else {})

    def take(self, record: Record) -> None:
        """Take over one record."""
        if "area" in record:
            if record["lut4"] is None:
                self.uncounted[record["area"]] = record["reason"]
            else:
                self.uncounted.pop(record["area"], None)
                self.areas[record["area"]] = record["lut4"]
        else:
            self.records[record["point"]] = record

    @property
    def done(self) -> int:
        """Points that have a record."""
        return len(self.records)

    @property
    def failures(self) -> list[Record]:
        """Records of points that failed."""
        return [record for record in self.records.values() if record["status"] != OK]

    def rows(self) -> list[Row]:
        """The rows of all points that have a record, in the order of the points."""
        for own, config in self._machines().items():
            if own not in self.areas and (luts := known_luts(config)) is not None:
                self.areas[own] = luts
        return [
            row_of(point, self.points, self.records[point.identity], self.areas.get)
            for point in self.points.points
            if point.identity in self.records
        ]

    def write(self) -> list[Row]:
        """Write the table; its rows."""
        rows = self.rows()
        write_table(self.table, rows, columns_of(self.points.sweep.sets))
        return rows

    def _machines(self) -> dict[str, MachineConfig]:
        return {hardware_of(point.config): point.config for point in self.points.points}

    def _missing_areas(self) -> dict[str, MachineConfig]:
        return {
            own: config
            for own, config in self._machines().items()
            if own not in self.areas and known_luts(config) is None
        }


@contextmanager
def begun(points: Points, table: Path, *, resume: bool) -> Iterator[tuple[Progress, Journal]]:
    """A sweep into a table, and its journal, which no other sweep has meanwhile.

    Raises
    ------
    SweepError
        There is a table, or a journal, and it is not to be resumed or is another sweep's; or another sweep writes it.
    OSError
        The table cannot be written.
    """
    _check_new(table, resume=resume)
    try_files({table: 0}, make_folders=True)
    with Journal(table, {_HEAD: {"version": __version__, "sources": sources()}}) as journal:
        # Between the look above and the lock another sweep may have ended.
        _check_table(table, resume=resume)
        progress = Progress(points, table)
        if table.exists():
            _resume_rows(progress, read_table(table))
        for number, record in enumerate(journal.records, 1):
            if not _is_complete(record):
                raise SweepError(f"{journal.path}:{number}: this is no line of a journal; move the file away")
            if _HEAD in record:
                _check_sources(journal.path, record[_HEAD].get("sources"))
            else:
                progress.take(record)
        _check_known(progress)
        yield progress, journal


def go_on(progress: Progress, journal: Journal, records: Iterable[Record], tell: Callable[[Record], None]) -> None:
    """Keep records as they come; `tell` is called with each when it is on disk. OSError: it could not be kept."""
    for record in records:
        journal.add(record)
        progress.take(record)
        tell(record)


def _check_new(table: Path, *, resume: bool) -> None:
    _check_table(table, resume=resume)
    journal = journal_of(table)
    if journal.exists() and not resume:
        # Its lock says whether another process writes it.
        with Journal(table) as found:
            is_empty = not found.records
        if not is_empty:
            problem = "a sweep into this table was interrupted; --resume goes on, or name another table with -o"
            raise SweepError(f"{table}: {problem}")


def _check_table(table: Path, *, resume: bool) -> None:
    if table.exists() and not resume:
        raise SweepError(f"{table}: it is there already; --resume goes on with it, or name another table with -o")


def _resume_rows(progress: Progress, rows: Iterable[Row]) -> None:
    for row in rows:
        _check_sources(progress.table, row["sources"])
        measured = {name: value for name, value in row.items() if value is not None and name not in _NOT_MEASURED}
        progress.take({"reason": None, **measured})
        if row["lut4"] is not None:
            progress.areas[row["hardware"]] = row["lut4"]


def _is_complete(record: Record) -> bool:
    """Whether a line of a journal has what is read of it: a head, an area, or a point."""
    if _HEAD in record:
        return isinstance(record[_HEAD], dict)
    name, needed = ("area", {"lut4", "reason"}) if "area" in record else ("point", {"status", "reason"})
    return isinstance(record.get(name), str) and needed <= record.keys()


def _check_sources(file: Path, found: object) -> None:
    if found != sources():
        problem = f"its points were made by other sources of ctm ({found}; these are {sources()})"
        raise SweepError(f"{file}: {problem}; name another table with -o")


def _check_known(progress: Progress) -> None:
    known = {point.identity for point in progress.points.points}
    others = [identity for identity in progress.records if identity not in known]
    if others:
        problem = f"{len(others)} of its points are none of {progress.points.path}, which has changed or is another"
        raise SweepError(f"{progress.table}: {problem}; name another table with -o")
