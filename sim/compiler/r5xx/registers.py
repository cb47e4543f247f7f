"""Register allocation: each variable gets a channel of a temporary, those of a register set channels of one."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from ctm.rtl.isa.limits import CHANNELS, TEMPORARIES
from ctm.sim.compiler.r5xx.interference import Interference
from ctm.sim.compiler.r5xx.operations import PIXEL, Steps, operations
from ctm.sim.compiler.r5xx.register_sets import RegisterSets

Component = tuple[int, int]
"""A temporary and its channel."""


class TooManyError(Exception):
    """There are not enough temporaries."""


def allocated(steps: Steps, register_sets: RegisterSets) -> dict[str, Component]:
    """The component of each variable. A fetch has its own registers if there are enough: a use of one waits for it.

    Raises
    ------
    TooManyError
        There are not enough registers.
    """
    others = Interference(steps, frozenset(PIXEL)).others
    names = dict.fromkeys(name for each in operations(steps) for name in (*each.written, *each.read))
    sets = list(dict.fromkeys(register_sets.of(name) for name in (*PIXEL, *names)))
    sets.sort(key=lambda each: (PIXEL[0] not in each, each not in register_sets.closed, -len(each)))
    ordered = [[name for name in (*PIXEL, *names) if name in each] for each in map(dict.fromkeys, sets)]
    for is_apart in (True, False):
        alone = {members[0] for members in ordered if is_apart and register_sets.of(members[0]) in register_sets.closed}
        try:
            return _components(ordered, alone, others, register_sets.is_alpha)
        except TooManyError:
            if not is_apart:
                raise
    raise AssertionError


def _components(
    sets: list[list[str]], alone: set[str], others: Mapping[str, set[str]], is_alpha: Mapping[str, bool]
) -> dict[str, Component]:
    """Components of sets of variables; those that begin with one of `alone` share their registers with no other set."""
    components: dict[str, Component] = {name: (0, channel) for channel, name in enumerate(PIXEL)}
    reserved: set[int] = set()
    for members in sets:
        missing = [name for name in members if name not in components]
        taken = [{components[other] for other in others[name] if other in components} for name in missing]
        if members[0] in alone:
            closed = {register for register, _ in set().union(*taken)}
        else:
            closed = set() if members[0] in PIXEL else reserved
        registers = [0] if members[0] in PIXEL else [n for n in range(TEMPORARIES) if n not in closed]
        chosen = _found(taken, registers, [is_alpha.get(name) for name in missing])
        components.update(zip(missing, chosen, strict=True))
        if members[0] in alone:
            reserved.update(register for register, _ in chosen)
    return components


def _found(
    taken: Sequence[set[Component]], registers: Iterable[int], is_alpha: Sequence[bool | None]
) -> list[Component]:
    """The first register with a channel for each variable, with some components taken, by their preference."""
    by_dislike: dict[int, list[tuple[int, ...]]] = {}
    for channels in permutations(range(CHANNELS), len(taken)):
        by_dislike.setdefault(_disliked(channels, is_alpha), []).append(channels)
    for _, orders in sorted(by_dislike.items()):
        for register in registers:
            for channels in orders:
                chosen = [(register, channel) for channel in channels]
                if all(component not in others for component, others in zip(chosen, taken, strict=True)):
                    return chosen
    raise TooManyError


def _disliked(channels: Sequence[int], is_alpha: Sequence[bool | None]) -> int:
    """How many variables are in another channel than they should."""
    return sum(wanted is not None and wanted != (channel == CHANNELS - 1)
               for channel, wanted in zip(channels, is_alpha, strict=True))  # fmt: skip
