"""The emitted Verilog of machines of an R700 core under cocotb, beside the golden model."""

import pytest

from ctm.rtl.ctm import Ctm
from ctm.sim.compiled.verilog import convert
from ctm.tb.cosim.simulation import Design, run
from ctm.tb.r700.cosim.configuration import DRAW, SMALL

MACHINE = Design(top="ctm", verilog=lambda: convert(Ctm(SMALL), top="ctm"), key=repr(SMALL))
DRAWING = Design(top="ctm", verilog=lambda: convert(Ctm(DRAW), top="ctm"), key=repr(DRAW))


@pytest.mark.long
@pytest.mark.parametrize(("design", "module", "count"), [(MACHINE, "programs", 12), (DRAWING, "draws", 9)])
def test_machine(design: Design, module: str, count: int) -> None:
    outcome = run(design, f"ctm.tb.r700.cosim.machine_{module}", LONG="1")
    failed = {name: reason for name, reason in outcome.tests.items() if reason is not None}
    assert len(outcome.tests) == count and not failed, f"{failed}\n{outcome.printed}"
