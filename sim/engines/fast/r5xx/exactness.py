"""Which temporaries hold results of arithmetic only, so that they have no denormals and any NaN may stand for the one.

A NaN has to be made the machine's one where its bits become visible: as an output, or where it meets the bits of others
that were only moved. To do it at every instruction would cost a quarter of the speed.
"""

from collections.abc import Mapping, Sequence

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.r5xx.opcodes import InputModifier, OutputModifier
from ctm.rtl.isa.r5xx.operations import OPERATIONS
from ctm.sim.engines.fast.r5xx.writers import Channel, writers
from ctm.sim.engines.fast.vector.address import Form
from ctm.sim.golden.r5xx.instruction import Address, Alu, Bank, Instruction
from ctm.sim.golden.r5xx.plan import Block, Reading

BIT_COPIES = frozenset(operation.name for operation in OPERATIONS if operation.copies_bits)
_COPIED = 2
"""Operands that an operation which copies bits may give: A and B."""


def copies_bits(block: Block) -> bool:
    """Whether a block's results may have bits that arithmetic never gives."""
    return block.operation in BIT_COPIES and block.modifier is OutputModifier.DISABLED


class Exactness:
    """Which channels of temporaries are arithmetic's; with `relative` addresses none is."""

    def __init__(
        self,
        instructions: Sequence[Instruction],
        plans: Sequence[Sequence[Block]],
        forms: Mapping[int, Form],
        *,
        relative: bool,
    ) -> None:
        self._relative = relative
        self._moved: set[Channel] = set()
        """Written by something that only moves bits."""
        self.used: set[Channel] = set()
        moving: list[tuple[Channel, Block | None]] = []
        for channel, (instruction, block) in writers(instructions, plans):
            self.used.add(channel)
            if isinstance(instruction, Alu) or forms[instruction.input].format in _FLOATS:
                moving.append((channel, block))
        changed = not relative
        while changed:
            before = len(self._moved)
            for channel, block in moving:
                if block is None or (copies_bits(block) and not self.copies_arithmetic(block)):
                    self._moved.add(channel)
            changed = len(self._moved) != before

    def is_arithmetic(self, channel: Channel) -> bool:
        """Whether a channel holds nothing but results of arithmetic."""
        return not self._relative and channel not in self._moved

    def copies_arithmetic(self, block: Block) -> bool:
        """Whether what a block copies is arithmetic's, with its sign."""
        return all(self._reads_arithmetic(reading) for reading in block.readings[:_COPIED])

    def _reads_arithmetic(self, reading: Reading) -> bool:
        if reading.fixed is not None:
            return True
        return all(
            row.modifier is InputModifier.OFF and self._gives_arithmetic(address, row.channel)
            for row, address in zip(reading.rows, reading.addresses, strict=True)
            if row.literal is None
        )

    def _gives_arithmetic(self, address: Address | None, channel: int) -> bool:
        if address is None or address.bank is Bank.INLINE:
            return True
        return address.bank is Bank.TEMPORARY and self.is_arithmetic((address.index, channel))


_FLOATS = (DataFormat.FLOAT32_1, DataFormat.FLOAT32_2, DataFormat.FLOAT32_4)
