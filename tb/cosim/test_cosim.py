"""The emitted Verilog under cocotb: each module of cocotb tests runs in a simulation of its own."""

from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest
from amaranth.lib.wiring import Component

from ctm.rtl.ctm import Ctm
from ctm.sim.compiled.verilog import convert
from ctm.tb.cosim import controller_top, processor_top, unit_top
from ctm.tb.cosim.configuration import MACHINE, SMALL
from ctm.tb.cosim.controller_top import Mistake
from ctm.tb.cosim.processor_top import Mistake as ProcessorMistake
from ctm.tb.cosim.simulation import Design, Outcome, run
from ctm.tb.cosim.unit_top import Mistake as UnitMistake

pytestmark = pytest.mark.slow

WHOLE = Design(top="ctm", verilog=lambda: convert(Ctm(MACHINE), top="ctm"), key=repr(MACHINE))


def _design(module: ModuleType, make: Callable[[], Component]) -> Design:
    """A unit of the machine below the top that `module` describes."""
    key = repr(SMALL) + Path(str(module.__file__)).read_text()
    return Design(top=module.TOP, verilog=lambda: convert(make(), top=module.TOP), key=key)


CONTROLLER = _design(controller_top, lambda: controller_top.ControllerTop(SMALL))
PROCESSOR = _design(processor_top, lambda: processor_top.ProcessorTop(SMALL.array))
UNIT = _design(unit_top, lambda: unit_top.UnitTop(SMALL.array.lanes))
MACHINE_TESTS = ("registers", "programs", "streams", "errors", "resets")
CONTROLLER_TESTS = ("traffic",)

REASONS = {
    Mistake.FOREIGN_BYTES: "came before 0x.* was written",
    Mistake.EARLY_LAST: "last at beat 1 of",
    Mistake.WITHDRAWN: "valid fell before ready",
    Mistake.CHANGED: "payload changed before ready",
    Mistake.CROSSING: "cross 4 KiB",
    Mistake.WRONG_SIZE: "size 0",
    Mistake.WRONG_DATA: "fetch .* of input|an instruction|a constant|a line",
    Mistake.LOST_WRITE: "counters are wrong in memory",
}
"""What the failing test says of each mistake at the controller's bus."""

PROCESSOR_REASONS = {
    ProcessorMistake.UNCOVERED: r"event \d+: \('wavefront'",
    ProcessorMistake.WITHDRAWN: "lines__request: a payload changed or went away",
    ProcessorMistake.WRONG_WORD: r"event \d+: \('error'",
    ProcessorMistake.LOST_COMMAND: r"instead of \('unit', \(27,",
    ProcessorMistake.UNSEEN_REFUSAL: r"instead of \('error', \(4,",
    ProcessorMistake.UNSEEN_ARRAY: "something goes on while wavefronts run",
    ProcessorMistake.SECOND_END: "something is consumed without a buffer",
}
"""What the failing test says of each mistake at the command processor's border."""

UNIT_REASONS = {
    UnitMistake.NO_STORE: "bytes from 0x.* on are wrong",
    UnitMistake.WRONG_STORE: "bytes from 0x.* on are wrong",
    UnitMistake.FOREIGN_BYTES: "'s wavefront .*: passed",
    UnitMistake.WRONG_RESPONSE: "the DPP's wavefront .*: passed",
    UnitMistake.WITHDRAWN: "cache__access: a payload changed or went away",
    UnitMistake.UNSEEN_REFUSAL: "'s wavefront .*: passed .* not 0;",
    UnitMistake.EARLY_IDLE: "it is idle while it works",
}
"""What the failing test says of each mistake at the conditional unit's border."""


def first_one(mistakes: Iterable[object]) -> list[object]:
    """Mistakes of which one is made always, and all with ``--long``."""
    first, *others = mistakes
    return [first, *(pytest.param(mistake, marks=pytest.mark.long) for mistake in others)]


def simulate(design: Design, module: str, is_long: bool, **environment: str) -> Outcome:
    """Run the cocotb tests of a module, all of them in a long run."""
    return run(design, f"ctm.tb.cosim.{module}", LONG=str(int(is_long)), **environment)


def passes(outcome: Outcome) -> None:
    failed = {name: reason for name, reason in outcome.tests.items() if reason is not None}
    assert outcome.tests, f"no cocotb test ran:\n{outcome.printed}"
    assert not failed, "\n".join([*(f"{name}: {reason}" for name, reason in failed.items()), outcome.printed])


@pytest.mark.long
@pytest.mark.parametrize("name", MACHINE_TESTS)
def test_machine(name: str, is_long: bool) -> None:
    passes(simulate(WHOLE, f"machine_{name}", is_long))


@pytest.mark.parametrize("name", CONTROLLER_TESTS)
def test_memory_controller(name: str, is_long: bool) -> None:
    passes(simulate(CONTROLLER, f"controller_{name}", is_long))


def test_another_simulator_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM", "icarus")
    with pytest.raises(ValueError, match="SIM must be verilator, not icarus"):
        run(UNIT, "ctm.tb.cosim.unit_pairs")


def test_command_processor(is_long: bool) -> None:
    passes(simulate(PROCESSOR, "processor_streams", is_long))


def test_conditional_unit(is_long: bool) -> None:
    passes(simulate(UNIT, "unit_pairs", is_long))


@pytest.mark.parametrize("mistake", first_one(REASONS))
def test_a_mistake_at_the_bus_is_found(mistake: Mistake) -> None:
    outcome = run(CONTROLLER, "ctm.tb.cosim.controller_traffic", COUNT="1", PAUSES="0.3", MISTAKE=mistake.name)
    with pytest.raises(AssertionError, match=REASONS[mistake]):
        passes(outcome)


@pytest.mark.parametrize("mistake", first_one(PROCESSOR_REASONS))
def test_a_mistake_at_the_command_processor_is_found(mistake: ProcessorMistake) -> None:
    environment = {"PAUSES": "0.3", "MISTAKE": mistake.name, "COCOTB_TEST_FILTER": "at_each_word"}
    outcome = run(PROCESSOR, "ctm.tb.cosim.processor_streams", **environment)
    with pytest.raises(AssertionError, match=PROCESSOR_REASONS[mistake]):
        passes(outcome)


@pytest.mark.parametrize("mistake", first_one(UNIT_REASONS))
def test_a_mistake_at_the_conditional_unit_is_found(mistake: UnitMistake) -> None:
    outcome = run(UNIT, "ctm.tb.cosim.unit_pairs", COUNT="1", PAUSES="0.3", MISTAKE=mistake.name)
    with pytest.raises(AssertionError, match=UNIT_REASONS[mistake]):
        passes(outcome)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 200, 10))
def test_machine_with_more_streams(first: int) -> None:
    passes(simulate(WHOLE, "machine_streams", True, FIRST=str(first), COUNT="10"))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 150, 10))
def test_memory_controller_with_more_traffic(first: int) -> None:
    passes(simulate(CONTROLLER, "controller_traffic", True, FIRST=str(first), COUNT="10"))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 500, 50))
def test_command_processor_with_more_streams(first: int) -> None:
    passes(simulate(PROCESSOR, "processor_streams", True, FIRST=str(first), COUNT="50"))


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 300, 50))
def test_conditional_unit_with_more_pairs(first: int) -> None:
    passes(simulate(UNIT, "unit_pairs", True, FIRST=str(first), COUNT="50"))
