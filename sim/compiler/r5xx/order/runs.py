"""Operations that follow each other, with no condition and no loop between them."""

from collections.abc import Callable
from dataclasses import replace

from ctm.sim.compiler.r5xx.operations import Choice, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.order.dependences import LATENCY, Access

_EFFECTS = "effects"
"""What is written in the order of the source: outputs, and kills."""


def access(operation: Operation) -> Access:
    """What an operation reads and writes."""
    has_effect = not operation.results and not operation.test
    latency = LATENCY if operation.name == "LOOKUP" else 1
    written = (*operation.written, *((_EFFECTS,) if has_effect else ()), *(("test",) if operation.test else ()))
    return Access(frozenset(operation.read), frozenset(written), latency)


def each_run(steps: Steps, change: Callable[[list[Operation]], list[Operation]]) -> Steps:
    """The steps with operations that follow each other changed, those of inner loops first."""
    found: Steps = []
    waiting: list[Operation] = []
    inner: Steps = []
    for step in steps:
        if isinstance(step, Repeat):
            inner.append(replace(step, body=each_run(step.body, change)))
        elif isinstance(step, Choice):
            arms = each_run(step.then, change), each_run(step.otherwise, change)
            inner.append(replace(step, then=arms[0], otherwise=arms[1]))
        else:
            inner.append(step)
    for step in inner:
        if isinstance(step, Operation):
            waiting.append(step)
        else:
            found += [*change(waiting), step]
            waiting = []
    return [*found, *change(waiting)]
