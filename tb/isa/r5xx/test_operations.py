"""The table of operations: each code is in it once, and hardware made of it is the same in every process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation
from ctm.rtl.isa.r5xx.operations import ALPHA, OPERATIONS, RGB

TOP = Path(__file__).parents[3]
_PROGRAM = """
from ctm.rtl.r5xx.code.alu_control import AluControl
from ctm.rtl.r5xx.code.source_use import SourceUse
from ctm.sim.compiled.verilog import convert_to_rtlil
print(convert_to_rtlil(AluControl(), top="control"), convert_to_rtlil(SourceUse(), top="use"))
"""


def test_every_code_is_there_once_in_order() -> None:
    assert [each.rgb for each in OPERATIONS if each.rgb is not None] == list(RGB) == list(RgbOperation)
    assert [each.alpha for each in OPERATIONS if each.alpha is not None] == list(ALPHA) == list(AlphaOperation)


def test_an_operation_of_both_units_has_one_name() -> None:
    for each in OPERATIONS:
        assert each.rgb is None or each.alpha is None or each.rgb.name == each.alpha.name


def test_operands_are_read_from_the_first_on_but_for_derivatives() -> None:
    for each in OPERATIONS:
        assert each.reads == "b" if each.is_derivative else "abc".startswith(each.reads)
        assert each.is_dot == (each.name in ("DP3", "DP4", "D2A"))
        assert bool(each.addends) == (each.is_dot and "c" in each.reads)
        assert bool(each.reads) != each.copies_other


@pytest.mark.slow
def test_hardware_does_not_depend_on_hashes() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", _PROGRAM],
            cwd=TOP, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }  # fmt: skip
    assert len(texts) == 1
