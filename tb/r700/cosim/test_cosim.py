"""The emitted Verilog of a machine of an R700 core under cocotb, beside the golden model."""

import pytest

from ctm.rtl.ctm import Ctm
from ctm.sim.compiled.verilog import convert
from ctm.tb.cosim.simulation import Design, run
from ctm.tb.r700.cosim.configuration import SMALL

MACHINE = Design(top="ctm", verilog=lambda: convert(Ctm(SMALL), top="ctm"), key=repr(SMALL))


@pytest.mark.long
def test_machine() -> None:
    outcome = run(MACHINE, "ctm.tb.r700.cosim.machine_programs", LONG="1")
    failed = {name: reason for name, reason in outcome.tests.items() if reason is not None}
    assert len(outcome.tests) == 12 and not failed, f"{failed}\n{outcome.printed}"
