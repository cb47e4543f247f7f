"""Operations that were done already: their results are those of the first."""

from collections import Counter
from dataclasses import replace

from ctm.sim.compiler.r5xx.operations import ALPHA_ONLY, DOTS, Operand, Operation, Steps, operations
from ctm.sim.compiler.r5xx.order.renaming import renamed
from ctm.sim.compiler.r5xx.order.runs import each_run

_SHARED = (*ALPHA_ONLY, *DOTS, "FRC", "MIN", "MAX", "CMP")
"""Others cost no more than a copy, which a result takes that belongs into several registers."""


def shared(steps: Steps) -> Steps:
    """The steps without operations that compute again what one of the same run has, on variables written once."""
    written = Counter(name for each in operations(steps) for name in each.written)
    names: dict[str, str] = {}

    def first_only(run: list[Operation]) -> list[Operation]:
        known: dict[tuple[str, tuple[Operand, ...]], str] = {}
        found = []
        for operation in run:
            operands = tuple(
                replace(each, value=names.get(each.variable, each.variable)) if each.variable else each
                for each in operation.operands
            )
            is_single = all(written[name] <= 1 for name in (*operation.written, *operation.read))
            if operation.name in _SHARED and is_single:
                name = known.setdefault((operation.name, operands), operation.results[0])
                if name != operation.results[0]:
                    names[operation.results[0]] = name
                    continue
            found.append(operation)
        return found

    return renamed(each_run(steps, first_only), names)
