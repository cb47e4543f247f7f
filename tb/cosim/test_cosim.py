"""The emitted Verilog under cocotb: each module of cocotb tests runs in a simulation of its own."""

from pathlib import Path

import pytest

from rtl.ctm import Ctm
from sim.compiled.verilog import convert
from tb.cosim import controller_top
from tb.cosim.configuration import SMALL
from tb.cosim.controller_top import Mistake
from tb.cosim.simulation import Design, Outcome, run

MACHINE = Design(top="ctm", verilog=lambda: convert(Ctm(SMALL), top="ctm"), key=repr(SMALL))
CONTROLLER = Design(
    top=controller_top.TOP,
    verilog=lambda: convert(controller_top.ControllerTop(SMALL), top=controller_top.TOP),
    key=repr(SMALL) + Path(controller_top.__file__).read_text(),
)
MACHINE_TESTS = ("registers", "programs", "streams", "errors", "resets")
CONTROLLER_TESTS = ("traffic",)

REASONS = {
    Mistake.FOREIGN_BYTES: "came before 0x.* was written",
    Mistake.EARLY_LAST: "last at beat 1 of",
    Mistake.WITHDRAWN: "valid fell before ready",
    Mistake.CHANGED: "payload changed before ready",
    Mistake.CROSSING: "cross 4 KiB",
    Mistake.WRONG_SIZE: "size 0",
    Mistake.WRONG_DATA: "lookup .* of input|an instruction|a constant|a line",
    Mistake.LOST_WRITE: "counters are wrong in memory",
}
"""What the failing test says of each mistake."""


def passes(outcome: Outcome) -> None:
    failed = {name: reason for name, reason in outcome.tests.items() if reason is not None}
    assert outcome.tests, f"no cocotb test ran:\n{outcome.printed}"
    assert not failed, "\n".join([*(f"{name}: {reason}" for name, reason in failed.items()), outcome.printed])


@pytest.mark.parametrize("name", MACHINE_TESTS)
def test_machine(name: str) -> None:
    passes(run(MACHINE, f"tb.cosim.machine_{name}"))


@pytest.mark.parametrize("name", CONTROLLER_TESTS)
def test_memory_controller(name: str) -> None:
    passes(run(CONTROLLER, f"tb.cosim.controller_{name}"))


@pytest.mark.parametrize("mistake", REASONS)
def test_a_mistake_at_the_bus_is_found(mistake: Mistake) -> None:
    outcome = run(CONTROLLER, "tb.cosim.controller_traffic", COUNT="1", PAUSES="0.3", MISTAKE=mistake.name)
    with pytest.raises(AssertionError, match=REASONS[mistake]):
        passes(outcome)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_machine_with_more_streams(first: int) -> None:
    passes(run(MACHINE, "tb.cosim.machine_streams", FIRST=str(first), COUNT="10"))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 150, 10))
def test_memory_controller_with_more_traffic(first: int) -> None:
    passes(run(CONTROLLER, "tb.cosim.controller_traffic", FIRST=str(first), COUNT="10"))
