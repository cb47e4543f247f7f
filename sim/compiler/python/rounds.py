"""What a `for` goes over: the numbers of a range, or the items of tuples and lists."""

import ast
from collections.abc import Callable
from typing import NamedTuple

from ctm import language
from ctm.sim.compiler.python.error import Problem, UnsupportedError
from ctm.sim.compiler.python.expressions import Expressions
from ctm.sim.compiler.python.values import BOOL, INT, Items, Row, Table, Thing, Value, Word, known, length_of

_GOES_OVER = "a loop goes over range(...), unroll(range(...)), a tuple or a list"
_Item = Callable[[Value], Thing]
"""What a loop's target is, by the counter."""


class Rounds(NamedTuple):
    """A counter's first value, its end and its step, and the target's value in a round.

    `rows` are the lists that are gone over.
    """

    first: Value
    end: Value
    step: int
    item: _Item
    is_unrolled: bool
    rows: tuple[Row, ...] = ()

    @property
    def is_entered(self) -> bool:
        """Whether it is known that there is a first round."""
        first, end = self.first.constant, self.end.constant
        return first is not None and end is not None and (end - first) * self.step > 0


def rounds(expressions: Expressions, node: ast.expr) -> Rounds:
    """The rounds of a loop over an expression; UnsupportedError if there are none like these."""
    name, arguments = _call(expressions, node)
    is_unrolled = name is language.unroll and len(arguments) == 1
    if is_unrolled:
        (node,) = arguments
        name, arguments = _call(expressions, node)
    if name is range:
        return _range(expressions, node, arguments, is_unrolled)
    if is_unrolled:
        raise UnsupportedError(node, _GOES_OVER)
    rows: list[Row] = []
    length, item = _items(expressions, node, rows)
    return Rounds(known(0), known(length), 1, item, True, tuple(rows))


def _call(expressions: Expressions, node: ast.expr) -> tuple[object, list[ast.expr]]:
    """The function that is called, and its arguments; None if it is no call of a name."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute) or node.keywords:
        return None, []
    found = expressions.thing(node.func)
    return (found.object, node.args) if isinstance(found, Word) else (None, [])


def _range(expressions: Expressions, node: ast.expr, arguments: list[ast.expr], is_unrolled: bool) -> Rounds:
    values = [expressions.value(each) for each in arguments]
    if not 1 <= len(values) <= 3 or any(each.type not in (INT, BOOL) for each in values):
        raise UnsupportedError(node, "range() takes one to three ints")
    step = values[2].constant if len(values) > 2 else 1
    if not step:
        raise UnsupportedError(node, "the step of a range is a number that is known, and not 0")
    end = values[min(len(values) - 1, 1)]
    if end.constant is not None and abs(end.constant + step) > 1 << 31:
        raise UnsupportedError(node, "a range that ends within a step of 2^31: the counter has 32 bits")
    first = known(0) if len(values) == 1 else values[0]
    return Rounds(first, end, int(step), lambda counter: counter, is_unrolled)


def _items(expressions: Expressions, node: ast.expr, rows: list[Row]) -> tuple[int, _Item]:
    """How many items something has, and each by its number; lists are added to `rows`."""
    name, arguments = _call(expressions, node)
    if name is enumerate and len(arguments) in (1, 2):
        length, item = _items(expressions, arguments[0], rows)
        start = expressions.value(arguments[1]) if len(arguments) > 1 else known(0)
        return length, lambda counter: Items((expressions.combined(ast.Add(), counter, start), item(counter)))
    if name is reversed and len(arguments) == 1:
        length, item = _items(expressions, arguments[0], rows)
        return length, lambda counter: item(Value(f"({length - 1} - {counter.text})", INT))
    if name is zip and arguments:
        lengths, items = zip(*(_items(expressions, each, rows) for each in arguments), strict=True)
        return min(lengths), lambda counter: Items(tuple(item(counter) for item in items))
    whole = expressions.items(node)
    if isinstance(whole, Row):
        rows.append(whole)
    size = length_of(whole)
    if isinstance(whole, Table):
        raise UnsupportedError(node, "the length of a list of constants is not known: loop over a range")
    if size is None:
        raise UnsupportedError(node, _GOES_OVER)
    if not size:
        raise UnsupportedError(node, "a loop over nothing: the tuple is empty")

    def item_at(counter: Value) -> Thing:
        try:
            return expressions.element(whole, counter)
        except Problem as problem:
            raise UnsupportedError(node, str(problem)) from None

    return size, item_at
