"""Occupancy is what the hardware gives: the wave slots that wavefronts of a program take."""

from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import PRESETS, TINY, MachineConfig
from ctm.sim.assembler import assemble
from ctm.sim.engines.seen import TAKEN, Watching
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import load_job
from ctm.sim.profile.occupancy import occupancy
from ctm.tb.jobs.single import single
from ctm.tb.lib.machines import BEATS
from ctm.tb.lib.some import only

JOB = single("p.s", 64, 64)


def r5xx(registers: int) -> str:
    """A program with so many registers that takes long enough for every wave slot to have a wavefront."""
    return f"ALU r{registers - 1} = MOV(r0)\n" + "ALU r0.r = EX2(r0.r)\n" * 40 + f"OUT o0 = MOV(r{registers - 1})\n"


def r700(registers: int, *, stack: int = 0) -> str:
    last = registers - 1
    chain = "EXP_IEEE R0.x, R0.x\n" * 40
    return f".isa r700\n.stack {stack}\nMOV R{last}.x, R0.x\n{chain}EXPORT_DONE PIX0, R{last}\n"


def taken(source: str, config: MachineConfig, folder: Path) -> int:
    """Wave slots that wavefronts took on the hardware."""
    (folder / "p.s").write_text(source)
    (folder / "job.toml").write_text(JOB)
    job = load_job(folder / "job.toml")
    execution = Execution(job, engine="rtl", config=config, watchdog=0, watch=Watching(most_events=1 << 16))
    execution.run()
    events = execution.device.seen().events
    return len(np.unique(events["slot"][events["kind"] == TAKEN]))


@pytest.mark.slow
@pytest.mark.parametrize("registers", only([2, 16, 17, 33, 128], (17, 128)))
def test_r5xx(registers: int, tmp_path: Path) -> None:
    source = r5xx(registers)
    assert occupancy(assemble(source), BEATS.array).wave_slots == taken(source, BEATS, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(("registers", "stack"), [(2, 0), (30, 0), (64, 0), (124, 0), (2, 3)])
def test_r700(registers: int, stack: int, tmp_path: Path) -> None:
    source, config = r700(registers, stack=stack), PRESETS["r700"]
    assert occupancy(assemble(source), config.array).wave_slots == taken(source, config, tmp_path)


def test_what_would_have_to_be_less_is_named_and_enough(is_long: bool) -> None:
    for registers in range(2, 129, 1 if is_long else 9):
        found = occupancy(assemble(r5xx(registers)), TINY.array)
        assert (found.bound is None) is (found.wave_slots == found.there_are)
        if found.bound is not None and found.bound.at_most:
            fewer = occupancy(assemble(r5xx(found.bound.at_most)), TINY.array)
            assert fewer.wave_slots > found.wave_slots
            assert occupancy(assemble(r5xx(found.bound.at_most + 1)), TINY.array).wave_slots == found.wave_slots
