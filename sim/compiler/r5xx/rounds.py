"""How often loops are repeated. The machine's loops have at most 255 rounds, so others become two, one in the other."""

import re

from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import Function, Instruction, split
from ctm.sim.compiler.r5xx.structure import Body, Break, Flag, If, Loop, loops

MOST_ROUNDS = 255
DEEPEST = 4
"""Loops inside each other that a core can have."""


class TooDeepError(Exception):
    """Loops are nested deeper than a core's."""


def limited(function: Function, body: Body) -> Body:
    """The body with loops of at most MOST_ROUNDS rounds; one without a known limit has up to MOST_ROUNDS squared.

    Raises
    ------
    TooDeepError
        More than DEEPEST of them are inside each other.
    """
    flow = Flow(function)
    short = {head for head, blocks in loops(flow).items() if _is_short(flow, head, blocks)}
    return _limited(body, short, 0)


def _limited(body: Body, short: set[str], depth: int) -> Body:
    found: Body = []
    for statement in body:
        if isinstance(statement, If):
            then, otherwise = (_limited(way, short, depth) for way in (statement.then, statement.otherwise))
            found.append(If(statement.condition, then, otherwise))
        elif isinstance(statement, Loop):
            is_short = statement.head in short
            deeper = depth + (1 if is_short else 2)
            if deeper > DEEPEST:
                raise TooDeepError
            inner = _limited(statement.body, short, deeper)
            found += [Loop(statement.head, inner)] if is_short else _twice(statement.head, inner)
        else:
            found.append(statement)
    return found


def _twice(head: str, body: Body) -> Body:
    """A loop around a loop; whoever leaves the inner one says so."""
    flag = f"%-over.{head}"
    inner = Loop(head, _telling(body, flag), has_end=True)
    return [Flag(flag, 0), Loop("", [inner, If(flag, [Break()])])]


def _telling(body: Body, flag: str) -> Body:
    found: Body = []
    for statement in body:
        if isinstance(statement, Break):
            found.append(Flag(flag, 1))
        if isinstance(statement, If):
            found.append(If(statement.condition, _telling(statement.then, flag), _telling(statement.otherwise, flag)))
        else:
            found.append(statement)
    return found


def _is_short(flow: Flow, head: str, blocks: set[str]) -> bool:
    """Whether a counter that begins and ends at numbers ends the loop in time, on every way through it."""
    latches = [label for label in flow.leading[head] if label in blocks]
    instructions = {each.result: each for label in blocks for each in flow.blocks[label].instructions}
    for phi in flow.blocks[head].instructions:
        if phi.opcode != "phi":
            break
        counter = _counter(phi, instructions)
        if counter is None:
            continue
        names, first, step = counter
        for label in blocks:
            leaves = any(target not in blocks for target in flow.following[label])
            if leaves and all(label in flow.dominators[latch] for latch in latches):
                limit = _limit(flow.blocks[label].instructions[-1], instructions, names)
                if limit is not None and 0 <= (limit - first) / step < MOST_ROUNDS - 2:
                    return True
    return False


def _counter(phi: Instruction, instructions: dict[str, Instruction]) -> tuple[set[str], float, float] | None:
    """Names of a counter before and after its step, where it begins, and the step."""
    incoming = re.findall(r"\[ (\S+), \S+ \]", phi.text)
    numbers = [value for value in map(_number, incoming) if value is not None]
    steps = [instructions[name] for name in incoming if name in instructions]
    if len(numbers) != 1 or len(steps) != 1 or len(incoming) != 2 or steps[0].opcode not in ("add", "fadd"):
        return None
    words = split(steps[0].text)
    left, right = words[0].split(" ")[-1], words[1]
    step = _number(right)
    if left != phi.result or not step:
        return None
    return {phi.result, steps[0].result}, numbers[0], step


def _limit(branch: Instruction, instructions: dict[str, Instruction], names: set[str]) -> float | None:
    """What a branch compares a counter with."""
    found = re.match(r"br i1 (\S+),", branch.text)
    comparison = instructions.get(found[1]) if found else None
    if comparison is None or comparison.opcode not in ("icmp", "fcmp"):
        return None
    words = split(comparison.text)
    return _number(words[1]) if words[0].split(" ")[-1] in names else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
