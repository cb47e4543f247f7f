"""The checks are worth something: every mistake that is planted in the translation is found."""

from pathlib import Path

import pytest

from ctm.tb.fast.r700.mutants import MUTANTS, Mutant
from ctm.tb.lib.planting import FaultyLoader, checks, planted_in_all

_PACKAGES = tuple(
    f"ctm.sim.engines.fast.{name}"
    for name in ("core", "finish", "kernel", "preparations", "program", "r5xx", "r700", "run", "vector")
)
"""What has to be imported anew: all that knows of a translation, but not LLVM's options, which are set once."""
_QUICK = 6
"""Of so many mutants one is tried by the ordinary suite."""


def found_by(mutant: Mutant) -> tuple | None:
    """The first arguments with which the check fails."""
    check = getattr(checks(mutant.module), mutant.check)
    for arguments in mutant.arguments:
        try:
            check(*arguments)
        except AssertionError:
            return arguments
    return None


def find(mutant: Mutant, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a mistake and see that its check fails, which holds without it."""
    # Names of compiled programs have a hash of the sources, which do not change.
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "faulty"))
    with planted_in_all(mutant.fault, _PACKAGES):
        arguments = found_by(mutant)
    assert arguments is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "right"))
    getattr(checks(mutant.module), mutant.check)(*arguments)


def test_mistakes_have_names() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20


def test_each_mistake_has_its_text_and_its_check() -> None:
    for mutant in MUTANTS:
        FaultyLoader(mutant.fault)
        assert hasattr(checks(mutant.module), mutant.check), mutant


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS[4::_QUICK], ids=str)
def test_some_are_found(mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find(mutant, tmp_path, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_all_are_found(mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find(mutant, tmp_path, monkeypatch)
