"""Copies made needless: the two variables of a copy become one where they are never needed at once."""

from collections import Counter

from ctm.sim.compiler.r5xx.interference import Interference
from ctm.sim.compiler.r5xx.operations import PIXEL, Steps, operations
from ctm.sim.compiler.r5xx.order.renaming import renamed
from ctm.sim.compiler.r5xx.register_sets import RegisterSets


def coalesced(steps: Steps, register_sets: RegisterSets) -> Steps:
    """The steps without copies that are needless; `register_sets` follows, with what has to be in one register."""
    for operation in operations(steps):
        for together in operation.together:
            assert register_sets.joined([together])
        if operation.name == "LOOKUP":
            register_sets.close(operation.written)
    graph = Interference(steps, frozenset(PIXEL))
    names: dict[str, str] = {}

    def name_of(name: str) -> str:
        while name in names:
            name = names[name]
        return name

    for target, source in Counter(graph.copies):
        one, other = name_of(target), name_of(source)
        if one == other or other in graph.others[one] or {one, other} <= set(PIXEL):
            continue
        if one in PIXEL:
            one, other = other, one
        if register_sets.merged(one, other):
            names[one] = other
            graph.merge(one, other)
    return renamed(steps, {name: name_of(name) for name in names})
