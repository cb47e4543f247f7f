"""A machine of an R700 core in Amaranth's own simulator: what it leaves, and its cycles, are the compiled one's."""

import numpy as np
import pytest

from ctm.tb.r700.assembly import Assembly
from ctm.tb.r700.hardware.machine import AmaranthHardware, HardwareEngine, compare
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.words import export, group, slot, tex


@pytest.mark.long
def test_a_small_program_takes_the_same_cycles() -> None:
    a = Assembly()
    a.fetch(tex("LD", 1, 0))
    a.alu(group(slot("MULADD", "R1.x", "R1.x", "R1.x", "1.0"), slot("ADD", "R1.y", "R0.x", "R0.y")))
    a.raw(export(0, 1))
    a.end()
    picture = Input(values=np.arange(64, dtype=np.float32).reshape(4, 4, 4))
    job = Job(program=a.executable(), inputs={0: picture})
    reports = []
    for on in (AmaranthHardware(), HardwareEngine()):
        assert compare(job, on).error is None
        reports.append(on.report())
    assert reports[0] == reports[1]
