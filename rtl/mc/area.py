"""Areas: outputs as linear arrays of words.

Source: R700-Family Instruction Set Architecture, section 3.4.2 (MEM_EXPORT, MEM_SCRATCH);
docs/design/memory-controller.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import PAGE_BITS
from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, DataFormat
from ctm.rtl.isa.limits import COORDINATE_LIMIT, WORD_BYTES

_STRIDE = COORDINATE_LIMIT * WORD_BYTES // LINEAR_ROW_ALIGNMENT


def area_of(m: Module, output: data.View, name: str) -> Value:
    """The area of an output as a buffer: its word y * 4096 + x is the element (x, y). Bounds are not checked."""
    area = Signal(BUFFER, name=name)
    m.d.comb += [
        area.base.eq(output.base),
        area.pitch.eq(COORDINATE_LIMIT),
        area.height.eq(COORDINATE_LIMIT),
        area.format.eq(DataFormat.FLOAT32_1),
        area.stride.eq(_STRIDE),
    ]
    return Value.cast(area)


def memory_area(m: Module) -> Value:
    """The first words of memory as an area."""
    first = Signal(BUFFER, name="first_of_memory")
    return area_of(m, first, "memory")


def in_page(line: Value, page: Value) -> Value:
    """The line of an address in a page of memory. An area is at 0 where a page is named."""
    low = LINE_ADDRESS_BITS - PAGE_BITS
    return Cat(line[:low], line[low:] | page)
