"""Selection of a lane's operands.

Source: R700-Family Instruction Set Architecture, section 4.7; docs/design/r700-core.md.
"""

from amaranth import Array, Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import CHANNELS, WORD_BITS
from ctm.rtl.isa.r700.limits import GROUP_SLOTS, READ_CYCLES, TRANS_SLOT
from ctm.rtl.lib.pipeline import delay
from ctm.rtl.r700.alu.decode import DECODED
from ctm.rtl.r700.alu.operands import OPERANDS, Source
from ctm.rtl.r700.border.lane import GROUP_OPERANDS

PREVIOUS = data.ArrayLayout(WORD_BITS, GROUP_SLOTS)
"""The results of one group in one pixel, by slot."""


class OperandSelection(wiring.Component):
    """Selects each operand of a lane from its register words, its previous results, and uniform words.

    Members
    -------
    wanted : ``In(ArrayLayout(ArrayLayout(OPERAND, 3), 5))``
        The operands, as [slot][number].
    registers : ``In(ArrayLayout(ArrayLayout(32, 4), 3))``
        The register words of the lane's pixel, as [read cycle][channel].
    previous : ``In(PREVIOUS)``
        The results of its previous group.
    uniform : ``In(GROUP_OPERANDS)``
        From `uniform_operands`.
    operands : ``Out(GROUP_OPERANDS)``
        A cycle later.
    """

    wanted: In(DECODED["operands"].shape)
    registers: In(data.ArrayLayout(data.ArrayLayout(WORD_BITS, CHANNELS), READ_CYCLES))
    previous: In(PREVIOUS)
    uniform: In(GROUP_OPERANDS)
    operands: Out(GROUP_OPERANDS)

    latency = 1

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        words = [self.registers[cycle][channel] for cycle in range(READ_CYCLES) for channel in range(CHANNELS)]
        # Previous vector results are selected as one cycle more of reads.
        words += [self.previous[channel] for channel in range(CHANNELS)]
        scalar = self.previous[TRANS_SLOT]
        for slot in range(GROUP_SLOTS):
            for number in range(OPERANDS):
                wanted, common = self.wanted[slot][number], Value.cast(self.uniform[slot][number])
                word = Signal(WORD_BITS, name=f"word_{slot}_{number}")
                is_uniform = (wanted.source == Source.UNIFORM).replicate(WORD_BITS)
                row = wanted.cycle | (wanted.source == Source.VECTOR).replicate(len(wanted.cycle))
                # The bits of a word that is not uniform are the operand's select, which takes one LUT.
                operand = (common & (is_uniform | scalar)) | (word & ~common & ~is_uniform)
                m.d.comb += [
                    word.eq(Array(words)[Cat(wanted.channel, row)]),
                    self.operands[slot][number].eq(delay(m, operand, name=f"operand_{slot}_{number}")),
                ]
        return m
