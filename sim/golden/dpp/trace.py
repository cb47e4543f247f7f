"""A trace: what every wavefront does, instruction by instruction, as lines of text."""

from collections.abc import Callable, Sequence
from typing import Any, TextIO

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch


class Trace:
    """An observer that writes a line for each wavefront after each instruction.

    A line has the instruction's position, the (i, j) of the wavefront's first lane, a letter for the state of each
    lane, and a 1 for each lane that is covered and not killed. `describe_pc` gives the text for a PC, and `origin` its
    line in the source, "" where that is not known. The batches of an instruction set define its letters.
    """

    def __init__(
        self, stream: TextIO, describe_pc: Callable[[int], str], origin: Callable[[int], str] = lambda _: ""
    ) -> None:
        self._stream = stream
        self._describe_pc = describe_pc
        self._origin = origin

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`."""
        for batch in batches:
            self._write(batch, pc, "")

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""
        self._write(batch, batch.control.pc, f"  {status.name}" + (f" {client.name}" if client else ""))

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""
        self._write(batch, batch.control.pc, "  ends")

    def _write(self, batch: Batch[Any], pc: int, suffix: str) -> None:
        position, lanes, origin = self._describe_pc(pc), batch.lanes, self._origin(pc)
        suffix += f"  ; {origin}" if origin else ""
        states = "".join(batch.lane_states())
        valid = "".join("1" if each else "0" for each in (batch.covered & batch.valid_mask).tolist())
        for wavefront in range(batch.wavefronts):
            first = wavefront * lanes
            own = slice(first, first + lanes)
            corner = f"({batch.i[first]}, {batch.j[first]})"
            self._stream.write(f"{position}: {corner} {states[own]} {valid[own]}{suffix}\n")
