"""Fetch instructions: each reads a register and writes what it found to others."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.sim.engines.fast.kernel import Kernel
from ctm.sim.engines.fast.r700.constants import Constants
from ctm.sim.engines.fast.r700.draws.threads import Threads
from ctm.sim.engines.fast.r700.masks import Masks
from ctm.sim.engines.fast.r700.memory import MemoryAccess
from ctm.sim.engines.fast.r700.registers import Registers
from ctm.sim.engines.fast.r700.share import Share
from ctm.sim.engines.fast.r700.texture import texture
from ctm.sim.engines.fast.r700.vertex import vertex
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.r700.instruction import (
    BufferFetch,
    Fetch,
    FetchInstruction,
    MemoryRead,
    ShareRead,
    ShareWrite,
    Texture,
    Vertex,
)

_Reading = Texture | Vertex | BufferFetch | MemoryRead | ShareRead


def selected(lanes: Lanes, components: Sequence[Value], select: int) -> Value:
    """What a select other than MASK makes of four words: one of them, 0 or 1.0. Other codes are 0 too."""
    if select < CHANNELS:
        return components[select]
    return lanes.words(lanes.single(1)) if select == ComponentSelect.ONE.value else lanes.none


@dataclass(frozen=True)
class Fetches:
    """Executes fetch instructions."""

    kernel: Kernel
    registers: Registers
    constants: Constants
    masks: Masks
    memory: MemoryAccess | Threads
    """Where exports to memory go; of a draw's program in front of the raster, where threads read and write."""
    share: Share

    def execute(self, instruction: FetchInstruction, executing: Value) -> None:
        """Execute one for the lanes in `executing`."""
        if isinstance(instruction, ShareWrite):
            for burst_index in range(instruction.burst):
                words = self.whole(instruction.source + burst_index, relative=False)
                values = [
                    None if select == ComponentSelect.MASK.value else selected(self.kernel.lanes, words, select)
                    for select in instruction.selects
                ]
                self.share.write(instruction, burst_index, values, executing)
            return
        source = self.whole(instruction.source, relative=instruction.source_relative)
        for burst_index, components in enumerate(self._results(instruction, source)):
            self._write(instruction, burst_index, components, executing)

    def whole(self, number: int, *, relative: bool) -> list[Value]:
        """All channels of a register, `number` plus aL with `relative`."""
        if not relative:
            return [self.registers.read(number, channel) for channel in range(CHANNELS)]
        index = self.masks.loop_index
        return [self.registers.read_at(number, index, channel) for channel in range(CHANNELS)]

    def _results(self, instruction: _Reading, source: list[Value]) -> list[list[Value]]:
        """Four words for each register that is written, all found before any is."""
        if isinstance(instruction, ShareRead):
            return [self.share.read(instruction, burst_index, source) for burst_index in range(instruction.burst)]
        if isinstance(instruction, BufferFetch):
            assert isinstance(self.memory, Threads)
            return [self.memory.fetch(instruction, source[instruction.component])]
        if isinstance(instruction, MemoryRead):
            assert isinstance(self.memory, MemoryAccess)
            return [self.memory.read(instruction, burst_index, source) for burst_index in range(instruction.burst)]
        if isinstance(instruction, Texture):
            found = texture(
                self.kernel,
                instruction,
                [selected(self.kernel.lanes, source, select) for select in instruction.coordinates],
            )
            return [] if found is None else [found]
        return [vertex(self.kernel, self.constants, instruction, source[instruction.component])]

    def _write(self, instruction: Fetch, burst_index: int, components: list[Value], executing: Value) -> None:
        number = instruction.destination + burst_index
        for channel, select in enumerate(instruction.selects):
            if select == ComponentSelect.MASK.value:
                continue
            words = selected(self.kernel.lanes, components, select)
            if instruction.destination_relative:
                self.registers.write_at(number, self.masks.loop_index, channel, words, executing)
            else:
                self.registers.write(number, channel, words, executing)
