"""CXXRTL's C++ in parts that can be compiled side by side, made of functions of limited size.

`write_cxxrtl` makes one function of each module, and of the top a function that takes a compiler ten minutes and more.
Here the same statements stand in the same order in many member functions; a variable that several of them use becomes
a member.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_FUNCTION_BYTES = 15_000
"""From which on a function ends; with four times as much g++ takes nearly twice as long."""
_STRUCT = re.compile(
    r"^(struct (\w+) : public module \{\n.*?)\tbool eval\(performer \*performer = nullptr\) override;\n"
    r"(.*?)^\}; // struct \2\n(.*?^void \2::reset\(\) \{\n.*?^\}\n)\n"
    r"bool \2::eval\(performer \*performer\) \{\n(.*?)^\}\n",
    re.MULTILINE | re.DOTALL,
)
_NODE = re.compile(r"\t// (?:cells?|connection|memory) ?")
"""What stands in front of the statements for a cell, a connection or a memory's port."""
_VARIABLE = re.compile(r"\t(value<\d+>) (\w+);\n")
_NAME = re.compile(r"\b[ip]_\w+")
_CONVERGED = "\tbool converged = true;\n"
_CALL = re.compile(
    r"^\tif \((cell_\w+)\.eval\(performer\)\) \{\n((?:\t\t.*\n)*)"
    r"\t\} else \{\n\t\tconverged = false;\n(?:\t\t.*\n)*\t\}\n",
    re.MULTILINE,
)
_RESULT = re.compile(r"\b(cell_\w+\.\w+)\.curr\b")
_UPDATE = re.compile(r"\b(memory_\w+)\.update\(")
_COMMIT = re.compile(r"^\t\tif \((\w+)\.commit\(observer\)\) changed = true;$", re.MULTILINE)
_HELPERS = """
// What a module gives is a value where it follows from what it is given, and a wire where it comes from a register.
template<size_t Bits> const value<Bits> &current(const value<Bits> &result) { return result; }
template<size_t Bits> const value<Bits> &current(const wire<Bits> &result) { return result.curr; }

// Nothing is kept for the edge of the clock if nothing is written.
template<size_t Bits>
void update(memory<Bits> &target, size_t index, const value<Bits> &words, const value<Bits> &mask, int priority) {
	if (!mask.is_zero()) target.update(index, words, mask, priority);
}
"""


class UnexpectedTextError(Exception):
    """CXXRTL's output is not what this module knows."""


@dataclass(frozen=True)
class Model:
    """C++ of a design: `header`, which the rest needs, `start`, which runs once, and the `functions` of a cycle."""

    header: str
    start: str
    functions: Sequence[str]


def divide(text: str) -> Model:
    """The parts of CXXRTL's output without debug information, if each module is written as a top.

    A module's class is `cxxrtl_design::p_<name>`. There is one clock, and each cycle has two calls: `eval` computes all
    that follows from inputs and state, `commit` is the clock's edge.

    Raises
    ------
    UnexpectedTextError
        The text is something else, or a module has to be evaluated several times in a cycle.
    """
    first, end = text.find("struct "), text.rfind("} // namespace")
    if first < 0 or end < 0:
        raise UnexpectedTextError("no module")
    header = ["#pragma once\n", text[:first], _HELPERS]
    start: list[str] = []
    functions: list[str] = []
    for match in _STRUCT.finditer(text):
        members, name, commit, reset, body = match.groups()
        if not body.startswith(_CONVERGED):
            raise UnexpectedTextError(f"{name} has to be evaluated several times")
        variables, evaluations = _evaluation(body)
        commits = list(_grouped(_committed(commit)))
        header += [members, *variables, *_calls("bool eval(performer *performer = nullptr)", "eval", len(evaluations)),
                   *_calls("bool commit()", "commit", len(commits)), "};\n"]  # fmt: skip
        start.append(reset)
        functions += _members(name, "eval", evaluations)
        functions += _members(name, "commit", commits)
    return Model("".join([*header, "}\n"]), _inside("".join(start)), functions)


def _inside(text: str) -> str:
    return f"namespace cxxrtl_design {{\n{text}}}\n"


def _members(struct: str, name: str, bodies: Iterable[str]) -> Iterator[str]:
    """Member functions, numbered."""
    return (_inside(f"void {struct}::{name}_{number}() {{\n{body}}}\n") for number, body in enumerate(bodies))


def _calls(head: str, name: str, count: int) -> Iterator[str]:
    """The declarations of these functions, and a function that calls one after the other."""
    yield from (f"\tvoid {name}_{number}();\n" for number in range(count))
    calls = "".join(f"{name}_{number}(); " for number in range(count))
    yield f"\t{head} override {{ {calls}return true; }}\n"


def _evaluation(body: str) -> tuple[list[str], list[str]]:
    """The variables that have to be members, and the bodies of the functions."""
    lines = body.splitlines(keepends=True)
    types = {match[2]: match[1] for line in lines if (match := _VARIABLE.fullmatch(line))}
    bodies = [_called(statements) for statements in _grouped(_nodes(lines))]
    users: dict[str, list[int]] = {name: [] for name in types}
    for number, statements in enumerate(bodies):
        for name in users.keys() & set(_NAME.findall(statements)):
            users[name].append(number)
    variables: list[list[str]] = [["\tconstexpr bool posedge_p_clk = true;\n"] for _ in bodies]
    members: list[str] = []
    for name, numbers in users.items():
        target = members if len(numbers) > 1 else variables[numbers[0]] if numbers else []
        target.append(f"\t{types[name]} {name};\n")
    return members, ["".join(own) + statements for own, statements in zip(variables, bodies, strict=True)]


def _called(statements: str) -> str:
    """Statements in which modules are evaluated once, and what they give is there at once."""
    statements = _CALL.sub(r"\t\1.eval();\n\2", statements)
    return _UPDATE.sub(r"update(\1, ", _RESULT.sub(r"current(\1)", statements))


def _nodes(lines: Iterable[str]) -> Iterator[str]:
    """The statements, those that belong together as one text."""
    node: list[str] | None = None
    for line in lines:
        if _NODE.match(line):
            if node is not None:
                yield "".join(node)
            node = []
        elif node is not None and line != "\treturn converged;\n":
            node.append(line)
    yield "".join(node or [])


def _committed(text: str) -> Iterator[str]:
    """The statements that put next values in place; comparing them would spare nothing."""
    for match in _COMMIT.finditer(text):
        name = match[1]
        if name.startswith("cell_"):
            yield f"\t{name}.commit();\n"
        elif name.startswith("memory_"):
            yield f"\t{{ observer nobody; {name}.commit(nobody); }}\n"
        else:
            yield f"\t{name}.curr = {name}.next;\n"


def _grouped(statements: Iterable[str]) -> Iterator[str]:
    """Statements, one after the other, as texts of limited size."""
    group: list[str] = []
    size = 0
    for statement in statements:
        group.append(statement)
        size += len(statement)
        if size > _FUNCTION_BYTES:
            yield "".join(group)
            group, size = [], 0
    if group:
        yield "".join(group)
