"""A campaign: one kind of random test, drawn from seeds, and what is needed to make a failing one small.

A case is what JSON holds: it travels to workers and is kept in files. A drawn case is its seed. An opened one has the
program itself, from which instructions can be taken.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from ctm.sim.compiled.error import ToolchainError

Case = dict[str, Any]
"""A case as JSON holds it; `seed` is always there."""
Tables = Mapping[str, Sequence[str]]
"""The cells of each table of coverage, by its name."""


@dataclass(frozen=True)
class Found:
    """What a run found: the difference and its kind, both None if there is none, and the cells that it covered.

    `kind` says how it differs: in a step, in memory, by a hang. Keys of `events` are ``table|cell``.
    """

    difference: str | None = None
    kind: str | None = None
    events: Counter[str] = field(default_factory=Counter)


class Campaign(ABC):
    """One kind of random test.

    A worker runs `batch` seeds at a time. After `enough` seeds a cell that was never covered counts as a hole.
    """

    name: str
    about: str
    batch: ClassVar[int]
    enough: ClassVar[int]
    has_model: ClassVar[bool] = False
    """Whether all cases share one compiled model."""

    def model(self) -> Path | None:
        """The compiled model that all cases share, made if the cache does not have it; None without `has_model`."""
        return None

    @abstractmethod
    def run(self, case: Case) -> Found:
        """Run a case, drawn or opened.

        Raises
        ------
        ValueError
            An opened case does not fit: its program cannot be assembled, or a key is missing.
        """

    @abstractmethod
    def tables(self) -> Tables:
        """The cells that there are to be covered."""

    def opened(self, case: Case) -> Case:
        """The same case with its program; a drawn case itself, where it cannot be reduced."""
        return case

    def size(self, case: Case) -> int:
        """Items of an opened case that can be taken out, 0 if it cannot be reduced."""
        return 0

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """An opened case with these of its items only, in rising order; None if that is no case."""
        return None

    def simpler(self, case: Case) -> Iterator[Case]:
        """Opened cases that are simpler in something else than their items, the simplest ones first."""
        yield from ()

    def is_defined(self, case: Case) -> bool:
        """Whether the rules of the machine define what an opened case does: others may differ without a fault."""
        return True


def tried(campaign: Campaign, case: Case) -> Found:
    """What a case finds; whatever its run raises is a difference of its own kind: a fault may upset what compares.

    Raises
    ------
    ToolchainError
        No model can be compiled, which says nothing of the case.
    ValueError
        As `Campaign.run`.
    """
    try:
        return campaign.run(case)
    except (ToolchainError, ValueError):
        raise
    except Exception as error:
        return Found(f"{type(error).__name__}: {error}", type(error).__name__)
