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
_MOST_OF_TWO = MOST_ROUNDS**2
_MOST_OF_THREE = MOST_ROUNDS**3
DEEPEST = 4
"""Loops inside each other that a core can have."""
_PREDICATES = "rraa"
"""The channel for a loop that is two of the machine's, by the loops around it: there are two such at most."""


class TooDeepError(Exception):
    """Loops are nested deeper than a core's."""


class TooLongError(Exception):
    """A loop, by its first block, is known to have so many rounds, and may have `limit`."""

    def __init__(self, head: str, rounds: int, limit: int) -> None:
        super().__init__(head, rounds, limit)
        self.head = head
        self.rounds = rounds
        self.limit = limit


def limited(function: Function, body: Body) -> Body:
    """The body with loops of at most MOST_ROUNDS rounds.

    One that is known to have more becomes two or three, one in the other; one without a known limit becomes two, and
    ends when they do.

    Raises
    ------
    TooDeepError
        More than DEEPEST of them are inside each other.
    TooLongError
        One is known to have more rounds than three have, or more than two where no three can be.
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
                then, otherwise = (self.body(arm, depth) for arm in (statement.then, statement.otherwise))
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
        after: Body = [copies] if copies is not None and copies.values else []
        tests = self._tests[loop.head]
        known = next((test.rounds for test in tests if test.is_first), 0)
        if copies is not None and 0 < known <= MOST_ROUNDS and ends_at_once(loop.body):
            return [Loop(loop.head, self.body(without_test(loop.body), self._deeper(depth, 1)), known), *after]
        if any(test.rounds < MOST_ROUNDS for test in tests):
            return [Loop(loop.head, self.body(loop.body, self._deeper(depth, 1))), *after]
        least = min((test.rounds for test in tests), default=0)
        # The last test is one more beginning of a round.
        if least >= _MOST_OF_TWO:
            return [*self._thrice(loop, least, depth), *after]
        deeper = self._deeper(depth, 2)
        if count_of_exits(loop.body) == 1 and (marked := with_predicate(loop.body, _PREDICATES[depth])) is not None:
            return [Loop(loop.head, self.body(marked, deeper), predicate=_PREDICATES[depth]), *after]
        return [*_nested(loop.head, self.body(loop.body, deeper), 2), *after]

    def _thrice(self, loop: Loop, rounds: int, depth: int) -> Body:
        try:
            body = self.body(loop.body, self._deeper(depth, 3))
        except TooDeepError:
            raise TooLongError(loop.head, rounds, _MOST_OF_TWO) from None
        if rounds >= _MOST_OF_THREE:
            raise TooLongError(loop.head, rounds, _MOST_OF_THREE)
        return _nested(loop.head, body, 3)

    def _deeper(self, depth: int, more: int) -> int:
        if depth + more > DEEPEST:
            raise TooDeepError
        return depth + more


def _nested(head: str, body: Body, count: int) -> Body:
    """A loop that is several, one in the other; leaving the innermost one sets a flag, which leaves the others."""
    flag = f"%-over.{head}"
    loop = Loop(head, _telling(body, flag), MOST_ROUNDS)
    for number in range(2, count + 1):
        rounds = MOST_ROUNDS if number < count else 0
        loop = Loop("", [loop, If(flag, [Break()])], rounds)
    return [Flag(flag, 0), loop]


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
