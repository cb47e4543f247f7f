"""Compiled programs of these tests are kept in a folder of their own, so that every session compiles them.

Segments of domains are smaller than they are for users.
"""

from pathlib import Path

import pytest

from ctm.sim.engines.fast import engine
from ctm.tb.fast.pair import Pair


@pytest.fixture(scope="session")
def compiled_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What XDG_CACHE_HOME names in all tests here."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache_home(compiled_programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No session finds what another one compiled."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_programs))


@pytest.fixture(autouse=True)
def segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the usual size, so that the larger domains here have several."""
    monkeypatch.setattr(engine, "SEGMENT_LANES", 1 << 16)


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Engines `golden` and `fast`, as a test makes them by their names."""
    return Pair(monkeypatch)
