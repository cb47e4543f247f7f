"""The variables of one function: their types, where they have values, and the lines of C that give them some."""

import ast
from collections.abc import Callable
from dataclasses import replace

from ctm.sim.compiler.python.error import UnsupportedError
from ctm.sim.compiler.python.expressions import denoted
from ctm.sim.compiler.python.signedness import table_element
from ctm.sim.compiler.python.values import BOOL, FLOAT, INT, Items, Row, Thing, Type, Value, converted

Present = frozenset[str] | None
"""Variables that surely have values; None where nothing comes to."""


class Variables:
    """Variables and lines of a function that has these parameters, and gives values to these names.

    A variable has the type of its first value. `declarations` and `lines` are those of C, `lines` with the numbers that
    they have in Python.
    """

    def __init__(self, parameters: dict[str, Thing], stored: set[str], new_name: Callable[[], str]) -> None:
        self._things = dict(parameters)
        self._own = {*parameters, *stored}
        self._new_name = new_name
        self.present: Present = frozenset(parameters)
        self.line = 0
        self.declarations: list[str] = []
        self.lines: list[tuple[int, str]] = []

    def write(self, *texts: str) -> None:
        """Add lines of C."""
        self.lines += ((self.line, text) for text in texts)

    def find(self, node: ast.Name) -> Thing | None:
        """The value of one of the function's names, None of others; UnsupportedError where it has none yet."""
        if node.id not in self._own:
            return None
        if node.id not in (self.present or ()):
            raise UnsupportedError(node, f"'{node.id}' may have no value here: give it one before the if or the loop")
        return self._things[node.id]

    def assign(self, target: ast.expr, found: Thing) -> None:
        """Give a name a value; UnsupportedError if that is impossible."""
        if not isinstance(target, ast.Name):
            raise UnsupportedError(target, "components do not change: make a new vector")
        self._things[target.id] = self._stored(target, target.id, found)
        self._has_value(target)

    def assign_row(self, target: ast.Name, values: list[Value], times: int) -> None:
        """Make a list: these values, so many times."""
        element = table_element(values)
        if element is None:
            raise UnsupportedError(target, "a list has a known length and items of one type: items = [0.0] * 8")
        row = Row(c_name(target.id), element, len(values) * times)
        there = self._things.get(target.id)
        if there is None:
            self.declarations.append(f"{element.c} {row.text}[{row.length}];")
        elif there != row:
            raise UnsupportedError(target, f"'{target.id}' was something else above: take another name")
        kept = [self._keep(converted(each, element), element) for each in values] * times
        self.write(*(f"{row.text}[{number}] = {text};" for number, text in enumerate(kept)))
        self._things[target.id] = row
        self._has_value(target)

    def kept(self, found: Thing) -> Thing:
        """The same, computed here, before any variable changes."""
        if isinstance(found, Items):
            return Items(tuple(map(self.kept, found.items)))
        if not isinstance(found, Value) or found.constant is not None:
            return found
        return replace(found, text=self._keep(found.text, found.type))

    def declare(self, kind: Type, name: str) -> Value:
        """A new variable of C."""
        self.declarations.append(f"{kind.c} {name};")
        return Value(name, kind)

    def _keep(self, text: str, kind: Type) -> str:
        name = self._new_name()
        self.write(f"{kind.c} {name} = {text};")
        return name

    def _has_value(self, target: ast.Name) -> None:
        self.present = None if self.present is None else self.present | {target.id}

    def _stored(self, node: ast.Name, name: str, found: Thing) -> Thing:
        """Assign something to a variable, or to a field of it, which is made if it is not there."""
        there = self._things.get(name)
        if isinstance(found, Items):
            if there is not None and (not isinstance(there, Items) or len(there.items) != len(found.items)):
                raise UnsupportedError(node, f"'{node.id}' was something else above: take another name")
            fields = [f"{name}.{number}" for number in range(len(found.items))]
            for field, item in zip(fields, found.items, strict=True):
                self._things[field] = self._stored(node, field, item)
            return Items(tuple(self._things[field] for field in fields))
        if not isinstance(found, Value):
            raise UnsupportedError(node, "a list, an image or a function has one name only")
        if there is None:
            there = self.declare(found.type, c_name(name))
        if not isinstance(there, Value):
            raise UnsupportedError(node, f"'{node.id}' was something else above: take another name")
        fits = fitting(node, found, there.type, f"'{node.id}' is", node.id)
        self.write(f"{there.text} = {fits.text};")
        return Value(there.text, there.type)


def fitting(node: ast.AST, found: Value, kind: Type, what: str, name: str = "") -> Value:
    """A value as the type that is wanted; whole numbers become floats, and nothing else changes."""
    wide = found.type.size == kind.size and found.type.is_whole and kind.scalar in ("float", found.type.scalar)
    if found.type == kind or wide or (found.type, kind) == (BOOL, INT):
        return Value(converted(found, kind), kind)
    begin = f", or let {name} be a float from the beginning" if name and (kind, found.type) == (INT, FLOAT) else ""
    raise UnsupportedError(node, f"{what} {_article(kind)}, and this {_article(found.type)}: convert it{begin}")


def _article(kind: Type) -> str:
    return f"{'an' if str(kind)[0] in 'aiu' else 'a'} {kind}"


def parted(target: ast.Tuple | ast.List, found: Thing) -> list[tuple[ast.expr, Thing]]:
    """What each of several targets gets; UnsupportedError if they are more or fewer."""
    starred = next((each for each in target.elts if isinstance(each, ast.Starred)), None)
    if starred is not None:
        raise UnsupportedError(starred, "a target with a star: name each item")
    items = _items(found)
    if items is None or len(items) != len(target.elts):
        count = "one value" if items is None else f"{len(items)} values"
        raise UnsupportedError(target, f"{len(target.elts)} variables for {count}")
    return list(zip(target.elts, items, strict=True))


def _items(found: Thing) -> tuple[Thing, ...] | None:
    """What something has several of: items, or components."""
    match found:
        case Items():
            return found.items
        case Value(type=kind) if kind.is_vector:
            return tuple(Value(f"{found.text}.{letter}", kind.of(1)) for letter in "xyzw"[: kind.size])
        case Row() if found.values:
            return tuple(map(denoted, found.values))
    return None


def c_name(name: str) -> str:
    """A variable's name in C, where it is neither a keyword nor a function, nor any other variable's."""
    return "v_" + "".join(letter if letter.isascii() and letter.isalnum() else f"_{ord(letter):x}_" for letter in name)
