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
    """The area of an output as a `BUFFER`; `output` is the output's own.

    Word y * 4096 + x of the area is the element (x, y). Bounds are not checked.
    """
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
    """The first 2^24 words of memory as an area."""
    first = Signal(BUFFER, name="first_of_memory")
    return area_of(m, first, "memory")


def in_page(line: Value, page: Value) -> Value:
    """A line's number, moved to a page of memory, which has 2^24 words.

    Without a page `page` is 0. With one the area begins at address 0, so the line is in page 0.
    """
    low = LINE_ADDRESS_BITS - PAGE_BITS
    return Cat(line[:low], line[low:] | page)
