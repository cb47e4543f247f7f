"""What the R700's tests run here is run by engine `fast` too."""

import pytest

from ctm.tb.fast.r700.twins import Twins
from ctm.tb.r700 import machine


@pytest.fixture(autouse=True)
def twins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every machine that a test makes is two, whose remarks are kept."""
    monkeypatch.setattr(Twins, "remarks", [])
    monkeypatch.setattr(machine, "Machine", Twins)
