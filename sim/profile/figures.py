"""The figures of a profile: what an instruction, a line or a whole program issued and waited for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ctm.rtl.config import CacheConfig
from ctm.rtl.dpp.watch import Wait

WAITS: tuple[Wait, ...] = tuple(wait for wait in Wait if wait not in (Wait.FREE, Wait.ISSUE))
"""What a wavefront can wait for."""
CAUSES: Mapping[Wait, str] = {
    Wait.START: "its registers, which are cleared",
    Wait.RESULT: "its previous instruction",
    Wait.CODE: "instructions that are loaded",
    Wait.CONSTANT: "a constant that is loaded",
    Wait.FETCH: "responses of fetches",
    Wait.REQUEST: "space towards memory",
    Wait.PORT: "its unit, which is taken",
    Wait.OUTPUT: "its outputs, which are sent",
}
"""That in words, as docs/profile.md has it."""
ACCESSES = "hits", "misses", "shared_hits", "shared_misses"
"""What is counted of the input cache's two levels."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was issued, the lanes of it, and what wavefronts waited for.

    issues
        Wavefronts that issued it, once for each time.
    active, working, present
        Their lanes that were active, covered or not, which the machine's counters have; that were active, covered and
        valid; that were covered and valid.
    hits, misses
        Accesses of its fetches to lines of the first level of the input cache, of those that hit and that missed.
    shared_hits, shared_misses
        Those of these misses to the second level; until it is asked for the last ones they are fewer.
    waited
        Cycles that wavefronts waited to issue it, by cause, all wavefronts together; empty where there are no cycles.
    """

    issues: int = 0
    active: int = 0
    working: int = 0
    present: int = 0
    hits: int = 0
    misses: int = 0
    shared_hits: int = 0
    shared_misses: int = 0
    waited: dict[Wait, int] = field(default_factory=dict)

    @property
    def cost(self) -> int:
        """Cycles that wavefronts had it before them, one for each issue with them; issues where there are no cycles."""
        return self.issues + sum(self.waited.values())

    def waits_for(self, cause: Wait) -> int:
        """Cycles that wavefronts waited for a cause."""
        return self.waited.get(cause, 0)

    @property
    def loaded(self) -> int:
        """Bytes of lines that its fetches missed, and that were loaded into the first level."""
        return self.misses * CacheConfig.LINE_BYTES

    @property
    def from_memory(self) -> int:
        """Bytes of lines that the second level missed, too, and that memory gave."""
        return self.shared_misses * CacheConfig.LINE_BYTES

    @property
    def lost(self) -> int:
        """Lanes that did nothing while others of their wavefront executed it."""
        return self.present - self.working

    @property
    def efficiency(self) -> float:
        """Working lanes of those that are covered and valid: SIMD efficiency, 1 where there were none."""
        return self.working / self.present if self.present else 1.0


_COUNTS = "issues", "active", "working", "present", *ACCESSES


def figures_of(row: Any) -> Figures:
    """Those of a row of `ctm.sim.engines.seen`."""
    waited: dict[Wait, int] = {wait: int(row["waited"][wait.value]) for wait in WAITS if row["waited"].any()}
    return Figures(**{name: int(row[name]) for name in _COUNTS}, waited=waited)


def total(summands: Iterable[Figures]) -> Figures:
    """The sum."""
    result = Figures()
    for summand in summands:
        result = Figures(
            **{name: getattr(result, name) + getattr(summand, name) for name in _COUNTS},
            waited={wait: result.waited.get(wait, 0) + summand.waited.get(wait, 0) for wait in summand.waited}
            if summand.waited
            else result.waited,
        )
    return result
