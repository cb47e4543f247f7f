"""Which temporaries have the same number in many lanes, so that it is computed, and fetched, once for all of them.

Most coordinates of loops are: the lanes of a vector read an input together, all one element or row by row.
"""

from collections.abc import Iterator, Sequence

from ctm.rtl.isa.r5xx.opcodes import TextureOperation
from ctm.sim.engines.fast.r5xx.alu import DOTS
from ctm.sim.engines.fast.r5xx.operands import presubtracted
from ctm.sim.engines.fast.r5xx.writers import Channel, writers
from ctm.sim.engines.fast.vector.lanes import ONE, ROWS
from ctm.sim.golden.r5xx.instruction import Address, Alu, Bank, Common, Instruction, Row, Tex
from ctm.sim.golden.r5xx.plan import DERIVATIVES, Block, Reading


class Spans:
    """The number of lanes of which a channel has numbers of their own: `ONE`, `ROWS`, or all `width` of the vector.

    `same` says that nothing but predicates gates writes, and that nothing is addressed relatively; without, all
    channels have `width`. `rows` says that the wavefronts of a vector are in one row of the domain.
    """

    def __init__(
        self,
        instructions: Sequence[Instruction],
        plans: Sequence[Sequence[Block]],
        width: int,
        *,
        same: bool,
        rows: bool,
    ) -> None:
        self._width, self._same = width, same
        self._spans: dict[Channel, int] = {(0, 0): width, (0, 1): ROWS if rows else width}
        changed = same
        while changed:
            before = dict(self._spans)
            for channel, span in self._written(instructions, plans):
                self._spans[channel] = max(self._spans.get(channel, ONE), span)
            changed = self._spans != before

    def of(self, channel: Channel) -> int:
        """The span of a channel."""
        return self._spans.get(channel, ONE) if self._same else self._width

    def of_block(self, instruction: Alu, block: Block) -> list[int]:
        """The spans of the results that a block of an instruction computes: one for each channel, or one for all."""
        if block.operation in DOTS:
            whole = not self._same or block.fourth_from_quad
            return [self._width if whole else max(max(self._of_rows(instruction, each)) for each in block.readings)]
        if not self._same or block.operation in DERIVATIVES:
            return [self._width] * len(block.readings[0].rows)
        rows = zip(*(self._of_rows(instruction, reading) for reading in block.readings), strict=True)
        return [max(row) for row in rows]

    def of_fetch(self, instruction: Tex) -> int:
        """The span of the results of a fetch."""
        if instruction.operation is TextureOperation.LOOKUP_PROJ:
            return self._width
        return max(self.of((instruction.source.index, channel)) for channel in instruction.source_swizzle[:2])

    def _of_rows(self, instruction: Alu, reading: Reading) -> list[int]:
        return [
            self._of_row(instruction, row, address)
            for row, address in zip(reading.rows, reading.addresses, strict=True)
        ]

    def _of_row(self, instruction: Alu, row: Row, address: Address | None) -> int:
        if row.literal is not None:
            return ONE
        sources = presubtracted(instruction, row.channel) if address is None else (address,)
        return max(self._of_source(source, row.channel) for source in sources)

    def _of_source(self, address: Address, channel: int) -> int:
        return self.of((address.index, channel)) if address.bank is Bank.TEMPORARY else ONE

    def _written(
        self, instructions: Sequence[Instruction], plans: Sequence[Sequence[Block]]
    ) -> Iterator[tuple[Channel, int]]:
        """Channels that instructions write, each with the span that it then needs."""
        for written, (instruction, block) in writers(instructions, plans):
            _, channel = written
            if isinstance(instruction, Tex):
                span = self._width if instruction.ignore_uncovered else self.of_fetch(instruction)
            else:
                assert block is not None
                spans = self.of_block(instruction, block)
                span = spans[block.channels.index(channel) % len(spans)]
            yield written, self._width if _is_gated(instruction.common, channel) else span


def _is_gated(common: Common, channel: int) -> bool:
    """Whether a predicate mixes what is written with what was there."""
    predicate = common.predicate(channel)
    return predicate.is_never or predicate.bit(channel) is not None
