"""A machine whose cores are models of their own does the same, by whichever engine."""

import gc
import os
import re
from pathlib import Path

import pytest

from ctm.rtl.config import R700, TINY, MachineConfig, with_settings
from ctm.rtl.dpp.core_module import CoreModule
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.lib.clock_gating import ClockGating
from ctm.sim.compiled.uncore import EARLY, Uncore
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.engines.engine import Report
from ctm.sim.report.workloads import matmul, prepare
from ctm.tb.compiled.paths import Paths
from ctm.tb.lib.machines import BEATS
from ctm.tb.soak.comparison import Comparison
from ctm.tb.soak.work import draw_work

TWO = with_settings(BEATS, {"array.cores": 2})
TWO_OF_LANES = with_settings(TINY, {"array.cores": 2})
TWO_R700 = with_settings(R700, {"array.cores": 2})


def course(config: MachineConfig) -> Report:
    """What is counted while two cores run."""
    prepared = prepare(matmul(32), "rtl", config)
    prepared.device.run(prepared.commands)
    assert prepared.is_right()
    return prepared.device.report()


@pytest.mark.long
@pytest.mark.parametrize("config", [TWO, TWO_R700], ids=["r5xx", "r700"])
def test_outputs_of_a_core_follow_from_registers_that_are_settled_early_and_from_one_input(
    config: MachineConfig, tmp_path: Path
) -> None:
    core = CoreModule(config, INSTRUCTION_SETS[config.array.instruction_set])
    paths = Paths(convert_to_rtlil(core, top="core", platform=ClockGating()), top="core", folder=tmp_path)
    assert {name for name in paths.inputs if paths.reached(name)} == {f"\\{EARLY}"}
    assert "\\group__valid" in paths.inputs and "\\group__ready" in paths.outputs
    assert "\\fault__valid" in paths.reached_from_registers("clk")
    assert not paths.reached_from_registers("operands_clk"), "a gated unit has its operands late in a cycle"


@pytest.mark.long
def test_the_early_input_follows_from_nothing_that_cores_give(tmp_path: Path) -> None:
    paths = Paths(convert_to_rtlil(Uncore(TWO), top="ctm"), top="ctm", folder=tmp_path)
    given = [name for name in paths.inputs if name.startswith("\\core_")]
    reached = {name: paths.reached(name) for name in given}
    assert f"\\core_1_{EARLY}" in paths.outputs
    assert not any(name.endswith(f"_{EARLY}") for outputs in reached.values() for name in outputs)
    assert "\\core_1_code_response_ready" in reached or any(reached.values())


@pytest.mark.slow
def test_input_caches_that_are_written_apart_are_instantiated_and_nothing_is_said_of_them(
    recwarn: pytest.WarningsRecorder,
) -> None:
    apart = convert_to_rtlil(Uncore(TWO, caches_apart=True), top="ctm")
    gc.collect()
    assert not recwarn.list
    assert len(re.findall(r"^  cell \\ctm_input_caches ", apart, re.MULTILINE)) == 1
    assert not re.search(r"^module \S+\.inputs\b", apart, re.MULTILINE)


with_both = pytest.mark.parametrize("config", [TWO, TWO_OF_LANES], ids=["beats", "lanes"])


@pytest.mark.long
@with_both
def test_a_second_thread_changes_nothing(config: MachineConfig) -> None:
    processors = os.sched_getaffinity(0)
    if len(processors) < 2:
        pytest.skip("there is one processor")
    with_two = course(config)
    os.sched_setaffinity(0, {min(processors)})
    try:
        assert course(config) == with_two
    finally:
        os.sched_setaffinity(0, processors)


@pytest.mark.long
@with_both
def test_random_work_leaves_the_same_errors_and_the_same_memory(config: MachineConfig) -> None:
    """Programs of all kinds, whichever core runs which wavefront."""
    for seed in range(40):
        Comparison(draw_work(seed), config).run()
