"""One start_program: everything that the array reads and writes while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.dpp.batch import Batch, Floats, Mask
from ctm.sim.golden.dpp.inputs import Inputs
from ctm.sim.golden.dpp.instruction_set import Program
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import write
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.memory import Memory

P = TypeVar("P", bound=Program)


@dataclass(frozen=True, kw_only=True)
class Launch(Generic[P]):
    """State of the machine that a program sees."""

    program: P
    executable: int
    """Where its executable lies in memory."""
    memory: Memory
    inputs: Inputs
    outputs: tuple[Buffer, ...]
    output_mask: tuple[bool, ...]
    conditional: ConditionalUnit
    conditional_value: np.float32
    domain: Domain
    lanes: int
    watchdog: int
    """Instructions that a wavefront may execute, 0 = any number."""
    stage: str | None = None
    """Of a draw, the name of the program."""

    def finish(self, batch: Batch[Any]) -> Iterator[tuple[Buffer, Mask]]:
        """Send the outputs of wavefronts that ended: covered, valid lanes whose conditional test passes.

        Yields each output that the program writes, after it is written, with the lanes [n] that stored something.
        """
        stores = batch.covered & batch.valid_mask
        if self.conditional.location is ConditionalLocation.DPP:
            stores = stores & self._test(batch, stores)
        for register, output in enumerate(self.program.outputs):
            enabled = np.array(self.output_mask)[:, None]
            mask = batch.written[register] & stores & enabled
            write(self.memory, self.outputs[output], batch.i, batch.j, batch.outputs[register], mask)
            yield self.outputs[output], mask.any(axis=0)

    def _test(self, batch: Batch[Any], candidates: Mask) -> Mask:
        lanes = np.flatnonzero(candidates)
        x, y, value = batch.i[lanes], batch.j[lanes], batch.conditional[lanes]
        passed, stored = self.conditional.decide(self.memory, x, y, value)
        self.conditional.store(self.memory, x[stored], y[stored], value[stored])
        result = np.zeros(batch.size, bool)
        result[lanes[passed]] = True
        return result

    def first_conditional(self, size: int) -> Floats:
        """Conditional values of lanes before the program sets them."""
        return np.full(size, 0.0 if self.program.conditional_from_program else self.conditional_value, np.float32)
