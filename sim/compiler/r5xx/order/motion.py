"""Operations moved: before a copy whose target they read, and before the end of a loop that does not need them."""

from collections.abc import Iterator
from dataclasses import replace
from graphlib import TopologicalSorter
from heapq import heappop, heappush

from ctm.sim.compiler.r5xx.interference import Interference, Live
from ctm.sim.compiler.r5xx.operations import APART, PIXEL, Choice, Leave, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.order.dependences import Dependences
from ctm.sim.compiler.r5xx.order.runs import access, each_run


def eased(steps: Steps) -> Steps:
    """The steps in an order in which variables that are copied to each other are needed at once more seldom."""
    return each_run(steps, _eased)


def _eased(run: list[Operation]) -> list[Operation]:
    """Whoever reads the target of a copy goes before what makes its source, if it can."""
    dependences = Dependences([access(each) for each in run])
    before = [left | right for left, right in zip(dependences.before, dependences.beside, strict=True)]
    for place, operation in enumerate(run):
        if operation.copied is None:
            continue
        target, source = operation.copied
        made = max((at for at in range(place) if source in run[at].results), default=place)
        readers = {at for at in range(made + 1, place) if target in run[at].read}
        if readers and not any(_leads(before, made, reader) for reader in readers):
            before[made] |= readers
    return [run[at] for at in _sorted(before)]


def _sorted(before: list[set[int]]) -> Iterator[int]:
    """Numbers, each behind those that are before it, else in their own order."""
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
    """The steps with what follows the end of a loop before it, as far as nobody behind the loop sees it."""
    return _hoisted(steps, Interference(steps, frozenset(PIXEL)), frozenset())


def _hoisted(steps: Steps, graph: Interference, behind: Live) -> Steps:
    found: Steps = []
    for step in steps:
        if isinstance(step, Repeat):
            found.append(replace(step, body=_hoisted(step.body, graph, graph.behind[id(step)])))
        elif isinstance(step, Choice):
            ways = _hoisted(step.then, graph, behind), _hoisted(step.otherwise, graph, behind)
            found.append(replace(step, then=ways[0], otherwise=ways[1]))
        else:
            found.append(step)
    place = 0
    while place < len(found):
        step = found[place]
        if isinstance(step, Choice) and step.then == [Leave()] and not step.otherwise:
            end = next((at for at in range(place + 1, len(found)) if not isinstance(found[at], Operation)), len(found))
            early, late = _divided([each for each in found[place + 1 : end] if isinstance(each, Operation)], behind)
            found[place:end] = [*early, step, *late]
            place += len(early)
        place += 1
    return found


def _divided(run: list[Operation], behind: Live) -> tuple[list[Operation], list[Operation]]:
    """Operations that are moved up, and the others: as many stay as those that have to can share instructions with."""
    dependences = Dependences([access(each) for each in run])
    late: set[int] = set()
    for at, operation in enumerate(run):
        is_seen = not operation.results or operation.name in APART or not behind.isdisjoint(operation.written)
        if is_seen or (dependences.before[at] | dependences.beside[at]) & late:
            late.add(at)
    for _ in [at for at in late if run[at].name not in (*APART, "OUT")]:
        early = [at for at in range(len(run)) if at not in late]
        needed = {other for at in early for other in dependences.before[at] | dependences.beside[at]}
        late.update([at for at in early if at not in needed][-1:])
    return ([each for at, each in enumerate(run) if at not in late], [run[at] for at in sorted(late)])
