"""Writes of registers: of one pass's words, and of zeros.

Source: R700-Family Instruction Set Architecture, chapter 5 (DST_SEL).
"""

from amaranth import Mux, Value
from amaranth.lib import data

from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect
from ctm.rtl.lib.valid_bits import ROWS_TOGETHER
from ctm.rtl.r700.passes import pass_bits
from ctm.rtl.r700.registers.file import row_bits
from ctm.rtl.r700.slices import by_slice


def target_layout(config: ArrayConfig) -> data.StructLayout:
    """The target of one pass's words: a row of the file, if it exists, by `selects` in the lanes of `enable`.

    A pass has its `number` in its slice. It is `followed` by others of the same slice of the register.
    """
    return data.StructLayout(
        {
            "row": row_bits(config),
            "exists": 1,
            "number": pass_bits(by_slice(config)),
            "followed": 1,
            "selects": data.ArrayLayout(3, CHANNELS),
            "enable": config.at_once,
        }
    )


def clear_layout(config: ArrayConfig) -> data.StructLayout:
    """A register that becomes 0, as do `invalidates`, rows of its block of 32."""
    return data.StructLayout({"row": row_bits(config), "invalidates": ROWS_TOGETHER})


def pass_write_layout(config: ArrayConfig) -> data.StructLayout:
    """A write of the words of one pass."""
    return data.StructLayout({"target": target_layout(config), "words": words_layout(config.at_once)})


def selected(components: Value, select: Value) -> Value:
    """The word that a select other than MASK chooses of an element's components."""
    first = Mux(select == ComponentSelect.ONE.value, ONE, 0)
    width = len(components) // CHANNELS
    return Mux(select[2], first, components.word_select(select[:2], width))
