"""The exits of a loop: what happens there, and how it can be moved after the loop or removed."""

from collections.abc import Iterator
from dataclasses import replace

from ctm.sim.compiler.r5xx.structure import Body, Break, Copies, If, Straight


def _exits(body: Body) -> Iterator[tuple[Body, int]]:
    """Each break of a loop with this body: the statements that it is one of, and its index."""
    for index, statement in enumerate(body):
        if isinstance(statement, Break):
            yield body, index
        elif isinstance(statement, If):
            yield from _exits(statement.then)
            yield from _exits(statement.otherwise)


def count_of_exits(body: Body) -> int:
    """How many breaks there are."""
    return sum(1 for _ in _exits(body))


def last_copies(body: Body) -> Copies | None:
    """What all breaks copy, if that is the same and they do nothing else; None if it is not."""
    found = [_copies(arm, index) for arm, index in _exits(body)]
    return found[0] if found and all(each == found[0] for each in found) else None


def _copies(arm: Body, index: int) -> Copies | None:
    before = arm[index - 1] if index else None
    if before is None or isinstance(before, Straight | If):
        return Copies([])
    return before if isinstance(before, Copies) else None


def without_last_copies(body: Body) -> Body:
    """The body without the copies before its breaks."""
    found: Body = []
    for statement in body:
        if isinstance(statement, Break) and found and isinstance(found[-1], Copies):
            found.pop()
        if isinstance(statement, If):
            then, otherwise = without_last_copies(statement.then), without_last_copies(statement.otherwise)
            statement = replace(statement, then=then, otherwise=otherwise)
        found.append(statement)
    return found


def _is_exit(arm: Body) -> bool:
    return len(arm) == 1 and isinstance(arm[0], Break)


def ends_at_once(body: Body) -> bool:
    """Whether a round begins with a comparison, and a break or the remainder of the body."""
    return (
        len(body) > 1
        and isinstance(body[0], Straight)
        and isinstance(body[1], If)
        and body[1].condition == body[0].instruction.result
        and (_is_exit(body[1].then) or _is_exit(body[1].otherwise))
    )


def without_test(body: Body) -> Body:
    """Such a body without its test."""
    first, test = body[:2]
    assert isinstance(test, If)
    return [first, *(test.otherwise if _is_exit(test.then) else test.then), *body[2:]]


def with_predicate(body: Body, channel: str) -> Body | None:
    """The body whose one break keeps its condition in a predicate; None if a round may not reach it."""
    for index, statement in enumerate(body):
        if isinstance(statement, If) and (_is_exit(statement.then) or _is_exit(statement.otherwise)):
            is_first = _is_exit(statement.then)
            remainder = statement.otherwise if is_first else statement.then
            arm: Body = [Break()]
            test = replace(statement, then=arm if is_first else [], otherwise=[] if is_first else arm,
                           predicate=channel)  # fmt: skip
            return [*body[:index], test, *remainder, *body[index + 1 :]]
    return None
