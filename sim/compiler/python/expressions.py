"""Expressions of Python as expressions of C, with their types; what is known is computed as Python does it."""

import ast
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, Protocol

from ctm.sim.compiler.python.calls import call
from ctm.sim.compiler.python.error import Problem, UnsupportedError
from ctm.sim.compiler.python.powers import power
from ctm.sim.compiler.python.scope import UNARY, Definition, computed
from ctm.sim.compiler.python.signedness import COMPARISONS, chosen, comparison, mixes_signs
from ctm.sim.compiler.python.tables import item_of
from ctm.sim.compiler.python.values import (
    BOOL,
    FLOAT,
    INT,
    UINT,
    Arguments,
    Items,
    Number,
    Picture,
    Row,
    Table,
    Thing,
    Type,
    Value,
    Word,
    as_float,
    converted,
    known,
    length_of,
    widest,
)

_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@",
}  # fmt: skip
_OF_WHOLE = ("&", "|", "^", "<<", ">>")
_INSTEAD: dict[type[ast.expr], str] = {
    ast.Lambda: "a lambda: write a function with def",
    ast.ListComp: "a comprehension: write a loop that fills a list [0.0] * n",
    ast.GeneratorExp: "a comprehension: write a loop",
    ast.SetComp: "a comprehension: write a loop",
    ast.DictComp: "a dict: write several variables",
    ast.Dict: "a dict: write several variables",
    ast.Set: "a set: write several variables",
    ast.JoinedStr: "text: cores have none; print from the host",
    ast.NamedExpr: "an assignment in an expression: write it in a line of its own",
    ast.Starred: "a starred expression: write each item",
    ast.Slice: "a slice: write each item",
    ast.Await: "await: a kernel is an ordinary function",
    ast.Yield: "yield: a kernel returns its results",
    ast.YieldFrom: "yield: a kernel returns its results",
}
_MOST_BITS = 32
_LARGEST_SCALE = 1 << 64


class Names(Protocol):
    """What a function knows: its names, and other functions."""

    def named(self, node: ast.Name) -> Thing:
        """What a name stands for; UnsupportedError if nothing."""
        ...

    def called(self, node: ast.Call, definition: Definition, arguments: Arguments) -> Thing:
        """A call of another function."""
        ...

    def new_name(self) -> str:
        """A name in C that nothing else has."""
        ...

    def apart(self, translate: Callable[[], Value]) -> Value:
        """What is computed only sometimes, as one expression with all the lines that it needs."""
        ...

    def kept(self, found: Thing) -> Thing:
        """The same, computed here and once."""
        ...


class Expressions:
    """Translates expressions of one function."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def value(self, node: ast.expr) -> Value:
        """An expression that is a number or a vector."""
        found = self.thing(node)
        if isinstance(found, Value):
            return found
        if isinstance(found, Picture):
            raise UnsupportedError(node, "an image where a number or a vector is needed: texel(image, x, y) is one")
        what = {Items: "a tuple", Row: "a list", Table: "a list", Word: "a function"}[type(found)]
        raise UnsupportedError(node, f"{what} where a number or a vector is needed")

    def truth(self, node: ast.expr) -> str:
        """An expression as a condition of C."""
        if isinstance(node, ast.BoolOp):
            first, *others = node.values
            conditions = [self.truth(first), *(self._apart(each, self.truth_value).text for each in others)]
            return _joined(node.op, conditions)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"!{self.truth(node.operand)}"
        found = self.value(node)
        if found.type.is_vector:
            raise UnsupportedError(node, "a vector is neither true nor false: compare its components")
        return found.text if found.type == BOOL else f"({found.text} != 0)"

    def truth_value(self, node: ast.expr) -> Value:
        """Whether an expression is true."""
        return Value(self.truth(node), BOOL)

    def _apart(self, node: ast.expr, translate: Callable[[ast.expr], Value]) -> Value:
        return self._names.apart(lambda: translate(node))

    def thing(self, node: ast.expr) -> Thing:
        """Any expression.

        Raises
        ------
        UnsupportedError
            Kernels have none like this.
        """
        translate = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translate is None:
            other = f"{type(node).__name__}: kernels have no such expression"
            raise UnsupportedError(node, _INSTEAD.get(type(node), other))
        try:
            found: Thing = translate(node)
        except (Problem, ArithmeticError, ValueError, TypeError) as error:
            raise UnsupportedError(node, str(error)) from None
        return found

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, bool | int | float):
            kinds = {str: "text", bytes: "bytes", complex: "a complex number", type(None): "None"}
            if node.value is ...:
                raise Problem("...: a kernel that does nothing has the statement pass")
            raise Problem(f"{kinds[type(node.value)]}: kernels have numbers and vectors only")
        return known(node.value)

    def _name(self, node: ast.Name) -> Thing:
        return self._names.named(node)

    def _tuple(self, node: ast.Tuple) -> Items:
        return Items(tuple(map(self.thing, node.elts)))

    def items(self, node: ast.expr) -> Thing:
        """What a loop goes over, computed here and once; errors as `thing`."""
        return self._names.kept(self._with_lists(node))

    def _with_lists(self, node: ast.expr) -> Thing:
        if isinstance(node, ast.List | ast.Tuple):
            return Items(tuple(map(self._with_lists, node.elts)))
        return self.thing(node)

    def _list(self, node: ast.List) -> Items:
        raise Problem("a list is made by a line of its own: items = [0.0] * 8")

    def _attribute(self, node: ast.Attribute) -> Thing:
        found = self.thing(node.value)
        if isinstance(found, Word) and isinstance(found.object, ModuleType):
            if not hasattr(found.object, node.attr):
                raise Problem(f"{found.object.__name__} has no '{node.attr}'")
            return denoted(getattr(found.object, node.attr))
        if isinstance(found, Picture):
            raise Problem(f"an image has no '.{node.attr}': give its width and its height as parameters of int")
        if not isinstance(found, Value) or not found.type.is_vector:
            raise Problem(f"'.{node.attr}': only vectors have components")
        size, letters = found.type.size, set(node.attr)
        if len(node.attr) > 4 or not (letters <= set("xyzw"[:size]) or letters <= set("rgba"[:size])):
            raise Problem(f"a {found.type} has no '.{node.attr}'")
        return Value(f"{found.text}.{node.attr}", found.type.of(len(node.attr)))

    def _subscript(self, node: ast.Subscript) -> Thing:
        whole = self.thing(node.value)
        if isinstance(whole, Picture):
            raise Problem("an image has no items: texel(image, x, y) is one of its elements")
        return self.element(whole, self.value(node.slice))

    def element(self, whole: Thing, index: Value) -> Thing:
        """An item of something by its index; Problem if it is out of range."""
        if index.type not in (INT, UINT, BOOL):
            raise Problem("an index is an int")
        position = None if index.constant is None else int(index.constant)
        if isinstance(whole, Table):
            return _constant(whole, index)
        length = length_of(whole)
        if length is None:
            raise Problem("only lists, tuples and vectors have items")
        if position is not None:
            if not -length <= position < length:
                raise Problem(f"there is no item {position}: there are {length}")
            position %= length
        if isinstance(whole, Items):
            if position is not None:
                return whole.items[position]
            kept = self._names.kept(Value(f"ctm_index({converted(index, INT)}, {length})", INT))
            assert isinstance(kept, Value)
            return item_of(whole.items, kept.text)
        assert isinstance(whole, Row | Value)
        if isinstance(whole, Row) and whole.values and position is not None:
            return known(whole.values[position])
        # Python counts from the end where an index is negative.
        number = f"ctm_index({converted(index, INT)}, {length})" if position is None else str(position)
        if isinstance(whole, Value):
            text = f"{whole.text}[{number}]" if position is not None else f"ctm_component({whole.text}, {number})"
            return Value(text, whole.type.of(1))
        return Value(f"{whole.text}({number})" if whole.is_function else f"{whole.text}[{number}]", whole.element)

    def _call(self, node: ast.Call) -> Thing:
        found = self.thing(node.func)
        if not isinstance(found, Word):
            raise Problem("this is no function")
        arguments = [self.thing(each) for each in node.args]
        if isinstance(found.object, Definition):
            named = {each.arg or "**": self.thing(each.value) for each in node.keywords}
            return self._names.called(node, found.object, Arguments(arguments, named))
        if node.keywords:
            raise Problem("an argument with a name: give arguments by their order")
        if found.object in (pow, math.pow, divmod):
            return self._arithmetic(found.object, arguments)
        return call(found.object, arguments)

    def _arithmetic(self, word: object, arguments: list[Thing]) -> Thing:
        """A call that means an operator, or two of them."""
        values = [each for each in map(self._names.kept, arguments) if isinstance(each, Value)]
        name = getattr(word, "__name__", "")
        if len(values) != len(arguments) or len(values) != 2:
            raise Problem(f"{name}() takes two numbers")
        if word is math.pow:
            if any(each.type.is_vector for each in values):
                raise Problem(f"{name}() takes two numbers: write ** for vectors")
            values = list(map(as_float, values))
        if word is divmod:
            return Items(tuple(self.combined(each, *values) for each in (ast.FloorDiv(), ast.Mod())))
        return self.combined(ast.Pow(), *values)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return Value(self.truth(node), BOOL)
        found = self.value(node.operand)
        if found.constant is not None:
            return known(UNARY[type(node.op)](found.constant))
        kind = INT if found.type == BOOL else found.type
        if isinstance(node.op, ast.Invert) and not kind.is_whole:
            raise Problem("~ of a float: it is for whole numbers")
        symbol = {ast.USub: "-", ast.UAdd: "", ast.Invert: "~"}[type(node.op)]
        return Value(f"({symbol}{found.text})", kind)

    def _binop(self, node: ast.BinOp) -> Value:
        return self.combined(node.op, self.value(node.left), self.value(node.right))

    def combined(self, operation: ast.operator, left: Value, right: Value) -> Value:
        """An operation on two values; Problem if there is none for their types."""
        if left.constant is not None and right.constant is not None:
            return known(computed(operation, left.constant, right.constant))
        symbol = _SYMBOLS[type(operation)]
        found = widest([left.type, right.type])
        if found is None or symbol == "@":
            raise Problem(f"{left.type} {symbol} {right.type}")
        if symbol in _OF_WHOLE:
            return _of_bits(symbol, left, right, found)
        if symbol == "**":
            return power(left, right, self._names.new_name)
        if found == BOOL:
            found = INT
        if found.is_whole and mixes_signs([left, right]):
            raise Problem(f"{left.type} {symbol} {right.type}: make both uint or both int")
        if symbol == "/":
            found = Type("float", found.size)
        one, two = converted(left, found), converted(right, found)
        if symbol in ("//", "%"):
            if found.is_vector:
                raise Problem(f"{symbol} of vectors: write it for each component")
            scaled = "scaled_" if found == FLOAT and _is_scale(right.constant) else ""
            return Value(f"ctm_{scaled}{'quotient' if symbol == '//' else 'remainder'}({one}, {two})", found)
        return Value(f"({one} {symbol} {two})", found)

    def _compare(self, node: ast.Compare) -> Value:
        if not all(type(each) in COMPARISONS for each in node.ops):
            raise Problem("'in' and 'is' are for objects: compare numbers with ==")
        pairs = list(zip(node.ops, node.comparators, strict=True))
        return Value(f"({self._chain(self.value(node.left), pairs)})", BOOL)

    def _chain(self, left: Value, pairs: list[tuple[ast.cmpop, ast.expr]]) -> str:
        """Comparisons of which each has the value in common with the next, and counts only if those before it hold."""
        (operation, node), *others = pairs
        right = self.value(node)
        if not others:
            return comparison(operation, left, right)
        middle = Value(self._names.new_name(), right.type, right.constant)
        others_hold = self._names.apart(lambda: Value(self._chain(middle, others), BOOL)).text
        made = f"{right.type.c} {middle.text} = {right.text};"
        return f"({{ {made} {comparison(operation, left, middle)} && {others_hold}; }})"

    def _boolop(self, node: ast.BoolOp) -> Value:
        """The first operand that decides, as Python has it."""
        first, *others = node.values
        values = [self.value(first), *(self._apart(each, self.value) for each in others)]
        if all(each.type == BOOL for each in values):
            return Value(_joined(node.op, [each.text for each in values]), BOOL)
        kind = values[0].type
        if kind.is_vector or any(each.type != kind for each in values):
            raise Problem("'and' and 'or' of different types: compare first, as in x != 0 and y")
        text = values[-1].text
        for value in reversed(values[:-1]):
            name = self._names.new_name()
            arms = f"{text} : {name}" if isinstance(node.op, ast.And) else f"{name} : {text}"
            text = f"({{ {kind.c} {name} = {value.text}; {name} != 0 ? {arms}; }})"
        return Value(text, kind)

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.truth(node.test)
        return chosen(condition, self._apart(node.body, self.value), self._apart(node.orelse, self.value))


def _is_scale(number: Number | None) -> bool:
    """Whether it is known to be a power of two from 1 on."""
    return number is not None and 1 <= number <= _LARGEST_SCALE and math.frexp(number)[0] == 1 / 2


def _joined(operation: ast.boolop, conditions: list[str]) -> str:
    return f"({(' && ' if isinstance(operation, ast.And) else ' || ').join(conditions)})"


def denoted(found: Any) -> Thing:
    """What an object of a scope stands for in an expression."""
    if isinstance(found, bool | int | float):
        return known(found)
    if isinstance(found, tuple):
        return Items(tuple(map(denoted, found)))
    if isinstance(found, Definition | ModuleType) or callable(found):
        return Word(found)
    raise Problem(f"{type(found).__name__}: kernels have numbers, vectors, tuples of numbers and functions")


def argument(number: str, kind: Type) -> str:
    """A constant that is given to the kernel, as a type."""
    found = f"constant({number})" + (".xyzw"[: 1 + kind.size] if kind.size < 4 else "")
    return found if kind.scalar == "float" else f"ctm_{kind}_argument({found})"


def _constant(whole: Table, index: Value) -> Value:
    """An item of a list that the kernel is given."""
    if index.constant is not None and index.constant < 0:
        raise Problem("the length of a list of constants is not known: count from its start")
    number = f"{whole.first} + ({converted(index, INT)})" + (f" * {whole.stride}" if whole.stride > 1 else "")
    return Value(argument(number, whole.element), whole.element)


def _of_bits(symbol: str, left: Value, right: Value, found: Type) -> Value:
    if not found.is_whole:
        raise Problem(f"{left.type} {symbol} {right.type}: it is for whole numbers")
    if symbol in ("<<", ">>"):
        kind = INT if left.type == BOOL else left.type.of(found.size)
        return Value(_shifted(symbol, converted(left, kind), kind, right), kind)
    # A known number of 32 bits is an int of Python's, as long as it is not made a uint.
    are_ints = any(each.type == UINT and type(each.constant) is int for each in (left, right))
    if symbol != "&" and are_ints and mixes_signs([left, right]):
        raise Problem(f"{left.type} {symbol} {right.type}: it may have more than 32 bits; write uint(...) around both")
    return Value(f"({converted(left, found)} {symbol} {converted(right, found)})", found)


def _shifted(symbol: str, text: str, kind: Type, count: Value) -> str:
    """A shift; by more than 31 it leaves no bit but the sign."""
    if count.constant is None:
        counts = converted(count, UINT.of(kind.size))
        return f"ctm_{'left' if symbol == '<<' else 'right'}({text}, {counts})"
    if count.constant < 0:
        raise Problem("a negative shift: shift in the other direction")
    if count.constant >= _MOST_BITS and (symbol == "<<" or kind.scalar == UINT.scalar):
        return f"(({text}) & 0)"
    number = min(int(count.constant), _MOST_BITS - 1)
    if symbol == "<<" and kind == INT:
        return f"((int)((uint)({text}) << {number}))"
    return f"({text} {symbol} {number})"
