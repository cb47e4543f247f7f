"""Makes a failing case small: takes out items, in halves first and one by one at last, as long as it still fails.

This is Zeller's and Hildebrandt's delta debugging, over the items of a campaign's case. A candidate counts if its
difference is of the same kind, and if the machine's rules define what it does.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ctm.tb.verify.campaign import Campaign, Case, Found, tried


@dataclass(frozen=True)
class Reduced:
    """The smallest case that was found, what it found, and how many candidates were run."""

    case: Case
    found: Found
    tries: int
    is_complete: bool
    """Whether no further item can be taken out; else the time was over."""


class _Over(Exception):  # noqa: N818
    """The time is over."""


class _Reduction:
    """A reduction in progress: the smallest case so far."""

    def __init__(self, campaign: Campaign, case: Case, found: Found, until: Callable[[], bool]) -> None:
        self._campaign, self._until = campaign, until
        self.case, self.found, self.tries = case, found, 0

    def take(self, make: Callable[[], Case | None]) -> bool:
        """Run a candidate, and go on with it if it fails in the same manner."""
        if self._until():
            raise _Over
        try:
            candidate = make()
            if candidate is None:
                return False
            self.tries += 1
            found = tried(self._campaign, candidate)
        except ValueError:
            # It is no program.
            return False
        if found.difference is None or found.kind != self.found.kind or not self._campaign.is_defined(candidate):
            return False
        self.case, self.found = candidate, found
        return True

    def drop_items(self) -> bool:
        """Take out items until none can be; whether any was."""
        any_dropped, chunk = False, max(1, self._campaign.size(self.case) // 2)
        while True:
            dropped = self._drop_chunks(chunk)
            any_dropped |= dropped
            if chunk > 1:
                chunk //= 2
            elif not dropped:
                return any_dropped

    def _drop_chunks(self, chunk: int) -> bool:
        """Take out each run of `chunk` items that can be; from the end, where a program's results are used."""
        dropped, end = False, self._campaign.size(self.case)
        while end > 0:
            first = max(0, end - chunk)
            items = [*range(first), *range(end, self._campaign.size(self.case))]
            dropped |= bool(items) and self.take(partial(self._smaller, items))
            end = min(first, self._campaign.size(self.case))
        return dropped

    def _smaller(self, items: list[int]) -> Case | None:
        """The case with these items only, if it has fewer: jumps may reach what could not be reached."""
        found, size = self._campaign.kept(self.case, items), self._campaign.size
        return None if found is None or size(found) >= size(self.case) else found

    def simplify(self) -> bool:
        """Take simpler cases until none is left that fails; whether there was any."""
        changed = False
        while any(self.take(partial(dict, candidate)) for candidate in self._campaign.simpler(self.case)):
            changed = True
        return changed


def reduce(campaign: Campaign, case: Case, found: Found, *, seconds: float) -> Reduced:
    """The smallest case that differs as `case` does, as far as it is found in so many seconds."""
    end = time.monotonic() + seconds
    opened = campaign.opened(case)
    reduction = _Reduction(campaign, case, found, lambda: time.monotonic() > end)
    try:
        if not campaign.size(opened) or not reduction.take(lambda: opened):
            return Reduced(case, found, reduction.tries, False)
        reduction.simplify()
        while reduction.drop_items() | reduction.simplify():
            pass
    except _Over:
        return Reduced(reduction.case, reduction.found, reduction.tries, False)
    return Reduced(reduction.case, reduction.found, reduction.tries, True)
