"""Gives each variable a channel of a temporary, those of a group channels of one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES
from ctm.sim.compiler.r5xx.groups import Groups
from ctm.sim.compiler.r5xx.interference import Interference
from ctm.sim.compiler.r5xx.operations import PIXEL, Steps, operations

Place = tuple[int, int]
"""A temporary and its channel."""


class TooManyError(Exception):
    """There are not enough temporaries."""


def allocated(steps: Steps, groups: Groups) -> dict[str, Place]:
    """The place of each variable. A lookup has registers of its own if there are enough: who uses one waits for it.

    Raises
    ------
    TooManyError
        There are not enough registers.
    """
    others = Interference(steps, frozenset(PIXEL)).others
    names = dict.fromkeys(name for each in operations(steps) for name in (*each.written, *each.read))
    sets = list(dict.fromkeys(groups.of(name) for name in (*PIXEL, *names)))
    sets.sort(key=lambda each: (PIXEL[0] not in each, each not in groups.closed, -len(each)))
    ordered = [[name for name in (*PIXEL, *names) if name in each] for each in map(dict.fromkeys, sets)]
    for is_apart in (True, False):
        alone = {members[0] for members in ordered if is_apart and groups.of(members[0]) in groups.closed}
        try:
            return _places(ordered, alone, others, groups.is_alpha)
        except TooManyError:
            if not is_apart:
                raise
    raise AssertionError


def _places(
    sets: list[list[str]], alone: set[str], others: Mapping[str, set[str]], is_alpha: Mapping[str, bool]
) -> dict[str, Place]:
    """Places of sets of variables; those that begin with one of `alone` share their registers with no other set."""
    places: dict[str, Place] = {name: (0, channel) for channel, name in enumerate(PIXEL)}
    reserved: set[int] = set()
    for members in sets:
        missing = [name for name in members if name not in places]
        taken = [{places[other] for other in others[name] if other in places} for name in missing]
        if members[0] in alone:
            closed = {register for register, _ in set().union(*taken)}
        else:
            closed = set() if members[0] in PIXEL else reserved
        registers = [0] if members[0] in PIXEL else [n for n in range(TEMPORARIES) if n not in closed]
        chosen = _found(taken, registers, [is_alpha.get(name) for name in missing])
        places.update(zip(missing, chosen, strict=True))
        if members[0] in alone:
            reserved.update(register for register, _ in chosen)
    return places


def _found(taken: Sequence[set[Place]], registers: Iterable[int], is_alpha: Sequence[bool | None]) -> list[Place]:
    """The first register with a channel for each variable, of which some places are taken, as they like it best."""
    by_dislike: dict[int, list[tuple[int, ...]]] = {}
    for channels in permutations(range(CHANNELS), len(taken)):
        by_dislike.setdefault(_disliked(channels, is_alpha), []).append(channels)
    for _, orders in sorted(by_dislike.items()):
        for register in registers:
            for channels in orders:
                chosen = [(register, channel) for channel in channels]
                if all(place not in others for place, others in zip(chosen, taken, strict=True)):
                    return chosen
    raise TooManyError


def _disliked(channels: Sequence[int], is_alpha: Sequence[bool | None]) -> int:
    """How many variables are in another channel than they should."""
    return sum(wanted is not None and wanted != (channel == CHANNELS - 1)
               for channel, wanted in zip(channels, is_alpha, strict=True))  # fmt: skip
