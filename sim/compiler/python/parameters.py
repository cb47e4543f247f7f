"""Parameters: what a kernel takes and where it finds it, and what those of other functions stand for."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ctm import language
from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INPUTS
from ctm.sim.compiler.python.error import Problem, UnsupportedError
from ctm.sim.compiler.python.expressions import argument, denoted
from ctm.sim.compiler.python.scope import Definition, folded
from ctm.sim.compiler.python.values import (
    BOOL,
    EITHER,
    FLOAT,
    TYPES,
    Arguments,
    Constant,
    Items,
    Picture,
    Row,
    Table,
    Thing,
    Type,
    Value,
    converted,
)

Parameter = Constant | Picture | Table
_PIXEL, _ARGUMENT = "pixel", "argument"
"""Names in C, where those of a user's variables begin with v_."""
_PIXEL_TYPES = (Type("float", 2), Type("int", 2))
_EXAMPLE = "write def name(pixel: vec2, picture: Image, factor: float)"


@dataclass(frozen=True)
class Parameters:
    """Those of a kernel: the pixel's type and its name in C, the others, what all names stand for, and C that fetches.

    Images are inputs 0, 1, ... by their order. Numbers and vectors are constants 0, 1, ...; after them are the lists,
    whose items are interleaved, so that their numbers do not depend on lengths.
    """

    pixel_type: Type
    pixel: str
    others: dict[str, Parameter]
    things: dict[str, Thing]
    lines: list[str]


def parameters(definition: Definition) -> Parameters:
    """The parameters of a kernel; UnsupportedError if there can be none like these."""
    (pixel, kind), *others = _annotated(definition).items()
    pixel_type = kind.type if isinstance(kind, Constant) else None
    if pixel_type is None or pixel_type not in _PIXEL_TYPES:
        raise UnsupportedError(definition.node, f"the first parameter is the pixel, a vec2 or an ivec2: {_EXAMPLE}")
    numbers = [name for name, kind in others if isinstance(kind, Constant)]
    tables = [name for name, kind in others if isinstance(kind, Table)]
    pictures = [name for name, kind in others if isinstance(kind, Picture)]
    if len(pictures) > INPUTS:
        raise UnsupportedError(definition.node, f"it takes {len(pictures)} images, and there are {INPUTS} inputs")
    if len(numbers) + len(tables) > FLOAT_CONSTANTS:
        raise UnsupportedError(definition.node, f"it takes more than {FLOAT_CONSTANTS} constants")
    found = Parameters(pixel_type, _PIXEL, {}, {pixel: Value(_PIXEL, pixel_type)}, [])
    for name, kind in others:
        if isinstance(kind, Picture):
            found.others[name] = found.things[name] = Picture(pictures.index(name), kind.type)
        elif isinstance(kind, Table):
            first = len(numbers) + tables.index(name)
            found.others[name] = found.things[name] = Table(first, len(tables), kind.element)
        else:
            number = numbers.index(name)
            value = Value(f"{_ARGUMENT}{number}", kind.type)
            found.others[name], found.things[name] = Constant(number, kind.type), value
            found.lines.append(f"{kind.type.c} {value.text} = {argument(str(number), kind.type)};")
    return found


def bound(node: ast.Call, definition: Definition, arguments: Arguments) -> tuple[dict[str, Thing], list[str]]:
    """What the parameters of a function that is called stand for, and the arguments that it takes in C."""
    things: dict[str, Thing] = {}
    texts: list[str] = []
    for name, given in _given(node, definition, arguments):
        if isinstance(given, Items | Row):
            raise UnsupportedError(node, "a tuple or a list as an argument: give its items")
        if not isinstance(given, Value):
            things[name.arg] = given
            continue
        kind = None if name.annotation is None else _kind(definition, name.annotation)
        wanted = kind.type if isinstance(kind, Constant) else given.type
        if wanted != given.type and (wanted != FLOAT or given.type.is_vector):
            raise UnsupportedError(node, f"'{name.arg}' is {wanted}, and this is {given.type}: convert it")
        if wanted == EITHER:
            raise UnsupportedError(node, f"'{name.arg}' is an int or a uint, by its value: write int(...) or uint(...)")
        things[name.arg] = Value(f"{_ARGUMENT}{len(texts)}", wanted)
        texts.append(converted(given, wanted))
    return things, texts


def _given(node: ast.Call, definition: Definition, arguments: Arguments) -> Iterator[tuple[ast.arg, Thing]]:
    """Each parameter of a function that is called, with its argument or its default value."""
    parameters, function = _checked(definition, node), definition.node.name
    values = definition.defaults()
    defaults = dict(zip([each.arg for each in parameters[len(parameters) - len(values) :]], values, strict=True))
    given = dict(zip([each.arg for each in parameters], arguments.ordered, strict=False))
    for name in arguments.named:
        if name in given:
            raise UnsupportedError(node, f"{function}() is given '{name}' twice")
        if not any(name == each.arg for each in parameters):
            raise UnsupportedError(node, f"{function}() has no parameter '{name}'")
    given |= arguments.named
    count = len(arguments.ordered) + len(arguments.named)
    if count > len(parameters):
        raise UnsupportedError(node, f"{function}() takes {len(parameters)} arguments, not {count}")
    missing = next((each.arg for each in parameters if each.arg not in {*given, *defaults}), None)
    if missing is not None:
        raise UnsupportedError(node, f"{function}() is called without '{missing}'")
    for each in parameters:
        yield each, given[each.arg] if each.arg in given else denoted(defaults[each.arg])


def _checked(definition: Definition, node: ast.AST) -> list[ast.arg]:
    """The parameters of a function, which a node defines or calls."""
    arguments = definition.node.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise UnsupportedError(node, f"{definition.node.name}() has *, / or ** among its parameters: leave them away")
    return arguments.args


def _annotated(definition: Definition) -> dict[str, Parameter]:
    """The kinds of a kernel's parameters; of images and lists without their numbers."""
    arguments = _checked(definition, definition.node)
    if not arguments:
        raise UnsupportedError(definition.node, f"a kernel takes the pixel: {_EXAMPLE}")
    if definition.node.args.defaults:
        raise UnsupportedError(definition.node, "a default value: a kernel is called with all of its arguments")
    kinds = {}
    for each in arguments:
        kind = None if each.annotation is None else _kind(definition, each.annotation)
        if kind is None:
            raise UnsupportedError(each, f"'{each.arg}' has no type that a kernel takes: {_EXAMPLE}, or list[float]")
        kinds[each.arg] = kind
    return kinds


def _kind(definition: Definition, node: ast.expr) -> Parameter | None:
    """What an annotation says; None if nothing that a kernel takes."""
    match node:
        case ast.Subscript(value=whole, slice=item):
            kind, found = TYPES.get(_class(definition, item)), _class(definition, whole)
            if found is list and kind is not None:
                return Table(0, 1, kind)
            is_image = found is language.Image and kind not in (None, BOOL)
            return Picture(0, kind.of(CHANNELS)) if is_image and kind is not None and not kind.is_vector else None
        case ast.Constant(value=str() as text):
            try:
                return _kind(definition, ast.parse(text, mode="eval").body)
            except SyntaxError:
                return None
    found = _class(definition, node)
    if found is language.Image:
        return Picture(0, FLOAT.of(CHANNELS))
    return Constant(0, TYPES[found]) if found in TYPES else None


def _class(definition: Definition, node: ast.expr) -> Any:
    """The object that is named; None if that is none."""
    try:
        return folded(node, definition.scope.find)
    except (Problem, ArithmeticError, AttributeError, TypeError, ValueError):
        return None
