"""What a sweep has so far: a line of JSON for each point and area that ended, on disk before the next one counts.

The journal stands beside the table until the table is complete. It is also the lock: one sweep at a time holds it. What
a crash left half written at its end is cut off by the next one.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ctm.sim.files import naming
from ctm.sim.sweep.error import SweepError
from ctm.sim.sweep.measuring import Record

_SUFFIX = ".journal"


def journal_of(table: Path) -> Path:
    """Where the journal of a table is."""
    return table.with_name(table.name + _SUFFIX)


class Journal:
    """The journal of a table, locked while the context lasts; errors of files are OSErrors that name it.

    `head` is written before the first record.
    """

    def __init__(self, table: Path, head: Record | None = None) -> None:
        self.path = journal_of(table)
        self._table, self._head = table, head
        self.records: list[Record] = []
        """Those that were there."""

    def __enter__(self) -> Self:
        with naming(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # A link may lead to a file that the user did not name.
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self.path, flags, 0o666)
        try:
            self._lock()
            self.records = list(self._read())
        except BaseException:
            os.close(self._descriptor)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if os.fstat(self._descriptor).st_size == 0 and self._is_own():
            # Nothing was done: nothing is kept.
            self.path.unlink()
        os.close(self._descriptor)

    def add(self, record: Record) -> None:
        """Append a record; it is on disk when this returns, or not in the journal at all.

        Raises
        ------
        OSError
            The disk is full, or fails.
        """
        end = os.fstat(self._descriptor).st_size
        records = [record] if end or self._head is None else [self._head, record]
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in records)
        with naming(self.path):
            try:
                written = 0
                while written < len(lines):
                    written += os.write(self._descriptor, lines[written:])
                os.fsync(self._descriptor)
            except OSError:
                os.ftruncate(self._descriptor, end)
                raise

    def kept(self) -> list[Record]:
        """Those that are there now, as the file has them."""
        return list(self._read())

    def remove(self) -> None:
        """Drop it: the table has everything."""
        with naming(self.path):
            self.path.unlink()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = "another sweep writes this table; wait for its end, or name another table with -o"
            raise SweepError(f"{self._table}: {problem}") from None
        if not self._is_own():
            problem = "another sweep has just completed this table; --resume goes on with it"
            raise SweepError(f"{self._table}: {problem}")

    def _is_own(self) -> bool:
        """Whether the file that is locked is still the one of that name."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self.path, follow_symlinks=False))
        except FileNotFoundError:
            return False

    def _read(self) -> Iterator[Record]:
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.ftruncate(self._descriptor, whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                record: Any = json.loads(line)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise SweepError(f"{self.path}:{number}: this is no line of a journal; move the file away")
            yield record
