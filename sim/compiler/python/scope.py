"""What names mean outside a function: numbers, words of kernels, modules, and other functions.

Of a file that is only read, `ModuleScope` reads the syntax tree; of a live function, `LiveScope` its globals.
Both give the same objects, so all else need not know which of them it is.
"""

import ast
import builtins
import importlib
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType, ModuleType
from typing import Any, Protocol

from ctm.language.vectors import Vector
from ctm.sim.compiler.python.error import Problem

MODULES = ("math", "ctm", "ctm.language")
"""Modules whose names a kernel may use."""
_MOST_BITS = 64


class Scope(Protocol):
    """The names around a function."""

    def find(self, name: str) -> object:
        """What a name means: a number, a tuple of numbers, a word or a `Definition`.

        Raises
        ------
        Problem
            Nothing that a kernel can use.
        """
        ...


@dataclass(frozen=True, eq=False)
class Definition:
    """A function: its syntax tree, whose lines are those of the file, its file, and the names around it."""

    node: ast.FunctionDef
    file: str
    scope: Scope

    def defaults(self) -> list[object]:
        """The default values of its last parameters: those that it was defined with, or else the file's."""
        if isinstance(self.scope, LiveScope):
            return [_usable(value) for value in self.scope.function.__defaults__ or ()]
        return [folded(node, self.scope.find) for node in self.node.args.defaults]


@dataclass(frozen=True)
class ModuleScope:
    """The names of a file, of which nothing is executed."""

    tree: ast.Module
    file: str

    def find(self, name: str) -> object:
        """What a name means: see `Scope`."""
        found = [node for node in self.tree.body if name in _bound(node)]
        if not found:
            if hasattr(builtins, name):
                return getattr(builtins, name)
            raise Problem(f"there is no '{name}'")
        node = found[-1]
        if isinstance(node, ast.FunctionDef):
            return Definition(node, self.file, self)
        if isinstance(node, ast.Import | ast.ImportFrom):
            return _imported(node, name)
        value = _assigned(node, name)
        if len(found) > 1 or value is None:
            raise Problem(
                f"'{name}' is not known before the program runs: give it one value, in a line of its own, at the "
                "top of the file"
            )
        return self._constant(name, value)

    def _constant(self, name: str, node: ast.expr) -> object:
        try:
            return folded(node, self.find)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise Problem(f"'{name}' is no number: {error}") from None


def folded(node: ast.expr, find: Callable[[str], object]) -> Any:
    """The value of an expression of numbers.

    Raises
    ------
    ValueError
        It is no such expression.
    """
    match node:
        case ast.Constant(value=bool() | int() | float()):
            return node.value
        case ast.Name():
            return find(node.id)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
            return UNARY[type(node.op)](folded(node.operand, find))
        case ast.BinOp():
            return computed(node.op, folded(node.left, find), folded(node.right, find))
        case ast.Tuple() | ast.List():
            return tuple(folded(item, find) for item in node.elts)
        case ast.Attribute(value=ast.Name(id=name)):
            module = find(name)
            if isinstance(module, ModuleType):
                return getattr(module, node.attr)
    raise ValueError("write a number, or a tuple of numbers")


UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip


def computed(operation: ast.operator, left: Any, right: Any) -> Any:
    """An operation on numbers that are known, as Python does it; ValueError if that may take for ever."""
    is_long = isinstance(operation, ast.Pow | ast.LShift) and isinstance(left, int) and isinstance(right, int)
    if is_long and abs(right) > _MOST_BITS:
        raise ValueError(f"{right} is too large here")
    if type(operation) not in BINARY:
        raise ValueError("write a number")
    result = BINARY[type(operation)](left, right)
    if isinstance(result, complex):
        raise ValueError("it is a complex number")
    return result


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement at the top of a file gives a meaning."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return {node.name}
        case ast.Import():
            return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
        case ast.ImportFrom():
            names = {alias.asname or alias.name for alias in node.names}
            if "*" in names and node.module in MODULES:
                names |= set(getattr(importlib.import_module(node.module), "__all__", ()))
            return names
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return names | {
        each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def _assigned(node: ast.stmt, name: str) -> ast.expr | None:
    """The expression that a statement gives a name as its value; None if there is no such expression."""
    if isinstance(node, ast.AnnAssign):
        return node.value
    if not isinstance(node, ast.Assign):
        return None
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for each, value in pairs:
            if isinstance(each, ast.Name) and each.id == name:
                return value
    return None


def _imported(node: ast.Import | ast.ImportFrom, name: str) -> object:
    """What an import that binds a name binds it to."""
    if isinstance(node, ast.Import):
        alias = next(each for each in node.names if name in (each.asname, each.name.partition(".")[0]))
        module = alias.name if alias.asname else name
        if module in MODULES:
            return importlib.import_module(module)
        raise Problem(f"a kernel can use {', '.join(MODULES)}, and not '{alias.name}'")
    if node.level or node.module not in MODULES:
        raise Problem(f"'{name}' comes from another file, which is not read: define it in this one")
    source = next((each.name for each in node.names if name == each.asname), name)
    found = getattr(importlib.import_module(node.module), source, None)
    if found is None:
        raise Problem(f"{node.module} has no '{source}'")
    return found


@dataclass(frozen=True)
class LiveScope:
    """The names that a function sees, with the values that they have now."""

    function: FunctionType

    def find(self, name: str) -> object:
        """What a name means: see `Scope`."""
        cells = zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True)
        for inner, cell in cells:
            if inner == name:
                return _usable(cell.cell_contents)
        for names in (self.function.__globals__, vars(builtins)):
            if name in names:
                return _usable(names[name])
        raise Problem(f"there is no '{name}'")


def _usable(value: Any) -> object:
    """A value as a scope gives it: numbers of numpy as Python's own, functions of the user as definitions."""
    function = getattr(value, "__wrapped__", value)
    if isinstance(function, FunctionType) and not str(function.__module__).startswith("ctm.language"):
        return definition(function)
    if isinstance(value, Vector):
        raise Problem(f"{value!r} is made outside of the kernel: make it there, or write a tuple of numbers")
    # A number or an array of numpy.
    value = value.tolist() if hasattr(value, "tolist") else value
    return tuple(map(_usable, value)) if isinstance(value, list | tuple) else value


@lru_cache
def definition(function: FunctionType) -> Definition:
    """The definition of a function that lives, always the same one.

    Raises
    ------
    Problem
        Its source cannot be read.
    """
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):
        raise Problem(f"the source of {function.__name__}() cannot be read: write it in a file") from None
    node = tree.body[0] if tree.body else None
    if not isinstance(node, ast.FunctionDef):
        raise Problem(f"{function.__name__} is no function written with def")
    ast.increment_lineno(node, max(first, 1) - 1)
    return Definition(node, inspect.getsourcefile(function) or function.__code__.co_filename, LiveScope(function))
