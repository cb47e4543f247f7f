"""A machine is the same text in every process, although Python's hashes of strings differ."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctm.rtl.config import DRAW_PRESET, PRESETS
from ctm.tb.lib.some import only

TOP = Path(__file__).parents[2]
_PROGRAM = """
from ctm.rtl.config import PRESETS
from ctm.rtl.ctm import Ctm
from ctm.sim.compiled.verilog import convert_to_rtlil
print(convert_to_rtlil(Ctm(PRESETS["{preset}"]), top="ctm"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("preset", only(list(PRESETS), ["tiny", DRAW_PRESET]))
def test_hardware_does_not_depend_on_hashes(preset: str) -> None:
    first, second = (
        subprocess.run(
            [sys.executable, "-c", _PROGRAM.format(preset=preset)],
            cwd=TOP, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout.splitlines()
        for seed in ("1", "2")
    )  # fmt: skip
    differing = [one for one, other in zip(first, second, strict=True) if one != other]
    assert not differing, differing[:3]
