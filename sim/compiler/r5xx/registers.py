"""Gives each variable a channel of a temporary: copies are made needless first, then what must be in one register."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES
from ctm.sim.compiler.r5xx.interference import Interference
from ctm.sim.compiler.r5xx.operations import PIXEL, Operation, Steps, operations

Place = tuple[int, int]
"""A temporary and its channel."""
_FIXED: dict[str, Place] = {name: (0, channel) for channel, name in enumerate(PIXEL)}


class TooManyError(Exception):
    """There are not enough temporaries."""


def allocated(steps: Steps) -> dict[str, Place]:
    """The place of each variable.

    Raises
    ------
    TooManyError
        There are not enough.
    """
    return _Allocation(steps).places()


class _Allocation:
    def __init__(self, steps: Steps) -> None:
        everything = list(operations(steps))
        self._graph = Interference(steps, frozenset(PIXEL))
        self._names = dict.fromkeys(name for each in everything for name in (*each.written, *each.read))
        self._merged: dict[str, str] = {}
        self._groups = [group for each in everything for group in _together(each)]
        self._grouped = Counter(name for group in self._groups for name in group)

    def places(self) -> dict[str, Place]:
        """The place of each variable."""
        self._coalesce()
        places: dict[str, Place] = dict(_FIXED)
        groups = [[self._name(name) for name in group] for group in self._groups]
        for group in sorted(groups, key=len, reverse=True):
            self._place_together(group, places)
        for name in self._names:
            if self._name(name) not in places:
                self._place_together([self._name(name)], places)
        return {name: places[self._name(name)] for name in self._names}

    def _name(self, name: str) -> str:
        """What stands for a variable and all that share its channel."""
        while name in self._merged:
            name = self._merged[name]
        return name

    def _coalesce(self) -> None:
        """Let the two of a copy share a channel where nothing is against it."""
        for target, source in Counter(self._graph.copies):
            one, other = self._name(target), self._name(source)
            if one == other or other in self._graph.others[one]:
                continue
            fixed = [name for name in (one, other) if name in _FIXED]
            # Of a group each has its own register, which two groups seldom share.
            if len(fixed) == 2 or bool(fixed) and bool(self._grouped[one] + self._grouped[other]):
                continue
            if self._grouped[one] and self._grouped[other]:
                continue
            if one in _FIXED:
                one, other = other, one
            self._merged[one] = other
            self._grouped[other] += self._grouped[one]
            for neighbour in self._graph.others[one]:
                self._graph.others[neighbour].discard(one)
                self._graph.others[neighbour].add(other)
            self._graph.others[other] |= self._graph.others[one]

    def _place_together(self, group: list[str], places: dict[str, Place]) -> None:
        """Place variables in channels of one register."""
        missing = [name for name in dict.fromkeys(group) if name not in places]
        if not missing:
            return
        taken = {name: {places[other] for other in map(self._name, self._graph.others[name]) if other in places}
                 for name in missing}  # fmt: skip
        for register in range(TEMPORARIES):
            for channels in permutations(range(CHANNELS), len(missing)):
                chosen = [(register, channel) for channel in channels]
                if all(place not in taken[name] for name, place in zip(missing, chosen, strict=True)):
                    places.update(zip(missing, chosen, strict=True))
                    return
        raise TooManyError


def _together(operation: Operation) -> Iterator[list[str]]:
    """Variables that an operation needs in one register."""
    if operation.name == "LOOKUP":
        yield list(operation.written)
        if [operand.variable for operand in operation.operands] != list(PIXEL):
            yield [operand.variable for operand in operation.operands if operand.variable]
