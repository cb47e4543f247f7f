"""The tiering threshold: how long the golden model may take for wavefronts until compiling pays off."""

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ctm.rtl.isa.status import BusClient, Status
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.inputs import overlap
from ctm.sim.golden.dpp.launch import Launch


class OutOfPatienceError(Exception):
    """Wavefronts took longer than they may."""


class Patience:
    """An observer that ends wavefronts that take longer than they may, after the instruction in which it sees that."""

    def __init__(self) -> None:
        self._end = math.inf

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Let what runs in the block take so many seconds.

        Raises
        ------
        OutOfPatienceError
            It takes longer.
        """
        self._end = time.perf_counter() + seconds
        try:
            yield
        finally:
            self._end = math.inf

    def executed(self, pc: int, batches: Sequence[Batch[Any]]) -> None:
        """See `Observer.executed`."""
        if time.perf_counter() > self._end:
            raise OutOfPatienceError

    def faulted(self, batch: Batch[Any], status: Status, client: BusClient | None) -> None:
        """See `Observer.faulted`."""

    def ended(self, batch: Batch[Any]) -> None:
        """See `Observer.ended`."""


def may_see_each_other(launch: Launch[Any]) -> bool:
    """Whether wavefronts may read what others write, past the caches."""
    program, buffers = launch.program, launch.inputs.buffers
    read = [buffers[index] for index in program.uncached_inputs]
    written = [launch.outputs[output] for output in program.outputs]
    return bool(program.uncached_outputs) or any(overlap(one, other) for one in read for other in written)


def may_run_again(launch: Launch[Any]) -> bool:
    """Whether wavefronts that ended can run once more, to the same memory."""
    return not may_see_each_other(launch) and not launch.conditional.may_write_buffer
