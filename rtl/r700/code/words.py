"""Fields of ALU words.

Source: R700-Family Instruction Set Architecture, ALU_DWORD0 to ALU_DWORD1_OP3.
"""

from amaranth import Module, Mux, Value
from amaranth.lib import data

from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.isa.r700.alu import ALU_DWORD0, ALU_DWORD1_OP2, ALU_DWORD1_OP3, ENCODING
from ctm.rtl.r700.code.slot_control import SlotDecoder


def has_three(high: Value) -> Value:
    """Whether a word is of the form with three operands, by its upper half."""
    fields: data.View = data.View(ENCODING, high)
    return Value.cast(fields.op3).any()


def connect_word(m: Module, decoder: SlotDecoder, unit: Value) -> None:
    """Give a decoder an ALU word."""
    low, high = data.View(ALU_DWORD0, unit[:WORD_BITS]), unit[WORD_BITS:]
    two, three = data.View(ALU_DWORD1_OP2, high), data.View(ALU_DWORD1_OP3, high)
    is_three = has_three(high)
    m.d.comb += [
        decoder.code.eq(Mux(is_three, Value.cast(three.alu_inst), Value.cast(two.alu_inst))),
        decoder.three_operands.eq(is_three),
        decoder.absolute.eq(Value.cast(two.src0_abs) | (Value.cast(two.src1_abs) << 1)),
        decoder.negate.eq(low.src0_neg | (low.src1_neg << 1) | ((three.src2_neg & is_three) << 2)),
        Value.cast(decoder.omod).eq(Value.cast(two.omod)),
        decoder.clamp.eq(three.clamp),
    ]
