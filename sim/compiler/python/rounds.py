"""What a `for` goes over: the numbers of a range, or the items of tuples and lists."""

import ast
from collections.abc import Callable
from typing import NamedTuple

from ctm import language
from ctm.sim.compiler.python.error import Problem, UnsupportedError
from ctm.sim.compiler.python.expressions import Expressions
from ctm.sim.compiler.python.values import BOOL, INT, Items, Row, Table, Thing, Value, Word, known, length_of

_GOES_OVER = "a loop goes over range(...), unroll(range(...)), a tuple or a list"
_Rows = list[Row]
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
    call = _call(expressions, node)
    is_unrolled = False
    if call is not None and call.function is language.unroll and len(call.arguments) == 1:
        (node,), is_unrolled = call.arguments, True
        call = _call(expressions, node)
    if call is not None and call.function is range:
        return _range(expressions, node, call, is_unrolled=is_unrolled)
    if is_unrolled:
        raise UnsupportedError(node, "unroll() takes a range(...); a loop over a tuple or a list is unrolled as it is")
    rows: _Rows = []
    length, item = _items(expressions, node, rows)
    return Rounds(known(0), known(length), 1, item, True, tuple(rows))


class _Call(NamedTuple):
    function: object
    arguments: list[ast.expr]
    named: dict[str | None, ast.expr]


def _call(expressions: Expressions, node: ast.expr) -> _Call | None:
    """The call of a word that an expression is, such as `range(...)`; None if it is none."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    found = expressions.thing(node.func)
    if not isinstance(found, Word):
        return None
    return _Call(found.object, node.args, {each.arg: each.value for each in node.keywords})


def _range(expressions: Expressions, node: ast.expr, call: _Call, *, is_unrolled: bool) -> Rounds:
    values = [expressions.value(each) for each in call.arguments]
    if call.named or not 1 <= len(values) <= 3 or any(each.type not in (INT, BOOL) for each in values):
        raise UnsupportedError(node, "range() takes one to three ints")
    step = values[2].constant if len(values) > 2 else 1
    if not step:
        raise UnsupportedError(node, "the step of a range is a number that is known, and not 0")
    end = values[min(len(values) - 1, 1)]
    if end.constant is not None and abs(end.constant + step) > 1 << 31:
        raise UnsupportedError(node, "a range that ends within a step of 2^31: the counter has 32 bits")
    first = known(0) if len(values) == 1 else values[0]
    return Rounds(first, end, int(step), lambda counter: counter, is_unrolled)


def _items(expressions: Expressions, node: ast.expr, rows: _Rows) -> tuple[int, _Item]:
    """How many items something has, and each by its number; lists are added to `rows`."""
    call = _call(expressions, node)
    if call is not None and call.function in _MAKERS:
        return _MAKERS[call.function](expressions, node, call, rows)
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
        except Problem:
            message = "a loop goes over numbers of a table, or up to 32 items of one type and length"
            raise UnsupportedError(node, message) from None

    return size, item_at


_Maker = Callable[[Expressions, ast.expr, _Call, _Rows], tuple[int, _Item]]


def _enumerated(expressions: Expressions, node: ast.expr, call: _Call, rows: _Rows) -> tuple[int, _Item]:
    arguments = [*call.arguments, *(value for name, value in call.named.items() if name == "start")]
    if len(arguments) not in (1, 2) or {*call.named} - {"start"}:
        raise UnsupportedError(node, "enumerate() takes a tuple or a list, and the number of its first item")
    length, item = _items(expressions, arguments[0], rows)
    start = expressions.items(arguments[1]) if len(arguments) > 1 else known(0)
    if not isinstance(start, Value) or start.type not in (INT, BOOL):
        raise UnsupportedError(node, "enumerate() begins with an int")
    return length, lambda counter: Items((expressions.combined(ast.Add(), counter, start), item(counter)))


def _zipped(expressions: Expressions, node: ast.expr, call: _Call, rows: _Rows) -> tuple[int, _Item]:
    if not call.arguments or {*call.named} - {"strict"}:
        raise UnsupportedError(node, "zip() takes tuples and lists")
    lengths, items = zip(*(_items(expressions, each, rows) for each in call.arguments), strict=True)
    strict = call.named.get("strict")
    if len(set(lengths)) > 1 and strict is not None and expressions.value(strict).constant is not False:
        raise UnsupportedError(node, f"zip() of {', '.join(map(str, lengths))} items")
    return min(lengths), lambda counter: Items(tuple(item(counter) for item in items))


def _reversed(expressions: Expressions, node: ast.expr, call: _Call, rows: _Rows) -> tuple[int, _Item]:
    if len(call.arguments) != 1 or call.named:
        raise UnsupportedError(node, "reversed() takes a tuple or a list")
    inner = _call(expressions, call.arguments[0])
    if inner is not None and inner.function in (enumerate, zip, reversed):
        raise UnsupportedError(node, "reversed() takes a tuple, a list or a range: write it inside")
    length, item = _items(expressions, call.arguments[0], rows)
    return length, lambda counter: item(Value(f"({length - 1} - {counter.text})", INT))


def _ranged(expressions: Expressions, node: ast.expr, call: _Call, rows: _Rows) -> tuple[int, _Item]:
    del rows
    over = _range(expressions, node, call, is_unrolled=False)
    if over.first.constant is None or over.end.constant is None:
        message = "a range with computed ends goes by itself only; range(n - 1, -1, -1) goes backwards"
        raise UnsupportedError(node, message)
    numbers = range(int(over.first.constant), int(over.end.constant), over.step)
    if not numbers:
        raise UnsupportedError(node, "a loop over nothing: the range is empty")
    return len(numbers), lambda counter: Value(f"({numbers.start} + {counter.text} * {numbers.step})", INT)


_MAKERS: dict[object, _Maker] = {enumerate: _enumerated, zip: _zipped, reversed: _reversed, range: _ranged}
