"""Cache lines: requests to the next level of memory, and its responses."""

from amaranth import Value
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

_LEAST_READ_BITS = 128
"""A row of the block RAM that lines in slices are kept in."""

LINE_REQUEST = data.StructLayout({"line": LINE_ADDRESS_BITS, "uncached": 1})
"""`line` counts lines from address 0. An `uncached` one is read from memory, not from a cache."""

LINE_RESPONSE = data.StructLayout({"bits": LINE_BITS, "error": 1})
"""In the order of the requests. With `error` the bus gave an error response, and `bits` mean nothing."""


def read_bits(slice_bits: int) -> int:
    """The slices in which lines that come in slices of `slice_bits` are read in order: whole lines, or 128 or more."""
    return max(slice_bits, _LEAST_READ_BITS)


def line_response_layout(slice_bits: int = LINE_BITS) -> data.StructLayout:
    """As `LINE_RESPONSE`, in slices, the lowest first; all slices of a line have its `error`."""
    return data.StructLayout({"bits": slice_bits, "error": 1, "slice": range(LINE_BITS // slice_bits)})


def tagged_line_request_layout(tag: ShapeLike) -> data.StructLayout:
    """As `LINE_REQUEST`; the response returns the tag."""
    return data.StructLayout({"line": LINE_ADDRESS_BITS, "uncached": 1, "tag": tag})


def slice_layout(slice_bits: int) -> dict[str, ShapeLike]:
    """A slice of a line, the lowest first: its bits, its index, and, in the last one, whether the line has an error."""
    return {"bits": slice_bits, "slice": range(LINE_BITS // slice_bits), "error": 1}


def is_last_slice(response: "data.View[data.StructLayout]") -> Value:
    """Whether a slice of a response is the last one of its line."""
    is_last: Value = response.slice == LINE_BITS // len(response.bits) - 1
    return is_last


def tagged_line_response_layout(tag: ShapeLike, slice_bits: int = LINE_BITS) -> data.StructLayout:
    """As `LINE_RESPONSE`, in any order, in slices."""
    return data.StructLayout({**slice_layout(slice_bits), "tag": tag})


def line_write_layout(slice_bits: int = LINE_BITS) -> data.StructLayout:
    """Bytes of a line, in slices; only those in `mask` are written.

    Slices go from the first to the last one with a byte to be written, without those of another line between them.
    `remaining` slices of the line follow this one. A port that has taken one takes no other line's: those that follow
    wait for nothing but that port.
    """
    slices = range(LINE_BITS // slice_bits)
    return data.StructLayout(
        {
            "line": LINE_ADDRESS_BITS,
            "bits": slice_bits,
            "mask": slice_bits // BYTE_BITS,
            "slice": slices,
            "remaining": slices,
        }
    )


LINE_WRITTEN = data.StructLayout({"error": 1})
"""The write response of a line, in the order of the writes."""


class LineClient(Interface):
    """The port of a reader of lines, seen from the reader.

    Members
    -------
    request : ``Out(stream.Signature(LINE_REQUEST))``
    response : ``In(stream.Signature(line_response_layout(slice_bits)))``
        In the order of the requests.
    """

    def __init__(self, slice_bits: int = LINE_BITS) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(LINE_REQUEST)),
                "response": In(stream.Signature(line_response_layout(slice_bits))),
            }
        )


class TaggedLineClient(Interface):
    """The port of a reader of lines that takes them in any order and without backpressure, seen from the reader.

    Requests in flight have different tags. A line may come in slices, in any cycles.

    Members
    -------
    request : ``Out(stream.Signature(tagged_line_request_layout(tag)))``
    response : ``In(stream.Signature(tagged_line_response_layout(tag, slice_bits), always_ready=True))``
    """

    def __init__(self, tag: ShapeLike, slice_bits: int = LINE_BITS) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(tagged_line_request_layout(tag))),
                "response": In(stream.Signature(tagged_line_response_layout(tag, slice_bits), always_ready=True)),
            }
        )


CODE_LINES = 8
"""Lines of code that an array has in flight."""


def code_client(slice_bits: int = LINE_BITS) -> TaggedLineClient:
    """The port of an array's code cache."""
    return TaggedLineClient(range(CODE_LINES), slice_bits)
