"""Engine `fast` leaves what the golden model leaves in all programs of the model's own tests, those that fault too."""

import pytest

from ctm.tb.lib.own_tests import modules_of, run_module

_FOLDER, _PLUGIN = "tb/r700", "ctm.tb.fast.r700.conftest"
_PATTERNS = ("test_*examples.py", "test_faults*.py", "test_stack.py", "test_note.py", "test_flow_random.py")
_MODULES = modules_of(_FOLDER, _PATTERNS)
_QUICK = ("test_pixel_examples",)


def test_all_are_there() -> None:
    assert len(_MODULES) == 13 and set(_QUICK) < set(_MODULES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=() if name in _QUICK else pytest.mark.long) for name in _MODULES]
)
def test_modules(module: str) -> None:
    run_module(_FOLDER, module, _PLUGIN)
