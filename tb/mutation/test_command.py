"""The command's statuses, and a few mutants of the fixed functions of draws."""

import subprocess
from pathlib import Path

import pytest

from ctm.tb.mutation.command import main
from ctm.tb.mutation.invocation import mutation
from ctm.tb.mutation.mutants import TOP, Source, files_of
from ctm.tb.mutation.survivors import draft, read
from ctm.tb.mutation.units import UNITS, suite_of

MODULE = "def value():\n    number = 3\n    return number > 1\n"


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    (tmp_path / "probe.py").write_text(MODULE)
    (tmp_path / "test_probe.py").write_text("import probe\ndef test_it():\n    assert probe.value()\n")
    (tmp_path / "table.toml").write_text("")
    return tmp_path


def run(unit: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    own = ("--table", unit / "table.toml", *arguments, "--tests", unit / "test_probe.py")
    return mutation(unit / "probe.py", *own, least=5.0)


@pytest.mark.slow
def test_survivors_are_told_until_the_table_has_them(unit: Path) -> None:
    first = run(unit, "--draft")
    told = first.stdout
    assert first.returncode == 1
    assert f"survived: {unit}/probe.py:3 > -> >= #1\n    return number > 1\n" in told
    assert told.endswith("1 killed, 0 accepted, 5 survive; 16.7 % of those that are not accepted are killed\n")
    rows = [row.replace('reason = ""', 'reason = "why"') for row in told.split("\n\n") if "[[" in row]
    (unit / "table.toml").write_text("\n".join(row[row.index("[[") :].partition("reason = \"why\"")[0] +
                                               'reason = "why"\n' for row in rows))  # fmt: skip
    second = run(unit)
    assert second.returncode == 0 and "1 killed, 5 accepted, 0 survive; 100.0 %" in second.stdout


@pytest.mark.slow
def test_a_row_whose_mutant_is_found_is_told(unit: Path) -> None:
    (mutant,) = [each for each in Source(unit / "probe.py").mutants if "swapped" in each.text]
    (unit / "table.toml").write_text(draft(mutant).replace('""', '"why"'))
    result = run(unit)
    assert result.returncode == 1 and f"found now, and still in the table: {mutant.name}" in result.stdout


@pytest.mark.slow
def test_one_mutant_is_run_by_its_name(unit: Path) -> None:
    (mutant,) = [each for each in Source(unit / "probe.py").mutants if "swapped" in each.text]
    result = mutation(mutant.name, "--all", "--tests", unit / "test_probe.py", "-k", "it")
    assert result.returncode == 0 and f"killed: {mutant.name}" in result.stdout


@pytest.mark.slow
def test_what_cannot_be_run_is_told(unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing"]) == 2 and "nothing is not there" in capsys.readouterr().err
    assert main([f"{unit}/probe.py:1 3 -> 4 #1"]) == 2 and "has no mutant" in capsys.readouterr().err
    (unit / "test_probe.py").write_text("def test_it():\n    assert False\n")
    result = run(unit)
    assert result.returncode == 2 and "fails without a mutant" in result.stderr


def test_a_row_without_a_reason_is_an_error(unit: Path) -> None:
    (mutant, *_) = Source(unit / "probe.py").mutants
    table = unit / "table.toml"
    table.write_text(draft(mutant))
    with pytest.raises(ValueError, match="has no reason"):
        read(table)
    table.write_text(draft(mutant).replace("reason", "because"))
    with pytest.raises(ValueError, match="has the keys"):
        read(table)


def test_every_row_names_a_mutant_and_every_unit_has_tests() -> None:
    rows = read()
    keys = {mutant.key for file in {row.file for row in rows} for mutant in Source(TOP / file).mutants}
    named = [(row.file, row.line, change, index) for row in rows for change in row.changes for index in row.indices]
    assert not set(named) - keys and len(set(named)) == len(named)
    for unit in (*UNITS, "rtl/fp/rounding.py", "sim/golden/mc", "sim/elf/r700", "rtl/r700/lane"):
        for argument in suite_of(TOP / unit):
            assert (TOP / argument).exists(), argument


def command(*arguments: str) -> None:
    result = mutation(*arguments)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
def test_a_sample_of_the_fixed_functions_of_draws_is_found() -> None:
    command("sim/golden/draw", "--sample", "2", "--seed", "2")


@pytest.mark.long
@pytest.mark.parametrize("unit", ["sim/golden/draw"])
def test_all_mutants_of_a_unit_are_found_or_accepted(unit: str) -> None:
    assert files_of(TOP / unit)
    command(unit)
