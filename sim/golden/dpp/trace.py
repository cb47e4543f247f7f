"""A trace: what every group does, instruction by instruction, as lines of text."""

from collections.abc import Callable, Sequence
from typing import Any, TextIO

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch


class Trace:
    """An observer that writes a line for each group behind each instruction.

    A line has the instruction's place, the (i, j) of the group's first lane, a letter for the state of each lane, and
    a 1 for each that is covered and not killed. `place` says what a PC is, and `origin` where in its source that is, ""
    where that is not known. What an instruction set's letters mean is said by its batches.
    """

    def __init__(
        self, stream: TextIO, place: Callable[[int], str], origin: Callable[[int], str] = lambda _: ""
    ) -> None:
        self._stream = stream
        self._place = place
        self._origin = origin

    def executed(self, pc: int, parts: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`."""
        for batch in parts:
            self._write(batch, pc, "")

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""
        self._write(batch, batch.control.pc, f"  {status.name}" + (f" {client.name}" if client else ""))

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""
        self._write(batch, batch.control.pc, "  ends")

    def _write(self, batch: Batch[Any], pc: int, behind: str) -> None:
        place, lanes, origin = self._place(pc), batch.lanes, self._origin(pc)
        behind += f"  ; {origin}" if origin else ""
        states = "".join(batch.lane_states())
        valid = "".join("1" if each else "0" for each in (batch.covered & batch.valid_mask).tolist())
        for group in range(batch.groups):
            first = group * lanes
            own = slice(first, first + lanes)
            corner = f"({batch.i[first]}, {batch.j[first]})"
            self._stream.write(f"{place}: {corner} {states[own]} {valid[own]}{behind}\n")
