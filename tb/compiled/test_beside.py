"""Calls in processes of their own."""

import os
import sys
import time
from pathlib import Path

import pytest

from ctm.rtl.config import DEFAULT, with_settings
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.beside import Beside


def test_the_result_comes_from_another_process() -> None:
    with Beside(os.getpid) as call:
        assert call.result() not in (0, os.getpid())


def test_an_exception_arrives() -> None:
    with Beside(int, "seven") as call, pytest.raises(ValueError, match="invalid literal for int.*'seven'"):
        call.result()


def test_a_process_that_dies_is_told() -> None:
    with Beside(os._exit, 3) as call, pytest.raises(ToolchainError, match="ended with 3"):
        call.result()


def test_packages_in_the_current_folder_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rtl", "sim", "pickle"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('a package of the user')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [index for index in sys.path if index])
    with Beside(with_settings, DEFAULT, {"array.lanes": 8}) as call:
        assert call.result().array.lanes == 8


def test_leaving_ends_the_process() -> None:
    start = time.perf_counter()
    with Beside(time.sleep, 60.0):
        pass
    assert time.perf_counter() - start < 30.0
