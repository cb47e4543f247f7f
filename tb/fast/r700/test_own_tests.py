"""Engine `fast` leaves what the golden model leaves in all programs of the model's own tests, those that fault too.

The tests themselves run, in a process of their own, on both.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_TOP = Path(__file__).parents[3]
_PATTERNS = ("test_*examples.py", "test_faults*.py", "test_stack.py", "test_note.py", "test_flow_random.py")
_QUICK = ("test_export_examples", "test_pixel_examples")
_MODULES = sorted(path.stem for pattern in _PATTERNS for path in (_TOP / "tb" / "r700").glob(pattern))
_PLUGIN = "ctm.tb.fast.r700.conftest"


def test_all_are_there() -> None:
    assert len(_MODULES) == 13 and set(_QUICK) < set(_MODULES)


@pytest.mark.parametrize(
    "module", [pytest.param(name, marks=() if name in _QUICK else pytest.mark.long) for name in _MODULES]
)
def test_modules(module: str) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", _PLUGIN, "-p", "no:cacheprovider", f"tb/r700/{module}.py"],
        cwd=_TOP, env={**os.environ, "PYTHONPATH": str(_TOP / "src")}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0 and " passed" in result.stdout, result.stdout
