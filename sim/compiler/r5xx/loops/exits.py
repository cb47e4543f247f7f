"""The places where a loop is left: what happens there, and how it can happen behind the loop or not at all."""

from collections.abc import Iterator
from dataclasses import replace

from ctm.sim.compiler.r5xx.structure import Body, Break, Copies, If, Straight


def _exits(body: Body) -> Iterator[tuple[Body, int]]:
    """Each break of a loop with this body: the statements that it is one of, and its place."""
    for place, statement in enumerate(body):
        if isinstance(statement, Break):
            yield body, place
        elif isinstance(statement, If):
            yield from _exits(statement.then)
            yield from _exits(statement.otherwise)


def count_of_exits(body: Body) -> int:
    """How many breaks there are."""
    return sum(1 for _ in _exits(body))


def last_copies(body: Body) -> Copies | None:
    """What all breaks copy, if that is the same and they do nothing else; None if it is not."""
    found = [_copies(way, place) for way, place in _exits(body)]
    return found[0] if found and all(each == found[0] for each in found) else None


def _copies(way: Body, place: int) -> Copies | None:
    before = way[place - 1] if place else None
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


def _is_exit(way: Body) -> bool:
    return len(way) == 1 and isinstance(way[0], Break)


def ends_at_once(body: Body) -> bool:
    """Whether a round begins with a comparison, and a break or the rest."""
    return (
        len(body) > 1
        and isinstance(body[0], Straight)
        and isinstance(body[1], If)
        and body[1].condition == body[0].instruction.result
        and (_is_exit(body[1].then) or _is_exit(body[1].otherwise))
    )


def without_test(body: Body) -> Body:
    """The rest of such a body."""
    first, test = body[:2]
    assert isinstance(test, If)
    return [first, *(test.otherwise if _is_exit(test.then) else test.then), *body[2:]]


def with_predicate(body: Body, channel: str) -> Body | None:
    """The body whose one break keeps its condition in a predicate; None if every round need not come by."""
    for place, statement in enumerate(body):
        if isinstance(statement, If) and (_is_exit(statement.then) or _is_exit(statement.otherwise)):
            is_first = _is_exit(statement.then)
            rest = statement.otherwise if is_first else statement.then
            way: Body = [Break()]
            test = replace(statement, then=way if is_first else [], otherwise=[] if is_first else way,
                           predicate=channel)  # fmt: skip
            return [*body[:place], test, *rest, *body[place + 1 :]]
    return None
