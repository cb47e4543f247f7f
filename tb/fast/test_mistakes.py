"""The checks are worth something: every mistake that is planted in the translation is found by one of them."""

from pathlib import Path

import pytest

from ctm.tb.fast.mistakes import MISTAKES, Check, Mistake
from ctm.tb.lib.planting import checks


def run(check: Check) -> None:
    module, name, arguments = check
    getattr(checks(f"fast.{module}"), name)(*arguments)


def finder(mistake: Mistake) -> Check | None:
    """The first check that fails."""
    for check in mistake.checks:
        try:
            run(check)
        except AssertionError:
            return check
    return None


def test_mistakes_have_names() -> None:
    assert len({mistake.what for mistake in MISTAKES}) == len(MISTAKES) >= 12


def test_their_checks_exist() -> None:
    for mistake in MISTAKES:
        assert all(hasattr(checks(f"fast.{module}"), name) for module, name, _ in mistake.checks), mistake


@pytest.mark.long
@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_it_is_found(mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is compiled is kept by a hash of the sources, which do not change: so each has a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "wrong"))
    with monkeypatch.context() as patch:
        mistake.plant(patch)
        found = finder(mistake)
    assert found is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "right"))
    run(found)
