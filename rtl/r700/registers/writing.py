"""Selection of the words that are written.

Source: R700-Family Instruction Set Architecture, chapter 5 (DST_SEL).
"""

from amaranth import Mux, Value

from ctm.rtl.fp.number import ONE
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.components import ComponentSelect


def selected(components: Value, select: Value) -> Value:
    """The word that a select other than MASK chooses of an element's components."""
    first = Mux(select == ComponentSelect.ONE.value, ONE, 0)
    width = len(components) // CHANNELS
    return Mux(select[2], first, components.word_select(select[:2], width))
