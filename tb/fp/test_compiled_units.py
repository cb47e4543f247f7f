"""Every unit, compiled, against the golden model: all combinations of corners, and many random operands."""

import pytest

from ctm.rtl.config import PipelineConfig
from ctm.rtl.r5xx.units import UNITS
from ctm.tb.fp.cases import Batch
from ctm.tb.fp.units import ALL_CASES, DEEP, RANDOM_OPERANDS, SHALLOW, compiled
from ctm.tb.lib.compare import check
from ctm.tb.lib.some import only, some


def run(name: str, operands: Batch, config: PipelineConfig = DEEP) -> None:
    check(compiled(name, config)(**operands), ALL_CASES[name].golden(operands), operands)


def test_every_unit_has_a_case():
    assert ALL_CASES.keys() == UNITS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", UNITS)
def test_corners(name):
    run(name, ALL_CASES[name].corners())


@pytest.mark.slow
@pytest.mark.parametrize("name", some(list(UNITS), 2))
def test_random_operands(name):
    run(name, ALL_CASES[name].random(RANDOM_OPERANDS, 1))


@pytest.mark.slow
@pytest.mark.parametrize("name", only(UNITS, ("lane", "transcendental", "to_unorm8")))
def test_fewest_registers(name):
    run(name, ALL_CASES[name].random(50_000, 2), SHALLOW)


@pytest.mark.long
@pytest.mark.parametrize("name", UNITS)
def test_many_random_operands(name):
    for seed in range(100, 120):
        run(name, ALL_CASES[name].random(1_000_000, seed))
