"""The scoreboard and the checker find differences: without them a simulation could not fail."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.tb.cosim.configuration import SMALL
from ctm.tb.cosim.directed import MISTAKES
from ctm.tb.cosim.memory import BusMemory
from ctm.tb.cosim.scoreboard import Scoreboard, same_error

ERROR = MachineError(status=Status.STACK, address=4, word=5, pc=6, i=7, j=8)


def board() -> Any:
    found = Scoreboard(SimpleNamespace(memory=BusMemory(), config=SMALL))  # type: ignore[arg-type]
    found.load(MISTAKES["STACK"].work())
    return found


@pytest.mark.parametrize("address", [0x5_0000, 0x5_0FFF, 0x7_0008, 0x9000_0000])
def test_one_byte_of_memory_that_differs_is_found(address: int) -> None:
    found = board()
    found.compare()
    byte = found.model.read(address, 1)[0]
    found.tb.memory.contents.write(address, bytes([byte ^ 1]))
    with pytest.raises(AssertionError, match=f"0x{address & ~3:08x}"):
        found.compare()


def test_counters_are_not_compared() -> None:
    found = board()
    found.tb.memory.contents.write(0x7_0000, b"\x01" * 8)
    found.compare()


@pytest.mark.parametrize(
    "change", [{"status": Status.PC_RANGE}, {"address": 0}, {"word": 0}, {"pc": 0}, {"i": 0}, {"j": 0}]
)
def test_an_error_that_differs_is_found(change: dict[str, Any]) -> None:
    same_error(ERROR, replace(ERROR), exact=True)
    with pytest.raises(AssertionError):
        same_error(ERROR, replace(ERROR, **change), exact=True)
    with pytest.raises(AssertionError):
        same_error(None, ERROR, exact=False)
    with pytest.raises(AssertionError):
        same_error(ERROR, None, exact=False)
