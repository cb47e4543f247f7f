"""The mutants of a source file: found, named and made."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from ctm.tb.mutation.operators import edits

TOP = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Position:
    """Where a node is: in a field of its parent, and in a statement; `rebinds` is that of `operators.edits`.

    `in_function` is false for what runs when the module is imported.
    """

    node: ast.AST
    parent: ast.AST
    field: str
    index: int | None
    statement: ast.stmt
    rebinds: bool
    in_function: bool

    def replace(self, node: ast.AST) -> None:
        """Put another node there."""
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


@dataclass(frozen=True)
class Mutant:
    """One mistake in one file.

    `number` counts the mutants of the file, `index` those with the same text in lines of the same text: `line_text` and
    `text` and `index` stay when lines are added elsewhere. `lines` are first and last line of the statement, of a
    compound one those of its head; a test that runs none of them cannot find the mistake, if it is `in_function`.
    """

    path: Path
    number: int
    line: int
    line_text: str
    text: str
    index: int
    lines: tuple[int, int]
    in_function: bool

    @property
    def file(self) -> str:
        """The file, as seen from the project's folder."""
        return str(self.path.relative_to(TOP)) if self.path.is_relative_to(TOP) else str(self.path)

    @property
    def name(self) -> str:
        """For example ``sim/golden/draw/clipping.py:97 <= -> < #1``."""
        return f"{self.file}:{self.line} {self.text} #{self.index}"

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What names it without the number of its line."""
        return self.file, self.line_text, self.text, self.index


class Source:
    """A source file and its mutants; the same text gives the same mutants in the same order."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.text = self.path.read_text()

    @cached_property
    def mutants(self) -> tuple[Mutant, ...]:
        """All, in the order of the text."""
        found: list[Mutant] = []
        count: Counter[tuple[str, str]] = Counter()
        texts = self.text.splitlines()
        for position, text, _ in self._edits(ast.parse(self.text)):
            line = _line(position)
            line_text = texts[line - 1].strip()
            count[line_text, text] += 1
            index = count[line_text, text]
            found.append(
                Mutant(
                    self.path, len(found), line, line_text, text, index, _head(position.statement), position.in_function
                )
            )
        return tuple(found)

    def tree(self, mutant: Mutant) -> ast.Module:
        """The file's syntax tree with the mistake."""
        tree = ast.parse(self.text)
        for number, (position, _, node) in enumerate(self._edits(tree)):
            if number == mutant.number:
                position.replace(node)
                return ast.fix_missing_locations(tree)
        raise ValueError(f"{mutant.name} is not there")

    def named(self, name: str) -> Mutant:
        """The mutant of a name.

        Raises
        ------
        ValueError
            The file has no such mutant.
        """
        for mutant in self.mutants:
            if mutant.name == name:
                return mutant
        raise ValueError(f"{self.path} has no mutant {name!r}")

    @staticmethod
    def _edits(tree: ast.Module) -> Iterator[tuple[Position, str, ast.AST]]:
        for position in _positions(tree):
            for edit in edits(position.node, rebinds=position.rebinds):
                yield position, edit.text, edit.node


def of_name(name: str) -> tuple[Source, Mutant]:
    """The mutant of a name, and its file.

    Raises
    ------
    ValueError
        There is no such mutant.
    """
    file, colon, _ = name.partition(".py:")
    path = TOP / f"{file}.py"
    if not colon or not path.exists():
        raise ValueError(f"{name!r} does not begin with a file and a line")
    source = Source(path)
    return source, source.named(name)


def files_of(unit: Path) -> list[Path]:
    """The source files of a folder, or the file itself."""
    return sorted(unit.rglob("*.py")) if unit.is_dir() else [unit]


def sampled(mutants: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """`count` of them at random, in their order; all if there are no more."""
    chosen = Random(seed).sample(range(len(mutants)), min(count, len(mutants)))
    return [mutants[number] for number in sorted(chosen)]


def _positions(tree: ast.Module) -> Iterator[Position]:
    """The nodes that are mutated, in the order of the text.

    Not those of annotations, decorators, imports, assertions and texts: they say what a program is and not what it
    does. Not ``strict=``, which only finds mistakes.
    """
    for statement in tree.body:
        bound: set[str] = set()
        yield from _below(Position(statement, tree, "body", tree.body.index(statement), statement, False, False), bound)


def _below(position: Position, bound: set[str]) -> Iterator[Position]:
    node = position.node
    if _is_skipped(node):
        return
    in_function = position.in_function
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        bound = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    if isinstance(node, ast.Assign):
        names = {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        position = Position(**position.__dict__ | {"rebinds": bool(names) and names <= bound})
        bound |= names
    yield position
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "ctx", "op", "ops", "type_params", "bases"):
            continue
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and field == "body"
        for index, child in enumerate(value) if isinstance(value, list) else ((None, value),):
            if isinstance(child, ast.AST):
                statement = child if isinstance(child, ast.stmt) else position.statement
                yield from _below(Position(child, node, field, index, statement, False, inside), bound)


def _is_skipped(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.JoinedStr):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "strict"
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _line(position: Position) -> int:
    """The line of a node."""
    node = position.node.iter if isinstance(position.node, ast.comprehension) else position.node
    return int(getattr(node, "lineno", position.statement.lineno))


def _head(statement: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement without those inside of it."""
    inner = getattr(statement, "body", None)
    last = max(inner[0].lineno - 1, statement.lineno) if inner else statement.end_lineno
    return statement.lineno, int(last or statement.lineno)
