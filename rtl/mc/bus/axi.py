"""The channels of an AXI4 manager port, as streams. One ID is used, so responses come in the order of the requests.

Source: AMBA AXI4 specification (ARM IHI 0022).
"""

from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import ADDRESS_BITS, BYTE_BITS

LENGTH_BITS = 8


class Response(enum.Enum, shape=2):
    """Codes of RRESP and BRESP."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


BURST = data.StructLayout({"address": ADDRESS_BITS, "length": LENGTH_BITS})
"""AR or AW of an incrementing burst of whole beats; `length` is the number of beats less one."""
ACKNOWLEDGE = data.StructLayout({"response": Response})
"""B."""


def read_beat_layout(data_bits: int) -> data.StructLayout:
    """R."""
    return data.StructLayout({"bits": data_bits, "response": Response, "last": 1})


def write_beat_layout(data_bits: int) -> data.StructLayout:
    """W."""
    return data.StructLayout({"bits": data_bits, "strobe": data_bits // BYTE_BITS, "last": 1})


def line_beats(data_bits: int) -> int:
    """Beats of a line."""
    return CacheConfig.LINE_BYTES * BYTE_BITS // data_bits


def is_error(response: data.View | enum.EnumView) -> object:
    """Whether a response code is an error."""
    return response.as_value()[1]


class BusSignature(wiring.Signature):
    """A manager's port: streams `ar`, `r`, `aw`, `w` and `b`."""

    def __init__(self, data_bits: int) -> None:
        super().__init__(
            {
                "ar": Out(stream.Signature(BURST)),
                "r": In(stream.Signature(read_beat_layout(data_bits))),
                "aw": Out(stream.Signature(BURST)),
                "w": Out(stream.Signature(write_beat_layout(data_bits))),
                "b": In(stream.Signature(ACKNOWLEDGE)),
            }
        )
