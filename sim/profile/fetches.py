"""Lookups that wait for each other without need.

A lookup of an R5xx core writes channels of a register, and the next instruction that names the register waits for it,
even one that writes other channels. Source: docs/design/r5xx-core.md.
"""

import re
from collections.abc import Iterator, Sequence

from ctm.sim.profile.profile import Statement

_LOOKUP = re.compile(r"TEX\w* r(?P<register>\d+)(?:\.(?P<channels>[rgba]+))? = (?P<source>.*)")
"""As the disassembler writes one."""
_ALL = "rgba"


def waiting_lookups(statements: Sequence[Statement]) -> Iterator[tuple[Statement, int]]:
    """Lookups that write channels of a register which the lookup before them leaves alone, and the register."""
    before: re.Match[str] | None = None
    for statement in statements:
        lookup = _LOOKUP.match(statement.text)
        if before is not None and lookup is not None and _is_needless(before, lookup):
            yield statement, int(lookup["register"])
        before = lookup


def _is_needless(before: re.Match[str], lookup: re.Match[str]) -> bool:
    """Whether a lookup waits for the one before it for the sake of the register alone."""
    one, other = (set(each["channels"] or _ALL) for each in (before, lookup))
    reads = re.search(rf"\br{lookup['register']}\b", lookup["source"])
    return before["register"] == lookup["register"] and not one & other and reads is None
