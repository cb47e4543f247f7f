"""How often loops are repeated. The machine's loops have at most 255 rounds, so others become two, one in the other."""

from dataclasses import replace

from ctm.sim.compiler.ir.flow import Flow
from ctm.sim.compiler.ir.module import Function
from ctm.sim.compiler.r5xx.loops.counters import tests
from ctm.sim.compiler.r5xx.loops.exits import (
    count_of_exits,
    ends_at_once,
    last_copies,
    with_predicate,
    without_last_copies,
    without_test,
)
from ctm.sim.compiler.r5xx.structure import Body, Break, Flag, If, Loop, loops

MOST_ROUNDS = 255
DEEPEST = 4
"""Loops inside each other that a core can have."""
_PREDICATES = "rraa"
"""The channel for a loop that is two of the machine's, by the loops around it: there are two such at most."""


class TooDeepError(Exception):
    """Loops are nested deeper than a core's."""


def limited(function: Function, body: Body) -> Body:
    """The body with loops of at most MOST_ROUNDS rounds; one without a known limit has up to MOST_ROUNDS squared.

    Raises
    ------
    TooDeepError
        More than DEEPEST of them are inside each other.
    """
    return _Limiter(function).body(body, 0)


class _Limiter:
    def __init__(self, function: Function) -> None:
        flow = Flow(function)
        self._tests = {head: tests(flow, head, blocks) for head, blocks in loops(flow).items()}

    def body(self, body: Body, depth: int) -> Body:
        """A body inside of so many of the machine's loops."""
        found: Body = []
        for statement in body:
            if isinstance(statement, If):
                then, otherwise = (self.body(way, depth) for way in (statement.then, statement.otherwise))
                found.append(replace(statement, then=then, otherwise=otherwise))
            elif isinstance(statement, Loop):
                found += self._loop(statement, depth)
            else:
                found.append(statement)
        return found

    def _loop(self, loop: Loop, depth: int) -> Body:
        copies = last_copies(loop.body)
        if copies is not None:
            loop = replace(loop, body=without_last_copies(loop.body))
        behind: Body = [copies] if copies is not None and copies.values else []
        tests = self._tests[loop.head]
        known = next((test.rounds for test in tests if test.is_first), 0)
        if copies is not None and 0 < known <= MOST_ROUNDS and ends_at_once(loop.body):
            return [Loop(loop.head, self.body(without_test(loop.body), self._deeper(depth, 1)), known), *behind]
        if any(test.rounds < MOST_ROUNDS for test in tests):
            return [Loop(loop.head, self.body(loop.body, self._deeper(depth, 1))), *behind]
        deeper = self._deeper(depth, 2)
        if count_of_exits(loop.body) == 1 and (marked := with_predicate(loop.body, _PREDICATES[depth])) is not None:
            return [Loop(loop.head, self.body(marked, deeper), predicate=_PREDICATES[depth]), *behind]
        return [*_twice(loop.head, self.body(loop.body, deeper)), *behind]

    def _deeper(self, depth: int, more: int) -> int:
        if depth + more > DEEPEST:
            raise TooDeepError
        return depth + more


def _twice(head: str, body: Body) -> Body:
    """A loop around a loop; whoever leaves the inner one says so."""
    flag = f"%-over.{head}"
    inner = Loop(head, _telling(body, flag), MOST_ROUNDS)
    return [Flag(flag, 0), Loop("", [inner, If(flag, [Break()])])]


def _telling(body: Body, flag: str) -> Body:
    found: Body = []
    for statement in body:
        if isinstance(statement, Break):
            found.append(Flag(flag, 1))
        if isinstance(statement, If):
            then, otherwise = _telling(statement.then, flag), _telling(statement.otherwise, flag)
            found.append(replace(statement, then=then, otherwise=otherwise))
        else:
            found.append(statement)
    return found
