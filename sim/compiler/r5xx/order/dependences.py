"""The dependence graph of a run of operations."""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

LATENCY = 1000
"""Of a fetch: so that all that leads to fetches comes first."""


class Access(NamedTuple):
    """What an operation reads and writes: variables, channels, or whatever else has an order; and how long it takes."""

    read: frozenset[Hashable]
    written: frozenset[Hashable]
    latency: int = 1


class Dependences:
    """For each operation, by its number, what comes before it, and its time until all is done.

    `before` are those that come in an earlier instruction, `beside` those that may share one, which reads before it
    writes.
    """

    def __init__(self, accesses: Sequence[Access]) -> None:
        self.before: list[set[int]] = [set() for _ in accesses]
        self.beside: list[set[int]] = [set() for _ in accesses]
        writers: dict[Hashable, int] = {}
        readers: dict[Hashable, list[int]] = {}
        for number, access in enumerate(accesses):
            for each in access.read | access.written:
                if each in writers:
                    self.before[number].add(writers[each])
            for each in access.written:
                self.beside[number].update(readers.pop(each, ()))
                writers[each] = number
            for each in access.read:
                readers.setdefault(each, []).append(number)
            self.beside[number] -= {number, *self.before[number]}
        self.height = [access.latency for access in accesses]
        for number in range(len(accesses) - 1, -1, -1):
            for other in self.before[number]:
                self.height[other] = max(self.height[other], accesses[other].latency + self.height[number])
            for other in self.beside[number]:
                self.height[other] = max(self.height[other], self.height[number])


class Order:
    """Takes operations one by one, each when all before it are taken."""

    def __init__(self, dependences: Dependences) -> None:
        self._dependences = dependences
        self._missing = [len(before) + len(beside) for before, beside in
                         zip(dependences.before, dependences.beside, strict=True)]  # fmt: skip
        self._successors: list[list[int]] = [[] for _ in self._missing]
        for number, (before, beside) in enumerate(zip(dependences.before, dependences.beside, strict=True)):
            for other in before | beside:
                self._successors[other].append(number)
        self._current: set[int] = set()
        self._ready = {number for number, missing in enumerate(self._missing) if not missing}

    def begin(self) -> None:
        """Begin an instruction."""
        self._current.clear()

    @property
    def ready(self) -> list[int]:
        """Those that can go into the instruction, the most urgent first."""
        before = self._dependences.before
        free = (number for number in self._ready if not before[number] & self._current)
        return sorted(free, key=lambda number: (-self._dependences.height[number], number))

    def leads_to_fetch(self, number: int) -> bool:
        """Whether an operation is a fetch, or a fetch depends on it."""
        return self._dependences.height[number] >= LATENCY

    def take(self, numbers: Iterable[int]) -> None:
        """Put operations into the instruction."""
        for number in numbers:
            self._ready.remove(number)
            self._current.add(number)
            for other in self._successors[number]:
                self._missing[other] -= 1
                if not self._missing[other]:
                    self._ready.add(other)
