"""The body of one function: statements of Python as statements of C, and which variables have values where."""

import ast
from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from ctm import language
from ctm.sim.compiler.python.error import Problem, UnsupportedError
from ctm.sim.compiler.python.expressions import Expressions, denoted
from ctm.sim.compiler.python.rounds import rounds
from ctm.sim.compiler.python.scope import Definition
from ctm.sim.compiler.python.syntax import check_else, new_list, stored_names
from ctm.sim.compiler.python.values import (
    EITHER,
    INT,
    TYPES,
    Arguments,
    Items,
    Row,
    Thing,
    Type,
    Value,
    Word,
    wider_number,
)
from ctm.sim.compiler.python.variables import Present, Variables, c_name, fitting, parted

END = "\0"
"""What stands in the lines for the end of a function that has dropped the pixel, and of all that called it."""
_INSTEAD: dict[type[ast.AST], str] = {
    ast.With: "with: a kernel has no resources",
    ast.Try: "try: cores have no exceptions",
    ast.Raise: "raise: cores have no exceptions; discard() drops a pixel",
    ast.Assert: "assert: cores have no exceptions; discard() drops a pixel",
    ast.Import: "an import in a kernel: write it at the top of the file",
    ast.ImportFrom: "an import in a kernel: write it at the top of the file",
    ast.Global: "global: cores keep nothing from pixel to pixel",
    ast.Nonlocal: "nonlocal: cores keep nothing from pixel to pixel",
    ast.FunctionDef: "a function in a function: write it at the top of the file",
    ast.ClassDef: "a class: kernels have numbers, vectors and tuples",
    ast.Delete: "del: variables need not be deleted",
    ast.Match: "match: write if and elif",
    ast.AsyncFor: "async: a kernel is an ordinary function",
    ast.AsyncWith: "async: a kernel is an ordinary function",
    ast.AsyncFunctionDef: "async: a kernel is an ordinary function",
}
Finish = Callable[[list[str], tuple[Type, ...], bool], list[str]]
"""How a function returns these values of these types in C; whether they are a tuple."""


class EndedError(Exception):
    """A statement ends in a function that it calls, which drops each pixel."""


class Made(NamedTuple):
    """A function in C; `results` is empty where it gives nothing.

    `drops`: it may drop the pixel, and says so through its last parameter; `returns`: it may also come to its end.
    """

    name: str
    results: tuple[Type, ...] = ()
    is_tuple: bool = False
    drops: bool = False
    returns: bool = True


class Functions(Protocol):
    """The other functions of a kernel, and what they share."""

    def new_name(self) -> str:
        """A name in C that nothing else has."""
        ...

    def constant(self, found: Thing, name: str) -> Thing:
        """Something of the file's, by the user's name; a tuple of numbers becomes a table."""
        ...

    def function(self, node: ast.Call, definition: Definition, arguments: Arguments) -> tuple[Made, list[str]]:
        """A called function in C, and its arguments there; UnsupportedError if that is impossible."""
        ...


class Body:
    """Translates the body of a function whose parameters are given.

    `results` are the types of what it returns, once the first `return` was seen; `finish` writes one. `is_widened` is
    whether a later one returned a wider type: then all of it is translated once more, with this one as `earlier`.
    `drops` is whether it may drop the pixel.
    """

    def __init__(
        self,
        definition: Definition,
        parameters: dict[str, Thing],
        functions: Functions,
        finish: Finish,
        earlier: "Body | None" = None,
    ) -> None:
        self._definition = definition
        self._functions = functions
        self._finish = finish
        self._breaks: list[list[Present]] = []
        self._continues: list[list[Present]] = []
        self._rows: list[Row] = []
        self._expressions = Expressions(self)
        self.variables = Variables(parameters, stored_names(definition.node.body), self.new_name)
        self.results: tuple[Type, ...] | None = None if earlier is None else earlier.results
        self.is_tuple: bool = earlier is not None and earlier.is_tuple
        self.is_widened = False
        self.drops = False

    def translate(self) -> None:
        """Translate all of it; UnsupportedError if that is impossible."""
        try:
            self._block(self._definition.node.body)
            if self.variables.present is not None and self.results is not None:
                raise UnsupportedError(
                    self._definition.node, f"{self._definition.node.name}() does not return on every path"
                )
        except UnsupportedError as error:
            error.file = error.file or self._definition.file
            raise

    # What expressions ask for.

    def named(self, node: ast.Name) -> Thing:
        """What a name stands for."""
        own = self.variables.find(node)
        return own or self._functions.constant(denoted(self._definition.scope.find(node.id)), node.id)

    def called(self, node: ast.Call, definition: Definition, arguments: Arguments) -> Thing:
        """A call of another function; of one that returns several values, or may drop the pixel, lines of its own."""
        made, texts = self._functions.function(node, definition, arguments)
        is_one = bool(made.results) and not made.is_tuple
        if is_one and not made.drops:
            return Value(f"{made.name}({', '.join(texts)})", made.results[0])
        items = [self.variables.declare(kind, self.new_name()) for kind in made.results]
        if not is_one:
            texts += (f"&{each.text}" for each in items)
        begin, ends = f"{items[0].text} = " if is_one else "", []
        if made.drops:
            self.drops = True
            flag = self.new_name()
            texts.append(f"&{flag}")
            begin = f"int {flag} = 0; {begin}"
            ends = [f"if ({flag}) {{ {END} }}" if made.returns else END]
        self.variables.write(f"{begin}{made.name}({', '.join(texts)});", *ends)
        if not made.returns:
            self.variables.present = None
            raise EndedError
        return items[0] if is_one else Items(tuple(items))

    def apart(self, translate: Callable[[], Value]) -> Value:
        """What is computed only sometimes, as one expression with all the lines that it needs."""
        outer, self.variables.lines = self.variables.lines, []
        try:
            found = translate()
        except EndedError:
            raise Problem("a function that always drops the pixel, where it is called sometimes: write an if") from None
        finally:
            lines, self.variables.lines = self.variables.lines, outer
        if not lines:
            return found
        if found.alternatives is not None:
            raise Problem("an int or a uint, by its value, here: give it to a variable of one type before")
        return Value(f"({{ {' '.join(text for _, text in lines)} {found.text}; }})", found.type)

    def kept(self, found: Thing) -> Thing:
        """The same, computed here and once."""
        return self.variables.kept(found)

    def new_name(self) -> str:
        """A name that nothing else has."""
        return self._functions.new_name()

    # Statements.

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            if self.variables.present is None:
                return
            self.variables.line = statement.lineno
            translate = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if translate is None:
                other = f"{type(statement).__name__}: kernels have no such statement"
                raise UnsupportedError(statement, _INSTEAD.get(type(statement), other))
            try:
                translate(statement)
            except EndedError:
                return
            except Problem as problem:
                raise UnsupportedError(statement, str(problem)) from None

    def _nested(self, statements: Iterable[ast.stmt]) -> None:
        self.variables.write("{")
        self._block(statements)
        self.variables.write("}")

    def _pass(self, _: ast.Pass) -> None:
        """Nothing."""

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        if isinstance(node.value, ast.Call):
            found = self._expressions.thing(node.value.func)
            if found == Word(language.discard):
                self.drops = True
                self.variables.write(f"discard(); {END}")
                self.variables.present = None
                return
        found = self._expressions.thing(node.value)
        if isinstance(found, Value):
            self.variables.write(f"(void)({found.text});")

    def _assign(self, node: ast.Assign) -> None:
        row = new_list(node.value)
        if row is not None:
            return self._assign_row(node, *row)
        found = self._expressions.thing(node.value)
        is_one = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name | ast.Subscript)
        if not is_one or isinstance(found, Items):
            found = self.variables.kept(found)
        for target in node.targets:
            self._assign_to(target, found)
        return None

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise UnsupportedError(node, "a variable without a value: give it one")
        kind = self._annotated(node.annotation)
        found = self._expressions.value(node.value)
        self._assign_to(node.target, fitting(node, found, kind, "this is"))

    def _augassign(self, node: ast.AugAssign) -> None:
        if not isinstance(node.target, ast.Name | ast.Subscript):
            raise UnsupportedError(node, "components do not change: make a new vector")
        if isinstance(node.target, ast.Subscript):
            item = self._item(node.target)
            found = self._expressions.combined(node.op, item, self._expressions.value(node.value))
            return self._assign_item(node.target, item, found)
        there = self._expressions.value(node.target)
        found = self._expressions.combined(node.op, there, self._expressions.value(node.value))
        return self._assign_to(node.target, found)

    def _if(self, node: ast.If) -> None:
        self.variables.write(f"if ({self._expressions.truth(node.test)})")
        before = self.variables.present
        self._nested(node.body)
        after, self.variables.present = self.variables.present, before
        if node.orelse:
            self.variables.write("else")
            self._nested(node.orelse)
        self.variables.present = _in_all([after, self.variables.present])

    def _while(self, node: ast.While) -> None:
        check_else(node)
        condition = self.apart(lambda: self._expressions.truth_value(node.test))
        self.variables.write(f"while ({condition.text})")
        before = self.variables.present
        breaks, _ = self._loop(node.body)
        is_endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        self.variables.present = _in_all(breaks) if is_endless else before

    def _for(self, node: ast.For) -> None:
        check_else(node)
        over = rounds(self._expressions, node.iter)
        name, limit = self.new_name(), self.new_name()
        if over.end.constant is None:
            self.variables.write(f"int {limit} = {over.end.text};")
        else:
            limit = over.end.text
        if over.is_unrolled:
            self.variables.write("#pragma unroll")
        comparison = "<" if over.step > 0 else ">"
        self.variables.write(
            f"for (int {name} = {over.first.text}; {name} {comparison} {limit}; {name} += {over.step})", "{"
        )
        before = self.variables.present
        found = over.item(Value(name, INT))
        self._assign_to(node.target, self.kept(found) if isinstance(found, Items) else found)
        self._rows += over.rows
        breaks, ends = self._loop(node.body)
        del self._rows[len(self._rows) - len(over.rows) :]
        self.variables.present = _in_all([*breaks, *ends]) if over.is_entered else before
        self.variables.write("}")

    def _loop(self, body: list[ast.stmt]) -> tuple[list[Present], list[Present]]:
        """A loop's body; which variables have values where it leaves the loop, and where a round ends."""
        self._breaks.append([])
        self._continues.append([])
        self._nested(body)
        return self._breaks.pop(), [*self._continues.pop(), self.variables.present]

    def _break(self, _: ast.Break) -> None:
        self._breaks[-1].append(self.variables.present)
        self.variables.write("break;")
        self.variables.present = None

    def _continue(self, _: ast.Continue) -> None:
        self._continues[-1].append(self.variables.present)
        self.variables.write("continue;")
        self.variables.present = None

    def _return(self, node: ast.Return) -> None:
        found = Items(()) if node.value is None else self._expressions.thing(node.value)
        is_tuple = isinstance(found, Items)
        items = found.items if isinstance(found, Items) else (found,)
        values = [each for each in items if isinstance(each, Value)]
        if len(values) < len(items):
            raise UnsupportedError(node, "numbers, vectors and tuples of them can be returned")
        if any(each.type == EITHER for each in values):
            raise UnsupportedError(
                node, "it returns an int or a uint, by its value: write int(...) or uint(...) around it"
            )
        if self.results is None:
            self.results, self.is_tuple = tuple(each.type for each in values), is_tuple
        if (len(values), is_tuple) != (len(self.results), self.is_tuple):
            raise UnsupportedError(node, "it returns another number of values here than above")
        results = tuple(wider_number(kind, each.type) for kind, each in zip(self.results, values, strict=True))
        self.is_widened |= results != self.results
        self.results = results
        fits = [fitting(node, each, kind, "it returns") for each, kind in zip(values, self.results, strict=True)]
        self.variables.write("{", *self._finish([each.text for each in fits], self.results, is_tuple), "}")
        self.variables.present = None

    def _assign_row(self, node: ast.Assign, nodes: list[ast.expr], times: ast.expr | None) -> None:
        if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Name):
            raise UnsupportedError(node, "a list has one name: items = [0.0] * 8")
        count = 1 if times is None else self._expressions.value(times).constant
        if not isinstance(count, int) or count < 1:
            raise UnsupportedError(node, "the length of a list is a number that is known")
        if any(map(new_list, nodes)):
            raise UnsupportedError(node, "a list of lists: make one list of all items, and compute the index")
        if any(row.text == c_name(node.targets[0].id) for row in self._rows):
            raise UnsupportedError(node, "a new list in a loop over the old one: take another name")
        self.variables.assign_row(node.targets[0], [self._expressions.value(each) for each in nodes], count)

    def _assign_to(self, target: ast.expr, found: Thing) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for each, item in parted(target, found):
                self._assign_to(each, item)
            return None
        if not isinstance(target, ast.Subscript):
            return self.variables.assign(target, found)
        return self._assign_item(target, self._item(target), found)

    def _item(self, target: ast.Subscript) -> Value:
        """An item of a list, which is computed once wherever it stands."""
        whole = self._expressions.thing(target.value)
        if not isinstance(whole, Row) or whole.values:
            raise UnsupportedError(target, "only items of a list of the kernel's own change")
        index = self.kept(self._expressions.value(target.slice))
        assert isinstance(index, Value)
        item = self._expressions.element(whole, index)
        assert isinstance(item, Value)
        return item

    def _assign_item(self, target: ast.expr, item: Value, found: Thing) -> None:
        if not isinstance(found, Value):
            raise UnsupportedError(target, "items of a list are numbers or vectors")
        fits = fitting(target, found, item.type, "the list's items are", "its items")
        self.variables.write(f"{item.text} = {fits.text};")

    def _annotated(self, node: ast.expr) -> Type:
        found = self._expressions.thing(node)
        if isinstance(found, Word) and found.object in TYPES:
            return TYPES[found.object]
        raise UnsupportedError(node, "a type is int, float, bool, uint or a vector's")


def _in_all(states: list[Present]) -> Present:
    """The variables that have values on all paths that join."""
    reached = [state for state in states if state is not None]
    return frozenset.intersection(*reached) if reached else None
