"""Fetches that one register serializes without need.

A fetch of an R5xx core writes channels of a register, and the next instruction that names the register waits for it,
even one that writes other channels. Source: docs/design/r5xx-core.md.
"""

import re
from collections.abc import Iterator, Sequence

from ctm.sim.profile.profile import Statement

_FETCH = re.compile(r"TEX\w* r(?P<register>\d+)(?:\.(?P<channels>[rgba]+))? = (?P<source>.*)")
"""As the disassembler writes one."""
_ALL = "rgba"


def serialized_fetches(statements: Sequence[Statement]) -> Iterator[tuple[Statement, int]]:
    """Fetches that write channels of a register which the fetch before them leaves alone, and the register."""
    before: re.Match[str] | None = None
    for statement in statements:
        fetch = _FETCH.match(statement.text)
        if before is not None and fetch is not None and _is_needless(before, fetch):
            yield statement, int(fetch["register"])
        before = fetch


def _is_needless(before: re.Match[str], fetch: re.Match[str]) -> bool:
    """Whether a fetch waits for the one before it for the sake of the register alone."""
    one, other = (set(each["channels"] or _ALL) for each in (before, fetch))
    reads = re.search(rf"\br{fetch['register']}\b", fetch["source"])
    return before["register"] == fetch["register"] and not one & other and reads is None
