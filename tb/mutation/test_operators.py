"""What each operator makes of a few lines of source."""

import ast
from pathlib import Path

import pytest

from ctm.tb.mutation.mutants import Source


def changes(source: str, tmp_path: Path) -> list[tuple[str, str]]:
    """Text of each mutant, and the source that it is."""
    path = tmp_path / "probe.py"
    path.write_text(source)
    found = Source(path)
    return [(mutant.text, ast.unparse(found.tree(mutant))) for mutant in found.mutants]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", [("statement dropped", "pass"), ("< -> <=", "a <= b"), ("operands of < swapped", "b < a")]),
        ("x = a >= b", [(">= -> >", "x = a > b"), ("operands of >= swapped", "x = b >= a")]),
        ("x = a == b", [("== -> !=", "x = a != b")]),
        ("x = a is None", [("is -> is not", "x = a is not None")]),
        ("x = a in b", [("in -> not in", "x = a not in b")]),
        ("x = a < b <= c", [("< -> <=", "x = a <= b <= c"), ("<= -> <", "x = a < b < c")]),
        ("x = 3", [("3 -> 4", "x = 4"), ("3 -> 2", "x = 2")]),
        ("x = 0", [("0 -> 1", "x = 1"), ("0 -> -1", "x = -1")]),
        ("x = True", [("True -> False", "x = False")]),
        ("x = 'text'", []),
        ("x = 0.5", []),
        ("x = a - b", [("- -> +", "x = a + b"), ("operands of - swapped", "x = b - a")]),
        ("x = a / b", [("operands of / swapped", "x = b / a")]),
        ("x = a // b", [("operands of // swapped", "x = b // a")]),
        ("x = a + [b]", []),
        ("x = a << b", [("<< -> >>", "x = a >> b")]),
        ("x = a & b", [("& -> |", "x = a | b")]),
        ("x = a and b", [("and -> or", "x = a or b")]),
        ("x = not a", [("not removed", "x = a")]),
        ("x = ~a", [("~ removed", "x = a")]),
        ("x = -a", [("- removed", "x = a")]),
        ("x = np.where(a, b, c)", [("branches of where swapped", "x = np.where(a, c, b)")]),
        ("x = Mux(a, b, c)", [("branches of Mux swapped", "x = Mux(a, c, b)")]),
        ("x = min(a, b)", [("min -> max", "x = max(a, b)")]),
        ("x = a.any()", [("any -> all", "x = a.all()")]),
        ("x = Signal(init=a)", [("reset value dropped", "x = Signal()")]),
        ("x = a[b:c]", [
            ("lower bound dropped", "x = a[:c]"), ("lower bound + 1", "x = a[b + 1:c]"),
            ("upper bound dropped", "x = a[b:]"), ("upper bound + 1", "x = a[b:c + 1]"),
        ]),
        ("x = a[1:]", [("lower bound dropped", "x = a[:]"), ("1 -> 2", "x = a[2:]"), ("1 -> 0", "x = a[0:]")]),
        ("x = b if a else c", [("condition negated", "x = b if not a else c")]),
        ("x = b if a == c else d", [("== -> !=", "x = b if a != c else d")]),
        ("x = b if not a else d", [("not removed", "x = b if a else d")]),
        ("x = [a for a in b if a]", [("condition negated", "x = [a for a in b if not a]")]),
        ("x.y = a", [("statement dropped", "pass")]),
        ("x[y] = a", [("statement dropped", "pass")]),
        ("x += a", [("+= -> -=", "x -= a"), ("statement dropped", "pass")]),
        ("x &= a", [("&= -> |=", "x |= a"), ("statement dropped", "pass")]),
        ("m.d.comb += a.eq(b)", [("statement dropped", "pass")]),
        ("m.d.sync += [a.eq(b), c.eq(d)]", [
            ("statement dropped", "pass"), ("dropped: a.eq(b)", "m.d.sync += [c.eq(d)]"),
            ("dropped: c.eq(d)", "m.d.sync += [a.eq(b)]"),
        ]),
        ("m.d[domain] += a.eq(b)", [("statement dropped", "pass")]),
        ("raise a", [("statement dropped", "pass")]),
    ],
)  # fmt: skip
def test_an_operator(source: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    assert changes(source, tmp_path) == expected


@pytest.mark.parametrize("source", [
    "'''A text of 3.'''", "import a", "assert a < 3", "x: list[3] = a", "if TYPE_CHECKING:\n    x = 3",
    "def f(a: 3) -> 4:\n    return a", "@a(3)\ndef f():\n    return g", "zip(a, strict=True)".join(["x = ", ""]),
    "x = f'{a + 1}'",
])  # fmt: skip
def test_declarations_of_a_program_are_kept(source: str, tmp_path: Path) -> None:
    assert changes(source, tmp_path) == []


def test_an_assignment_is_dropped_where_its_names_have_a_value(tmp_path: Path) -> None:
    assert changes("def f(a):\n    a = b\n    c = a\n    c = b\n", tmp_path) == [
        ("statement dropped", "def f(a):\n    pass\n    c = a\n    c = b"),
        ("statement dropped", "def f(a):\n    a = b\n    c = a\n    pass"),
    ]


def test_a_condition_is_negated(tmp_path: Path) -> None:
    assert changes("if a:\n    b", tmp_path)[0] == ("condition negated", "if not a:\n    b")
    assert changes("while a:\n    b", tmp_path)[0] == ("condition negated", "while not a:\n    b")
