"""One start_program: everything that the array reads and writes while it runs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.sim.golden.co.unit import ConditionalUnit
from ctm.sim.golden.dpp.batch import Batch, Floats, Mask
from ctm.sim.golden.mc.address import extent
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import write
from ctm.sim.golden.r5xx.program import Program
from ctm.sim.golden.r5xx.texture import Inputs
from ctm.sim.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Launch:
    """State of the machine that a program sees."""

    program: Program
    memory: Memory
    inputs: Inputs
    outputs: tuple[Buffer, ...]
    output_mask: tuple[bool, ...]
    conditional: ConditionalUnit
    conditional_value: np.float32
    lanes: int
    watchdog: int
    """Instructions that a group may execute, 0 = any number."""

    def finish(self, batch: Batch) -> Iterator[tuple[Buffer, Mask]]:
        """Send the outputs of groups that ended: covered, live lanes whose conditional test passes.

        Yields each output that the program writes, after its turn, with the lanes [n] that stored something.
        """
        stores = batch.covered & batch.live
        if self.conditional.location is ConditionalLocation.DPP:
            stores = stores & self._test(batch, stores)
        for register, output in enumerate(self.program.outputs):
            enabled = np.array(self.output_mask)[:, None]
            mask = batch.written[register] & stores & enabled
            write(self.memory, self.outputs[output], batch.i, batch.j, batch.outputs[register], mask)
            yield self.outputs[output], mask.any(axis=0)

    def _test(self, batch: Batch, candidates: Mask) -> Mask:
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


def inputs_as_at_start(
    memory: Memory,
    buffers: tuple[Buffer, ...],
    program: Program,
    outputs: tuple[Buffer, ...],
    conditional: Buffer | None,
) -> Inputs:
    """The inputs of a program: one that overlaps memory that the program writes is read from a copy."""
    written = [outputs[0]] if program.uncached_writes else [outputs[output] for output in program.outputs]
    if conditional is not None:
        written.append(conditional)
    cached = [memory] * len(buffers)
    for index in program.cached_inputs:
        if any(_overlap(buffers[index], output) for output in written):
            cached[index] = _copy(memory, buffers[index])
    return Inputs(buffers=buffers, cached=tuple(cached), memory=memory)


def _ranges(buffer: Buffer) -> list[tuple[int, int]]:
    """Address ranges [first, end) that a buffer's elements lie in; two where they wrap."""
    end, limit = buffer.base + extent(buffer), 1 << 32
    return [(buffer.base, end)] if end <= limit else [(buffer.base, limit), (0, end - limit)]


def _overlap(one: Buffer, other: Buffer) -> bool:
    return any(
        first < other_end and other_first < end
        for first, end in _ranges(one)
        for other_first, other_end in _ranges(other)
    )


def _copy(memory: Memory, buffer: Buffer) -> Memory:
    result = Memory()
    for first, end in _ranges(buffer):
        result.bytes[first:end] = memory.bytes[first:end]
    return result
