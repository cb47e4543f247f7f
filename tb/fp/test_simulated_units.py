"""Every unit in Amaranth's own simulator: few operands, but no other tool between the source and the result."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

from ctm.rtl.config import PipelineConfig
from ctm.rtl.r5xx.units import UNITS
from ctm.tb.fp.cases import Batch
from ctm.tb.fp.units import ALL_CASES
from ctm.tb.lib.compare import check

ROWS = 100
HALF_DEEP = PipelineConfig(operands=0, product=0, addition=0, rounding=0)


def simulate(unit: Any, operands: Batch) -> Batch:
    """Results of a unit that takes a row of operands in every cycle."""
    ports = {path[0]: (member.flow is In, value) for path, member, value in unit.signature.flatten(unit)}
    inputs = {name: Value.cast(value) for name, (is_input, value) in ports.items() if is_input}
    outputs = {name: Value.cast(value) for name, (is_input, value) in ports.items() if not is_input}
    results: dict[str, list[list[int]]] = {name: [] for name in outputs}

    async def testbench(context: Any) -> None:
        for cycle in range(ROWS + unit.latency):
            for name, value in inputs.items():
                words = np.atleast_1d(operands[name][min(cycle, ROWS - 1)]).tolist()
                context.set(value, sum(word << 32 * index for index, word in enumerate(words)))
            if cycle >= unit.latency:
                for name, value in outputs.items():
                    bits = context.get(value)
                    results[name].append([bits >> low & 0xFFFFFFFF for low in range(0, len(value), 32)])
            if unit.latency:
                await context.tick()
            else:
                await context.delay(1e-9)

    simulator = Simulator(unit)
    if unit.latency:
        simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()
    return {name: np.array(rows, np.uint32) for name, rows in results.items()}


@pytest.mark.parametrize("config", [PipelineConfig(), HALF_DEEP], ids=["all registers", "half of them"])
@pytest.mark.parametrize("name", UNITS)
def test_random_operands(name, config):
    operands = ALL_CASES[name].random(ROWS, 3)
    expected = ALL_CASES[name].golden(operands)
    check(simulate(UNITS[name](config), operands), expected, operands)
