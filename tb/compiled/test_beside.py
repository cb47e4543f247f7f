"""Calls in processes of their own."""

import os
import time

import pytest

from sim.compiled.beside import Beside


def test_the_result_comes_from_another_process() -> None:
    with Beside(os.getpid) as call:
        assert call.result() not in (0, os.getpid())


def test_an_exception_arrives() -> None:
    with Beside(int, "seven") as call, pytest.raises(ValueError, match="invalid literal for int.*'seven'"):
        call.result()


def test_a_process_that_dies_is_told() -> None:
    with Beside(os._exit, 3) as call, pytest.raises(RuntimeError, match="ended with 3"):
        call.result()


def test_leaving_ends_the_process() -> None:
    start = time.perf_counter()
    with Beside(time.sleep, 60.0):
        pass
    assert time.perf_counter() - start < 30.0
