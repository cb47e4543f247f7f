"""The emitted Verilog under cocotb: each module of cocotb tests runs in a simulation of its own."""

import pytest

from rtl.ctm import Ctm
from sim.compiled.verilog import convert
from tb.cosim.configuration import SMALL
from tb.cosim.simulation import Design, Outcome, run

MACHINE = Design(top="ctm", verilog=lambda: convert(Ctm(SMALL), top="ctm"), key=repr(SMALL))


def passes(outcome: Outcome) -> None:
    failed = {name: reason for name, reason in outcome.tests.items() if reason is not None}
    assert outcome.tests, f"no cocotb test ran:\n{outcome.printed}"
    assert not failed, "\n".join([*(f"{name}: {reason}" for name, reason in failed.items()), outcome.printed])


@pytest.mark.parametrize("module", ["registers", "streams"])
def test_machine(module: str) -> None:
    passes(run(MACHINE, f"tb.cosim.machine_{module}"))
