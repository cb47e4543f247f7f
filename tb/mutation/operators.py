"""Mutation operators: the small mistakes that a node of a syntax tree can be given."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
Symbols = dict[type[ast.AST], tuple[str, type[ast.AST], str]]


@dataclass(frozen=True)
class Edit:
    """One mistake: `text` names it, `node` replaces the node that it is made in."""

    text: str
    node: ast.AST


_COMPARISONS: Symbols = {
    ast.Lt: ("<", ast.LtE, "<="), ast.LtE: ("<=", ast.Lt, "<"), ast.Gt: (">", ast.GtE, ">="),
    ast.GtE: (">=", ast.Gt, ">"), ast.Eq: ("==", ast.NotEq, "!="), ast.NotEq: ("!=", ast.Eq, "=="),
    ast.Is: ("is", ast.IsNot, "is not"), ast.IsNot: ("is not", ast.Is, "is"), ast.In: ("in", ast.NotIn, "not in"),
    ast.NotIn: ("not in", ast.In, "in"),
}  # fmt: skip
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_EXCHANGED: Symbols = {
    ast.Add: ("+", ast.Sub, "-"), ast.Sub: ("-", ast.Add, "+"), ast.Mult: ("*", ast.Add, "+"),
    ast.BitAnd: ("&", ast.BitOr, "|"), ast.BitOr: ("|", ast.BitAnd, "&"), ast.BitXor: ("^", ast.BitOr, "|"),
    ast.LShift: ("<<", ast.RShift, ">>"), ast.RShift: (">>", ast.LShift, "<<"),
    ast.And: ("and", ast.Or, "or"), ast.Or: ("or", ast.And, "and"),
}  # fmt: skip
_SWAPPED = {ast.Sub: "-", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_UNARY = {ast.Not: "not", ast.Invert: "~", ast.USub: "-"}
_FUNCTIONS = {"min": "max", "minimum": "maximum", "any": "all"}
_FUNCTIONS |= {new: old for old, new in _FUNCTIONS.items()}
_CHOICES = ("where", "Mux")
_RESET_VALUE = "init"
_TEXTS = (ast.List, ast.Tuple, ast.JoinedStr, ast.ListComp)


def changed(node: Node, **fields: object) -> Node:
    """A copy of a node in which some fields are others."""
    return type(node)(**{name: getattr(node, name, None) for name in (*node._fields, *node._attributes)} | fields)


def edits(node: ast.AST, *, rebinds: bool = False) -> Iterator[Edit]:
    """All mistakes that a node can be given, always in the same order.

    `rebinds` tells of an assignment that its names are bound before: without it they have their old values. An
    assignment that binds a name first is kept, because any test finds a name that is missing.
    """
    for operator in OPERATORS:
        yield from operator(node)
    if isinstance(node, ast.Assign) and rebinds:
        yield _dropped(node)


def _comparison(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Compare):
        return
    for position, old in enumerate(node.ops):
        symbol, new, new_symbol = _COMPARISONS[type(old)]
        ops = [*node.ops[:position], new(), *node.ops[position + 1 :]]
        yield Edit(f"{symbol} -> {new_symbol}", changed(node, ops=ops))
    if len(node.ops) == 1 and isinstance(node.ops[0], _ORDERS):
        symbol = _COMPARISONS[type(node.ops[0])][0]
        yield Edit(f"operands of {symbol} swapped", changed(node, left=node.comparators[0], comparators=[node.left]))


def _condition(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and _is_negated_here(node.test):
        yield Edit("condition negated", changed(node, test=_not(node.test)))
    if isinstance(node, ast.comprehension):
        for position, test in enumerate(node.ifs):
            if _is_negated_here(test):
                ifs = [*node.ifs[:position], _not(test), *node.ifs[position + 1 :]]
                yield Edit("condition negated", changed(node, ifs=ifs))


def _not(test: ast.expr) -> ast.expr:
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _is_negated_here(test: ast.expr) -> bool:
    """Whether no other operator negates a condition already."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return isinstance(test.ops[0], _ORDERS)
    return not isinstance(test, ast.Constant) and not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _constant(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield Edit(f"{node.value} -> {not node.value}", changed(node, value=not node.value))
    elif isinstance(node.value, int):
        for value in (node.value + 1, node.value - 1):
            new: ast.expr = changed(node, value=abs(value))
            if value < 0:
                new = ast.copy_location(ast.UnaryOp(ast.USub(), new), node)
            yield Edit(f"{node.value} -> {value}", new)


def _operator(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.AugAssign) and not _is_of_module(node.target) and type(node.op) in _EXCHANGED:
        old, new, symbol = _EXCHANGED[type(node.op)]
        yield Edit(f"{old}= -> {symbol}=", changed(node, op=new()))
    if not isinstance(node, ast.BinOp | ast.BoolOp):
        return
    if type(node.op) in _EXCHANGED and not _joins_texts(node):
        old, new, symbol = _EXCHANGED[type(node.op)]
        yield Edit(f"{old} -> {symbol}", changed(node, op=new()))
    if isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED and not _joins_texts(node):
        yield Edit(f"operands of {_SWAPPED[type(node.op)]} swapped", changed(node, left=node.right, right=node.left))


def _joins_texts(node: ast.BinOp | ast.BoolOp) -> bool:
    """Whether an operation is of texts or lists, of which no other operator is one."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return any(
        isinstance(side, _TEXTS) or isinstance(side, ast.Constant) and isinstance(side.value, str) for side in sides
    )


def _is_of_module(target: ast.expr) -> bool:
    """Whether an assignment's target is a domain of a module of hardware: ``m.d.sync``, ``m.d[domain]``."""
    inner = target.value if isinstance(target, ast.Attribute | ast.Subscript) else None
    return isinstance(inner, ast.Attribute) and inner.attr == "d"


def _negation(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        yield Edit(f"{_UNARY[type(node.op)]} removed", node.operand)


def _call(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Call):
        return
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name in _CHOICES and len(node.args) == 3:
        yield Edit(f"branches of {name} swapped", changed(node, args=[node.args[0], node.args[2], node.args[1]]))
    if name in _FUNCTIONS:
        key = "attr" if isinstance(node.func, ast.Attribute) else "id"
        yield Edit(f"{name} -> {_FUNCTIONS[name]}", changed(node, func=changed(node.func, **{key: _FUNCTIONS[name]})))
    others = [keyword for keyword in node.keywords if keyword.arg != _RESET_VALUE]
    if len(others) < len(node.keywords):
        yield Edit("reset value dropped", changed(node, keywords=others))


def _bounds(node: ast.AST) -> Iterator[Edit]:
    if not isinstance(node, ast.Slice):
        return
    for name in ("lower", "upper"):
        bound = getattr(node, name)
        if bound is None:
            continue
        yield Edit(f"{name} bound dropped", changed(node, **{name: None}))
        if not isinstance(bound, ast.Constant):
            beyond = ast.copy_location(ast.BinOp(bound, ast.Add(), ast.Constant(1)), bound)
            yield Edit(f"{name} bound + 1", changed(node, **{name: beyond}))


def _statement(node: ast.AST) -> Iterator[Edit]:
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple):
        yield _dropped(node)
    elif isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant):
        yield _dropped(node)
    elif isinstance(node, ast.Raise | ast.Continue | ast.Break) or isinstance(node, ast.Return) and node.value is None:
        yield _dropped(node)
    elif isinstance(node, ast.AugAssign):
        yield _dropped(node)
        entries = node.value.elts if isinstance(node.value, ast.List) and len(node.value.elts) > 1 else []
        for position, entry in enumerate(entries):
            others = [*entries[:position], *entries[position + 1 :]]
            yield Edit(f"dropped: {ast.unparse(entry)}", changed(node, value=changed(node.value, elts=others)))


def _dropped(node: ast.stmt) -> Edit:
    return Edit("statement dropped", ast.copy_location(ast.Pass(), node))


OPERATORS: tuple[Callable[[ast.AST], Iterator[Edit]], ...] = (
    _comparison, _condition, _constant, _operator, _negation, _call, _bounds, _statement,
)  # fmt: skip
