"""A kernel in Python as a source in C, and what it takes and gives."""

import ast
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ctm.rtl.isa.limits import OUTPUTS
from ctm.sim.compiler.error import Diagnostic, KernelError, Location
from ctm.sim.compiler.python.body import END, Body, Finish, Made
from ctm.sim.compiler.python.error import UnsupportedError
from ctm.sim.compiler.python.parameters import Parameter, bound, parameters
from ctm.sim.compiler.python.scope import Definition, ModuleScope
from ctm.sim.compiler.python.signedness import table_element
from ctm.sim.compiler.python.tables import table
from ctm.sim.compiler.python.values import Arguments, Items, Row, Thing, Type, Value
from ctm.sim.compiler.source import Source

_FUNCTION = "python_kernel"
"""The name of every kernel in C: one in Python may have a name that C has for something else."""
_DROPPED = "dropped"
"""Where a function in C says that it has dropped the pixel."""


@dataclass(frozen=True)
class Signature:
    """What a kernel takes, by its parameters after the pixel, and what it gives.

    `is_tuple` is whether it gives a tuple, of one item too.
    """

    parameters: dict[str, Parameter]
    results: tuple[Type, ...]
    is_tuple: bool


@dataclass(frozen=True)
class Translation:
    """A kernel's name, its source in C, its name there, and its signature."""

    name: str
    source: Source
    function: str
    signature: Signature


def translate_source(source: Source, name: str | None) -> Translation:
    """The kernel of a file's text, of which nothing is executed; `name` says which if there are several.

    Raises
    ------
    KernelError
        There is none, or it cannot be translated.
    """
    try:
        tree = ast.parse(source.text, source.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        message = getattr(error, "msg", None) or "it is too deeply nested"
        raise KernelError([Diagnostic(Location(source.name, line), f"Python: {message}")]) from None
    scope = ModuleScope(tree, source.name)
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    fits = [node for node in found if name in (None, node.name)]
    if len(fits) == 1:
        return translate_definition(Definition(fits[0], source.name, scope))
    there = ", ".join(node.name for node in found)
    if not found:
        problem = "it has no kernel: write @ctm.kernel above a function at the top of the file"
    elif fits:
        problem = f"it has several kernels '{fits[0].name}'" if name else f"one of its kernels must be named: {there}"
    else:
        problem = f"it has no kernel '{name}'; there is: {there}"
    raise KernelError([Diagnostic(Location(source.name, 1), problem)])


def _is_kernel(node: ast.FunctionDef) -> bool:
    """Whether a function is decorated as a kernel, by this name whatever it was imported from."""
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")) == "kernel":
            return True
    return False


def translate_definition(definition: Definition) -> Translation:
    """A kernel as C; errors as `translate_source`."""
    with _reported(definition):
        return Program().kernel(definition)


def kernel_parameters(definition: Definition) -> tuple[Type, dict[str, Parameter]]:
    """The type of the pixel that a kernel takes, and its other parameters; errors as `translate_source`."""
    with _reported(definition):
        found = parameters(definition)
        return found.pixel_type, found.others


@contextmanager
def _reported(definition: Definition) -> Iterator[None]:
    try:
        yield
    except UnsupportedError as error:
        location = Location(error.file or definition.file, error.line)
        raise KernelError([Diagnostic(location, str(error))]) from None
    except RecursionError:
        location = Location(definition.file, definition.node.lineno)
        raise KernelError([Diagnostic(location, "an expression is too deeply nested: use variables")]) from None


@dataclass
class Program:
    """The functions of one kernel, each translated once for each list of types that it is called with."""

    _texts: list[str] = field(default_factory=list)
    _functions: dict[Any, Made] = field(default_factory=dict)
    _rows: dict[tuple[Items, str], Row] = field(default_factory=dict)
    _active: list[ast.FunctionDef] = field(default_factory=list)
    _numbers: Any = field(default_factory=itertools.count)

    def new_name(self) -> str:
        """A name in C that nothing else has."""
        return f"t{next(self._numbers)}"

    def constant(self, found: Thing, name: str) -> Thing:
        """Something of the file's, by the user's name; a tuple of numbers becomes a table."""
        if not isinstance(found, Items):
            return found
        if (found, name) not in self._rows:
            values = [each for each in found.items if isinstance(each, Value) and each.constant is not None]
            element = table_element(values) if len(values) == len(found.items) else None
            if element is None:
                return found
            row, text = table(self.new_name(), name, element, values)
            self._texts.append(text)
            self._rows[found, name] = row
        return self._rows[found, name]

    def kernel(self, definition: Definition) -> Translation:
        """A kernel and all that it calls."""
        node = definition.node
        given = parameters(definition)
        body = self._body(definition, given.things, _outputs)
        if not body.results:
            raise UnsupportedError(node, "a kernel returns its result: a number, a vector, or a tuple of them")
        if len(body.results) > OUTPUTS:
            raise UnsupportedError(node, f"it returns {len(body.results)} values, and there are {OUTPUTS} outputs")
        head = f"kernel void {_FUNCTION}({given.pixel_type.c} {given.pixel}) {{"
        self._texts.append(_text(definition, [head, *given.lines], body, "return;"))
        return Translation(
            node.name,
            Source("\n".join(["#include <ctm/python.h>", *self._texts, ""]), definition.file),
            _FUNCTION,
            Signature(given.others, body.results, body.is_tuple),
        )

    def function(self, node: ast.Call, definition: Definition, arguments: Arguments) -> tuple[Made, list[str]]:
        """A called function in C, and its arguments there; UnsupportedError if that is impossible."""
        if definition.node in self._active:
            message = f"{definition.node.name} calls itself: cores have no stack for data; write a loop"
            raise UnsupportedError(node, message)
        things, given = bound(node, definition, arguments)
        key = (definition.node, tuple(each.type if isinstance(each, Value) else each for each in things.values()))
        if key not in self._functions:
            self._functions[key] = self._translated(definition, things)
        return self._functions[key], given

    def _body(self, definition: Definition, things: dict[str, Thing], finish: Finish) -> Body:
        """A function's body with types that hold all that it returns."""
        self._active.append(definition.node)
        body = Body(definition, things, self, finish)
        body.translate()
        while body.is_widened:
            body = Body(definition, things, self, finish, body)
            body.translate()
        self._active.pop()
        return body

    def _translated(self, definition: Definition, things: dict[str, Thing]) -> Made:
        body = self._body(definition, things, _returned)
        returns = body.results is not None or body.variables.present is not None
        made = Made(self.new_name(), body.results or (), body.is_tuple, body.drops, returns)
        parameters = [f"{each.type.c} {each.text}" for each in things.values() if isinstance(each, Value)]
        result, end = "void", "return;"
        if made.is_tuple:
            parameters += [f"{kind.c} *r{number}" for number, kind in enumerate(made.results)]
        elif made.results:
            result = made.results[0].c
            end = f"return ({result})0;"
        if made.drops:
            parameters.append(f"int *{_DROPPED}")
            end = f"*{_DROPPED} = 1; {end}"
        head = f"static {result} {made.name}({', '.join(parameters) or 'void'}) {{"
        self._texts.append(_text(definition, [head], body, end))
        return made


def _text(definition: Definition, heads: list[str], body: Body, end: str) -> str:
    """A function in C, each line with its number in Python; `end` returns where what it returns does not matter."""
    node, variables = definition.node, body.variables
    lines = [(node.lineno, text) for text in (*heads, *variables.declarations)]
    lines += ((line, text.replace(END, end)) for line, text in variables.lines)
    texts, now = [], 0
    for line, text in (*lines, (node.end_lineno or now, "}")):
        if line != now:
            texts.append(f'#line {line} "{_c_string(definition.file)}"')
            now = line
        texts.append(text)
        now += 1
    return "\n".join(texts)


def _c_string(text: str) -> str:
    """Text as a string of C has it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _outputs(texts: list[str], kinds: tuple[Type, ...], is_tuple: bool) -> list[str]:
    """How a kernel gives its results."""
    del is_tuple
    stored = [
        text if kind.scalar == "float" else f"ctm_result({text})" for text, kind in zip(texts, kinds, strict=True)
    ]
    return [*(f"output({number}, {text});" for number, text in enumerate(stored)), "return;"]


def _returned(texts: list[str], kinds: tuple[Type, ...], is_tuple: bool) -> list[str]:
    """How another function does."""
    del kinds
    if is_tuple:
        return [*(f"*r{number} = {text};" for number, text in enumerate(texts)), "return;"]
    return [f"return {texts[0]};" if texts else "return;"]
