"""Of what takes long each minute is counted, from its beginning to its end."""

import time

import pytest

from ctm.sim.cli.options.minutes import minutes

PATIENCE, LONG = 10.0, 0.1


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said, with minutes of some milliseconds."""
    found: list[str] = []
    monkeypatch.setattr("ctm.sim.cli.options.minutes._SECONDS", LONG / 10)
    monkeypatch.setattr("typer.echo", lambda text, *, err: found.append(text))
    return found


def test_minutes_are_counted_from_the_sentence_to_the_end(said: list[str]) -> None:
    limit = time.monotonic() + PATIENCE
    with minutes("compiling ...") as tell:
        time.sleep(LONG)
        assert said == []
        tell()
        while len(said) < 3 and time.monotonic() < limit:
            time.sleep(LONG / 10)
    assert said[:3] == ["compiling ...", "... 1 min", "... 2 min"]
    time.sleep(LONG)
    count = len(said)
    time.sleep(LONG)
    assert len(said) == count


def test_what_is_quick_says_nothing(said: list[str]) -> None:
    with minutes("compiling ..."):
        pass
    assert said == []
