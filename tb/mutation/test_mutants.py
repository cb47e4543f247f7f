"""Mutants have names that stay, and are the same in every run."""

import ast
import re
from pathlib import Path

import pytest

from ctm.tb.mutation.mutants import TOP, Source, files_of, of_name, sampled

DRAW = TOP / "sim" / "golden" / "draw"


def source(tmp_path: Path, text: str) -> Source:
    path = tmp_path / "probe.py"
    path.write_text(text)
    return Source(path)


def test_a_name_has_file_line_change_and_index(tmp_path: Path) -> None:
    found = source(tmp_path, "x = 3\ny = a < b, a < b\n")
    assert [mutant.name for mutant in found.mutants] == [
        f"{tmp_path}/probe.py:{change}"
        for change in (
            "1 3 -> 4 #1", "1 3 -> 2 #1", "2 < -> <= #1", "2 operands of < swapped #1", "2 < -> <= #2",
            "2 operands of < swapped #2",
        )
    ]  # fmt: skip
    assert [ast.unparse(found.tree(found.mutants[number])) for number in (2, 4)] == [
        "x = 3\ny = (a <= b, a < b)", "x = 3\ny = (a < b, a <= b)",
    ]  # fmt: skip


def test_a_name_finds_its_mutant(tmp_path: Path) -> None:
    found = source(tmp_path, "x = 3\n")
    for mutant in found.mutants:
        assert of_name(mutant.name)[1] == mutant
    for wrong in (f"{found.path}:1 3 -> 5 #1", "sim/nothing.py:1 3 -> 4 #1", "nothing"):
        with pytest.raises(ValueError, match="no such|no mutant|does not begin"):
            of_name(wrong)


def test_the_page_names_mutants_that_there_are() -> None:
    page = (TOP / "docs" / "howto" / "mutation.md").read_text()
    names = {name.strip("'") for name in re.findall(r"[\w/]+\.py:\d+ [^\n']*#\d+", page)}
    assert names
    for name in names:
        assert of_name(name)[1].name.endswith(name)


def test_a_key_is_the_same_when_lines_are_added(tmp_path: Path) -> None:
    before = source(tmp_path, "x = 3\ny = 3\nx = 3\n").mutants
    after = source(tmp_path, "import a\n\nx = 3\nz = b\ny = 3\n\n\nx = 3\n").mutants
    assert [mutant.key for mutant in before] == [mutant.key for mutant in after]
    assert [mutant.key[3] for mutant in before] == [1, 1, 1, 1, 2, 2]


def test_the_same_source_has_the_same_mutants() -> None:
    for path in files_of(DRAW):
        first, second = Source(path).mutants, Source(path).mutants
        assert first == second and len({mutant.name for mutant in first}) == len(first)
        assert len({mutant.key for mutant in first}) == len(first)


def test_every_mutant_is_another_program() -> None:
    for path in files_of(DRAW):
        found = Source(path)
        usual = ast.dump(ast.parse(found.text))
        texts = {ast.dump(found.tree(mutant)) for mutant in found.mutants[::29]}
        assert usual not in texts and len(texts) == len(found.mutants[::29])


def test_a_sample_is_that_of_its_seed() -> None:
    mutants = [mutant for path in files_of(DRAW) for mutant in Source(path).mutants]
    assert sampled(mutants, 5, 1) == sampled(mutants, 5, 1) != sampled(mutants, 5, 2)
    assert len(sampled(mutants, 5, 1)) == 5 and sampled(mutants, 10**6, 1) == mutants


def test_lines_are_those_of_the_innermost_statement(tmp_path: Path) -> None:
    found = source(tmp_path, "def f(a=1):\n    if (a and\n            b):\n        return [\n            2]\n").mutants
    lines = {mutant.text: (mutant.lines, mutant.in_function) for mutant in found}
    assert lines["1 -> 2"] == ((1, 1), False)
    assert lines["and -> or"] == ((2, 3), True)
    assert lines["2 -> 3"] == ((4, 5), True)
