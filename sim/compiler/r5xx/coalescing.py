"""Copies made needless: the two variables of a copy become one where they are never needed at once."""

from collections import Counter

from ctm.sim.compiler.r5xx.groups import Groups
from ctm.sim.compiler.r5xx.interference import Interference
from ctm.sim.compiler.r5xx.operations import PIXEL, Steps, operations
from ctm.sim.compiler.r5xx.order.renaming import renamed


def coalesced(steps: Steps, groups: Groups) -> Steps:
    """The steps without copies that are needless; `groups` follows, with what has to be in one register."""
    for operation in operations(steps):
        for together in operation.together:
            assert groups.joined([together])
        if operation.name == "LOOKUP":
            groups.close(operation.written)
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
        if groups.merged(one, other):
            names[one] = other
            graph.merge(one, other)
    return renamed(steps, {name: name_of(name) for name in names})
