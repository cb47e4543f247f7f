"""Lines of memory: what is asked of the level behind, and what comes back."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS, WORD_BYTES

LINE_BYTES = CacheConfig.LINE_BYTES
LINE_WORDS = LINE_BYTES // WORD_BYTES
LINE_BITS = BYTE_BITS * LINE_BYTES
LINE_OFFSET_BITS = LINE_BYTES.bit_length() - 1
LINE_ADDRESS_BITS = ADDRESS_BITS - LINE_OFFSET_BITS

LINE_REQUEST = data.StructLayout({"line": LINE_ADDRESS_BITS, "uncached": 1})
"""`line` counts lines from address 0. An `uncached` one is to come from memory itself."""

LINE_RESPONSE = data.StructLayout({"bits": LINE_BITS, "refused": 1})
"""Answers come in the order of the requests. With `refused` the bus gave an error, and `bits` mean nothing."""


def tagged_line_request_layout(tag: ShapeLike) -> data.StructLayout:
    """As `LINE_REQUEST`; the tag comes back with the answer."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "uncached": 1, "tag": tag})


def part_layout(part_bits: int) -> dict[str, ShapeLike]:
    """Of a line that comes in parts, the lowest first: the part, which one it is, and, with the last, the refusal."""
    return {"bits": part_bits, "part": range(LINE_BITS // part_bits), "refused": 1}


def tagged_line_response_layout(tag: ShapeLike, part_bits: int = LINE_BITS) -> data.StructLayout:
    """As `LINE_RESPONSE`, in any order, in parts."""
    return data.StructLayout({**part_layout(part_bits), "tag": tag})


LINE_WRITE = data.StructLayout({"line": LINE_ADDRESS_BITS, "bits": LINE_BITS, "mask": LINE_BYTES})
"""Bytes of a line; only those in `mask` are written."""

LINE_WRITTEN = data.StructLayout({"refused": 1})
"""Memory has taken a write, or the bus gave an error; in the order of the writes."""


class LineClient(Interface):
    """Somebody who reads lines, seen from there.

    Members
    -------
    request : ``Out(stream.Signature(LINE_REQUEST))``
    response : ``In(stream.Signature(LINE_RESPONSE))``
        In the order of the requests. One who is `always_ready` takes each at once.
    """

    def __init__(self, *, always_ready: bool = False) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(LINE_REQUEST)),
                "response": In(stream.Signature(LINE_RESPONSE, always_ready=always_ready)),
            }
        )


class TaggedLineClient(Interface):
    """Somebody who reads lines and takes them in any order, each at once, seen from there.

    Of two requests under way none has the other's tag. A line may come in parts, in cycles of their own.

    Members
    -------
    request : ``Out(stream.Signature(tagged_line_request_layout(tag)))``
    response : ``In(stream.Signature(tagged_line_response_layout(tag, part_bits), always_ready=True))``
    """

    def __init__(self, tag: ShapeLike, part_bits: int = LINE_BITS) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(tagged_line_request_layout(tag))),
                "response": In(stream.Signature(tagged_line_response_layout(tag, part_bits), always_ready=True)),
            }
        )


CODE_LINES = 8
"""Lines of code that an array has under way."""
CODE_CLIENT = TaggedLineClient(range(CODE_LINES))
"""Who reads an array's code."""
