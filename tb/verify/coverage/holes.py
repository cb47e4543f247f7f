"""Cells that no program covered: each is explained by a row of ``explained.toml``, or a hole.

A row names cells of a table by patterns as of a shell, and says why no program can cover them. Before a campaign has
run enough seeds for a table, its holes are told and do not count.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ctm.tb.verify.tally import Tally

TABLE = Path(__file__).with_name("explained.toml")


@dataclass(frozen=True)
class Row:
    """Cells of a table that match one of the patterns, and why they are not covered."""

    table: str
    cells: tuple[str, ...]
    reason: str

    def explains(self, cell: str) -> bool:
        """Whether it names a cell."""
        return any(fnmatchcase(cell, pattern) for pattern in self.cells)


@dataclass(frozen=True)
class Coverage:
    """One table of a campaign: how many programs covered each cell, and those that none did."""

    campaign: str
    table: str
    counts: Mapping[str, int]
    cells: Sequence[str]
    explained: Mapping[str, str]
    """Cells that are not covered, and why."""
    is_enough: bool
    """Whether the campaign has run enough seeds for holes to count."""
    enough: int
    """How many seeds that are."""

    @property
    def covered(self) -> int:
        """How many cells some program covered."""
        return sum(cell in self.counts for cell in self.cells)

    @property
    def holes(self) -> list[str]:
        """Cells that neither a program covered nor a row explains."""
        return [cell for cell in self.cells if cell not in self.counts and cell not in self.explained]

    @property
    def unknown(self) -> list[str]:
        """Cells that some program covered and the table does not have."""
        known = set(self.cells)
        return [cell for cell in self.counts if cell not in known]


def read(table: Path = TABLE) -> list[Row]:
    """The rows of a table.

    Raises
    ------
    ValueError
        A row lacks its cells or its reason.
    """
    rows = []
    for name, entries in tomllib.loads(table.read_text()).items():
        for entry in entries:
            if entry.keys() != {"cells", "reason"} or not entry["reason"].strip() or not entry["cells"]:
                raise ValueError(f"{table}: a row of {name} is to have cells and a reason")
            rows.append(Row(name, tuple(entry["cells"]), entry["reason"]))
    return rows


def coverage_of(tally: Tally, rows: Sequence[Row]) -> Iterator[Coverage]:
    """The tables of a campaign."""
    campaign = tally.campaign
    for table, cells in campaign.tables().items():
        counts, own = tally.covered(table), [row for row in rows if row.table == table]
        explained = {
            cell: row.reason for cell in cells if cell not in counts for row in own if row.explains(cell)
        }  # fmt: skip
        is_enough = tally.seeds >= campaign.enough
        yield Coverage(campaign.name, table, counts, cells, explained, is_enough, campaign.enough)
