"""Which instructions write which channels of temporaries."""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r5xx.opcodes import WITHOUT_LOOKUP
from ctm.sim.golden.r5xx.instruction import Alu, Instruction, Tex
from ctm.sim.golden.r5xx.plan import Block

Channel = tuple[int, int]
"""A channel of a temporary."""
Writer = tuple[Alu, Block] | tuple[Tex, None]
"""An instruction, and the block that computes the channel; a fetch has none."""


def writers(instructions: Sequence[Instruction], plans: Sequence[Sequence[Block]]) -> Iterator[tuple[Channel, Writer]]:
    """Each channel of a temporary that an instruction writes, whether a predicate lets it or not, in program order.

    `plans` are the blocks of each instruction.
    """
    for instruction, blocks in zip(instructions, plans, strict=True):
        if isinstance(instruction, Alu):
            for channel in instruction.common.write_mask:
                block = next(block for block in blocks if channel in block.channels)
                yield (instruction.unit(channel).destination.index, channel), (instruction, block)
        elif isinstance(instruction, Tex) and instruction.operation not in WITHOUT_LOOKUP:
            for channel in instruction.common.write_mask:
                yield (instruction.destination.index, channel), (instruction, None)
