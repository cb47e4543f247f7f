"""``ctm verify`` names the command in a checkout, and says where it is if it is not there."""

import importlib.util

import pytest

from ctm.tb.cli.invocation import ctm, error_line


def test_a_checkout_has_the_command() -> None:
    result = ctm("verify")
    assert result.exit_code == 0
    assert result.stdout == "python -m ctm.tb.verify runs the regression; --help has its options\n"


def test_a_package_says_that_it_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    for finder in (missing, lambda name: None):
        monkeypatch.setattr("ctm.sim.cli.verify.find_spec", finder)
        said = error_line("verify")
        assert said == ("error: the installed package has no regression: run python -m ctm.tb.verify in a checkout\n")
    assert importlib.util.find_spec("ctm.tb.verify")
