"""Mutants of a small module are killed, survive, or take too long, and leave nothing of themselves."""

import re
import subprocess
from pathlib import Path

import pytest

from ctm.tb.mutation.invocation import mutation
from ctm.tb.mutation.mutants import Source
from ctm.tb.mutation.runner import Outcome

MODULE = """
START = 3

def at_import():
    return 7

SEVEN = at_import()

def doubled(number):
    result = 2 * number
    while result > 100:
        result = result - 50
    return result

def unused(number):
    return number - 1
"""
TESTS = """
import os
from pathlib import Path
import probe

def test_start():
    assert probe.START == 3

def test_seven():
    assert probe.SEVEN == 7

def test_doubled():
    assert probe.doubled(4) == 8

def test_is_in_an_own_cache():
    probe.doubled(1)
    if os.environ.get("CTM_MARK"):
        file = Path(os.environ["XDG_CACHE_HOME"]) / "mark"
        assert not file.exists()
        file.write_text("")
"""


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    (tmp_path / "probe.py").write_text(MODULE)
    (tmp_path / "test_probe.py").write_text(TESTS)
    return tmp_path


def run(unit: Path, *arguments: str, step: int = 1) -> subprocess.CompletedProcess[str]:
    names = [mutant.name for mutant in Source(unit / "probe.py").mutants[::step]]
    return mutation(*names, "--all", "--tests", unit / "test_probe.py", *arguments, least=3.0)


def found(unit: Path, *arguments: str, step: int = 1) -> dict[str, Outcome]:
    result = run(unit, *arguments, step=step)
    assert result.returncode < 2, result.stderr
    rows = re.findall(r"^(.+): \S*probe\.py:(.+)$", result.stdout, re.MULTILINE)
    assert len(rows) == len(Source(unit / "probe.py").mutants[::step])
    return {name: Outcome(outcome) for outcome, name in rows}


@pytest.mark.slow
def test_outcomes_are_those_of_the_tests(unit: Path) -> None:
    assert found(unit) == {
        # These run at the import.
        "2 3 -> 4 #1": Outcome.KILLED, "2 3 -> 2 #1": Outcome.KILLED,
        "5 7 -> 8 #1": Outcome.KILLED, "5 7 -> 6 #1": Outcome.KILLED,
        # These do not.
        "10 * -> + #1": Outcome.KILLED, "10 2 -> 3 #1": Outcome.KILLED, "10 2 -> 1 #1": Outcome.KILLED,
        "11 condition negated #1": Outcome.TIMEOUT, "11 > -> >= #1": Outcome.SURVIVED,
        "11 operands of > swapped #1": Outcome.TIMEOUT, "11 100 -> 101 #1": Outcome.SURVIVED,
        "11 100 -> 99 #1": Outcome.SURVIVED,
        # No test is in the loop.
        "12 statement dropped #1": Outcome.UNREACHED, "12 - -> + #1": Outcome.UNREACHED,
        "12 operands of - swapped #1": Outcome.UNREACHED, "12 50 -> 51 #1": Outcome.UNREACHED,
        "12 50 -> 49 #1": Outcome.UNREACHED,
        "16 - -> + #1": Outcome.UNREACHED, "16 operands of - swapped #1": Outcome.UNREACHED,
        "16 1 -> 2 #1": Outcome.UNREACHED, "16 1 -> 0 #1": Outcome.UNREACHED,
    }  # fmt: skip


@pytest.mark.long
def test_every_mutant_has_a_cache_of_its_own(unit: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usual = tmp_path / "cache"
    usual.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(usual))
    assert Outcome.KILLED not in found(unit, "-k", "own_cache", step=5).values()
    # The mark in the usual cache is seen by no mutant, and theirs are not left there.
    monkeypatch.setenv("CTM_MARK", "1")
    assert Outcome.KILLED not in found(unit, "-k", "own_cache", step=5).values()
    assert [path.name for path in usual.iterdir()] == ["mark"]


@pytest.mark.slow
def test_tests_that_fail_without_a_mutant_are_an_error(unit: Path) -> None:
    (unit / "test_probe.py").write_text("import probe\ndef test_it():\n    assert probe.START == 5\n")
    errors = run(unit).stderr
    assert re.search(r"(?s)fails without a mutant: \S*test_probe.py::test_it.*START == 5", errors), errors


@pytest.mark.slow
def test_tests_that_cannot_be_collected_are_an_error(unit: Path) -> None:
    (unit / "test_probe.py").write_text("import probe\nthis is no Python\n")
    assert "pytest ends with" in run(unit).stderr


@pytest.mark.long
def test_nothing_is_left_of_a_run(unit: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    found(unit, step=7)
    assert not list(folder.glob("ctm-mutant-*"))
