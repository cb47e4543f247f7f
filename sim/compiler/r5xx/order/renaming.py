"""Variables by other names."""

from collections.abc import Mapping
from dataclasses import replace

from ctm.sim.compiler.r5xx.operations import Choice, Operand, Operation, Repeat, Steps


def renamed(steps: Steps, names: Mapping[str, str]) -> Steps:
    """The steps with other names of variables, without copies that are none then."""
    found: Steps = []
    for step in steps:
        if isinstance(step, Choice):
            arms = renamed(step.then, names), renamed(step.otherwise, names)
            found.append(replace(step, then=arms[0], otherwise=arms[1]))
        elif isinstance(step, Repeat):
            found.append(replace(step, body=renamed(step.body, names)))
        elif isinstance(step, Operation):
            results = tuple(names.get(name, name) for name in step.results)
            operands = tuple(_operand(operand, names) for operand in step.operands)
            operation = replace(step, results=results, operands=operands)
            if operation.copied is None or operation.copied[0] != operation.copied[1]:
                found.append(operation)
        else:
            found.append(step)
    return found


def _operand(operand: Operand, names: Mapping[str, str]) -> Operand:
    name = operand.variable
    return replace(operand, value=names.get(name, name)) if name else operand
