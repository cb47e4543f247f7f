"""Code motion: before a copy whose target an operation reads, and before a loop's exit that does not need it."""

from collections.abc import Iterator
from dataclasses import replace
from graphlib import TopologicalSorter
from heapq import heappop, heappush

from ctm.sim.compiler.r5xx.interference import Interference, Live
from ctm.sim.compiler.r5xx.operations import APART, PIXEL, Choice, Leave, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.order.dependences import Dependences
from ctm.sim.compiler.r5xx.order.runs import access, each_run


def eased(steps: Steps) -> Steps:
    """The steps in an order in which fewer sources and targets of copies interfere."""
    return each_run(steps, _eased)


def _eased(run: list[Operation]) -> list[Operation]:
    """Schedule readers of a copy's target before the source's definition, so that the copy can be coalesced."""
    dependences = Dependences([access(each) for each in run])
    before = [left | right for left, right in zip(dependences.before, dependences.beside, strict=True)]
    for index, operation in enumerate(run):
        if operation.copied is None:
            continue
        target, source = operation.copied
        made = max((at for at in range(index) if source in run[at].results), default=index)
        readers = {at for at in range(made + 1, index) if target in run[at].read}
        if readers and not any(_leads(before, made, reader) for reader in readers):
            before[made] |= readers
    return [run[at] for at in _sorted(before)]


def _sorted(before: list[set[int]]) -> Iterator[int]:
    """Numbers in topological order, else in their own."""
    sorter = TopologicalSorter(dict(enumerate(before)))
    sorter.prepare()
    ready: list[int] = []
    while sorter.is_active():
        for number in sorter.get_ready():
            heappush(ready, number)
        first = heappop(ready)
        sorter.done(first)
        yield first


def _leads(before: list[set[int]], first: int, last: int) -> bool:
    """Whether an operation has to come before another one."""
    waiting, seen = [last], set[int]()
    while waiting:
        at = waiting.pop()
        if at == first:
            return True
        if at not in seen:
            seen.add(at)
            waiting += before[at]
    return False


def hoisted(steps: Steps) -> Steps:
    """The steps with operations after a loop's exit hoisted before it, if their results are dead after the loop."""
    return _hoisted(steps, Interference(steps, frozenset(PIXEL)), frozenset())


def _hoisted(steps: Steps, graph: Interference, live_after: Live) -> Steps:
    found: Steps = []
    for step in steps:
        if isinstance(step, Repeat):
            found.append(replace(step, body=_hoisted(step.body, graph, graph.live_after[id(step)])))
        elif isinstance(step, Choice):
            arms = _hoisted(step.then, graph, live_after), _hoisted(step.otherwise, graph, live_after)
            found.append(replace(step, then=arms[0], otherwise=arms[1]))
        else:
            found.append(step)
    index = 0
    while index < len(found):
        step = found[index]
        if isinstance(step, Choice) and step.then == [Leave()] and not step.otherwise:
            end = next((at for at in range(index + 1, len(found)) if not isinstance(found[at], Operation)), len(found))
            early, kept = _divided([each for each in found[index + 1 : end] if isinstance(each, Operation)], live_after)
            found[index:end] = [*early, step, *kept]
            index += len(early)
        index += 1
    return found


def _divided(run: list[Operation], live_after: Live) -> tuple[list[Operation], list[Operation]]:
    """Operations that are moved up, and the others: as many stay as those that have to can share instructions with."""
    dependences = Dependences([access(each) for each in run])
    kept: set[int] = set()
    for at, operation in enumerate(run):
        is_seen = not operation.results or operation.name in APART or not live_after.isdisjoint(operation.written)
        if is_seen or (dependences.before[at] | dependences.beside[at]) & kept:
            kept.add(at)
    for _ in [at for at in kept if run[at].name not in (*APART, "OUT")]:
        early = [at for at in range(len(run)) if at not in kept]
        needed = {other for at in early for other in dependences.before[at] | dependences.beside[at]}
        kept.update([at for at in early if at not in needed][-1:])
    return ([each for at, each in enumerate(run) if at not in kept], [run[at] for at in sorted(kept)])
