"""Lines of memory: what is asked of the level behind, and what comes back."""

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conversation import Conversation
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

LINE_WRITE = data.StructLayout({"line": LINE_ADDRESS_BITS, "bits": LINE_BITS, "mask": LINE_BYTES})
"""Bytes of a line; only those in `mask` are written."""

LINE_WRITTEN = data.StructLayout({"refused": 1})
"""Memory has taken a write, or the bus gave an error; in the order of the writes."""


class LineClient(Conversation):
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
