"""Memory at a board's pins, with bursts at both ports: it works, and planted mistakes are found."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from ctm.rtl.board.startup import Step
from ctm.rtl.config import PRESETS
from ctm.sim.boards.target import TARGETS
from ctm.sim.compiled.tools.package import BOARDS, LITEDRAM
from ctm.tb.lib.planting import Fault, FaultyLoader, checks, planted_in_all

needs_litedram = pytest.mark.skipif(not (BOARDS.is_installed and LITEDRAM.is_installed), reason="needs the extra board")
PACKAGES = ("ctm.rtl.board", "ctm.sim.boards", "ctm.tb.board")
CYCLES, CLOCK = 1_000_000, 25_000_000
"""40 ms, in which refreshes that are 0.4 % too rare are seen: at 25 MHz rounding makes them the rarest."""
PRECHARGE, MODE, REFRESH = 0b01011, 0b01111, 0b01101
"""WE, CAS and RAS above CS, as LiteDRAM's registers have them."""


def bursts(change: object = None, **options: int) -> None:
    """Bursts from the start of the FPGA on; `change` is made to the start of memory."""
    traffic = checks("board.traffic")
    board = traffic.Traffic(traffic.traffic_library(*([change] if change is not None else []), **options))
    assert board.run(CYCLES) > 1000


def without(command: int, *, every: bool = False) -> object:
    """A start in which the last of these commands, or every one, is not issued."""

    def change(steps: Sequence[Step]) -> list[Step]:
        values = [step.value for step in steps]
        issues = [index + 1 for index in range(len(values) - 1) if values[index : index + 2] == [command, 1]]
        assert len(issues) >= 2, "this is not how commands are made"
        left_out = issues if every else issues[-1:]
        return [step for index, step in enumerate(steps) if index not in left_out]

    return change


def other_latency(steps: Sequence[Step]) -> list[Step]:
    """A start with CAS latency 3 instead of 2."""
    return [replace(step, value=0x30) if step.value == 0x20 else step for step in steps]


def no_wait(steps: Sequence[Step]) -> list[Step]:
    """A start that does not wait for the chip's power."""
    return [replace(step, wait=min(step.wait, 1000)) for step in steps]


STARTS = {
    "no bank is precharged": (without(PRECHARGE, every=True), "before banks are precharged"),
    "no refresh": (without(REFRESH, every=True), "without the first refreshes"),
    "the last mode is not set": (without(MODE), "in a mode with bursts, or that is reserved"),
    "another CAS latency": (other_latency, "another byte than was written"),
    "no wait for power": (no_wait, "too soon after power-up"),
    "memory is not handed over": (lambda steps: steps[:-2], "0 > 1000"),
    "ports stay closed": (lambda steps: steps[:-1], "0 > 1000"),
}
FAULTS = {
    "masks do not reach the chip": Fault(
        "rtl.board.top", 'controller[f"o_sdram_{pin}"] = buffer.o',
        'controller[f"o_sdram_{pin}"] = Signal(2) if pin == "dm" else buffer.o',
    ),
    "the chip's clock is not inverted": Fault(
        "rtl.board.clock", "inverted.o[0].eq(0), inverted.o[1].eq(1)", "inverted.o[0].eq(1), inverted.o[1].eq(0)",
    ),
    "two commands are exchanged": Fault(
        "rtl.board.top", '"ras_n": "ras", "we_n": "we"', '"ras_n": "we", "we_n": "ras"',
    ),
    "every other refresh is left out": Fault(
        "sim.boards.controller", '"sys_clk_freq": _told(frequency)', '"sys_clk_freq": 2.0 * frequency',
    ),
    "the time between refreshes is rounded up": Fault(
        "sim.boards.controller", "return (cycles - 0.5) / _REFRESH_SECONDS", "return float(frequency)",
    ),
    "a step is written to another register": Fault(
        "rtl.board.startup", 'of("number", NUMBER_BITS)[index]',
        'of("number", NUMBER_BITS)[index] >> 1',
    ),
    "a step's wait is not made": Fault("rtl.board.startup", "with m.If(remaining == 0):", "with m.If(Const(1)):"),
    "addresses lose a bit": Fault("rtl.board.top", "(MEMORY_BYTES - 1).bit_length()", "10"),
}  # fmt: skip


@pytest.mark.long
@needs_litedram
@pytest.mark.parametrize("data_bits", [PRESETS[target.preset].memory.data_bits for target in TARGETS.values()])
@pytest.mark.parametrize("frequency", [15_000_000, 25_000_000, 35_000_000, 40_000_000])
def test_bursts_are_what_was_written(frequency: int, data_bits: int) -> None:
    bursts(frequency=frequency, data_bits=data_bits)


@pytest.mark.long
@needs_litedram
@pytest.mark.parametrize("name", STARTS)
def test_wrong_starts_are_found(name: str) -> None:
    change, message = STARTS[name]
    with pytest.raises(AssertionError, match=message):
        bursts(change)


def test_each_fault_can_be_planted() -> None:
    for fault in FAULTS.values():
        FaultyLoader(fault)


@pytest.mark.long
@needs_litedram
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    with planted_in_all(FAULTS[name], PACKAGES), pytest.raises(AssertionError):
        bursts(frequency=CLOCK)
