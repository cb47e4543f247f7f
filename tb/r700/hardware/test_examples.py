"""The hardware leaves what the golden model leaves in all programs of the model's own examples, and faults alike."""

import pytest

from ctm.tb.lib.own_tests import modules_of, run_module

_FOLDER, _PLUGIN = "tb/r700", "ctm.tb.r700.hardware.plugin"
_MODULES = modules_of(_FOLDER, ("test_*examples.py", "test_faults*.py", "test_stack.py"))
_ALWAYS = ("test_fetch_examples", "test_memory_examples")


def test_all_are_there() -> None:
    assert len(_MODULES) == 11 and set(_ALWAYS) < set(_MODULES)


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=() if name in _ALWAYS else pytest.mark.long) for name in _MODULES]
)
def test_modules(module: str) -> None:
    run_module(_FOLDER, module, _PLUGIN)
