"""A memory port: lines that are read and lines that are written, in front of its AXI4 manager."""

from amaranth.hdl import ShapeLike
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_BITS
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout
from ctm.rtl.mc.bus.writer import tagged_write_layout, tagged_write_response_layout


class ReadPort(Interface):
    """Reads of a memory port, seen from the unit that reads lines.

    Members
    -------
    request : ``Out(stream.Signature(tagged_request_layout(tag)))``
    response : ``In(stream.Signature(tagged_response_layout(tag, slice_bits)))``
        In the order of the requests.
    """

    def __init__(self, tag: ShapeLike, slice_bits: int = LINE_BITS) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(tagged_request_layout(tag))),
                "response": In(stream.Signature(tagged_response_layout(tag, slice_bits))),
            }
        )


class WritePort(Interface):
    """Writes of a memory port, seen from the unit that writes lines.

    Members
    -------
    request : ``Out(stream.Signature(tagged_write_layout(tag, slice_bits)))``
    response : ``In(stream.Signature(tagged_write_response_layout(tag)))``
        In the order of the lines.
    """

    def __init__(self, tag: ShapeLike, slice_bits: int = LINE_BITS) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(tagged_write_layout(tag, slice_bits))),
                "response": In(stream.Signature(tagged_write_response_layout(tag))),
            }
        )


class MemoryPort(Interface):
    """A memory port, seen from the unit that reads and writes lines. The two directions are not ordered.

    Members
    -------
    read : ``Out(ReadPort(read_tag, slice_bits))``
    write : ``Out(WritePort(write_tag, slice_bits))``
    """

    def __init__(self, read_tag: ShapeLike, write_tag: ShapeLike, slice_bits: int = LINE_BITS) -> None:
        super().__init__({"read": Out(ReadPort(read_tag, slice_bits)), "write": Out(WritePort(write_tag, slice_bits))})
