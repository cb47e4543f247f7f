"""Runs modules of tests in a process of their own, with a plugin that does more with what they do."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_TOP = Path(__file__).parents[2]


def modules_of(folder: str, patterns: Sequence[str]) -> list[str]:
    """The names of the modules of a folder that match a pattern."""
    return sorted(path.stem for pattern in patterns for path in (_TOP / folder).glob(pattern))


def run_module(folder: str, module: str, plugin: str, **environment: str) -> None:
    """Run a module's tests with a plugin; all must pass."""
    environment = {**os.environ, "PYTHONPATH": str(_TOP / "src"), **environment}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", plugin, "-p", "no:cacheprovider", f"{folder}/{module}.py"],
        cwd=_TOP, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0 and " passed" in result.stdout, result.stdout
