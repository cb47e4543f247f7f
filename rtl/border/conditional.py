"""Interfaces of the conditional unit: to its clients and to its cache."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, RESET_BUFFER
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_WORDS
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS, WORD_BITS, WORD_BYTES

WORD_INDEX_BITS = (LINE_WORDS - 1).bit_length()

CHANGE = data.StructLayout({"bits": WORD_BITS, "mask": WORD_BYTES})
"""Bytes of a word; only those in `mask` change."""


def access_layout(passenger: ShapeLike) -> data.StructLayout:
    """An access to a word of a line, or, without `touches`, to nothing; `reads` if the result's bits are used.

    The result returns the passenger.
    """
    return data.StructLayout(
        {
            "line": LINE_ADDRESS_BITS,
            "word": WORD_INDEX_BITS,
            "touches": 1,
            "reads": 1,
            "passenger": passenger,
        }
    )


def result_layout(passenger: ShapeLike) -> data.StructLayout:
    """An access's word; with `error` or without `reads` the bits mean nothing."""
    return data.StructLayout({"valid": 1, "bits": WORD_BITS, "error": 1, "passenger": passenger})


def wavefront_test_layout(lanes: int) -> data.StructLayout:
    """A wavefront to be tested: the pair of its lane 0, the lanes to be tested, and their conditional values."""
    return data.StructLayout(
        {"i": COLUMN_BITS, "j": COORDINATE_BITS, "mask": lanes, "values": data.ArrayLayout(WORD_BITS, lanes)}
    )


class ConditionalBuffer(Interface):
    """The conditional buffer as commands have set it, seen from the memory controller. It changes while all is idle.

    Members
    -------
    buffer : ``Out(BUFFER)``
    writes_enabled : ``Out(1)``
        The mask of set_cond_out_mask.
    """

    def __init__(self) -> None:
        super().__init__({"buffer": Out(BUFFER, init=RESET_BUFFER), "writes_enabled": Out(1)})


class ConditionalClient(Interface):
    """The port of a unit whose wavefronts the conditional unit tests, seen from that unit.

    Members
    -------
    request : ``Out(stream.Signature(wavefront_test_layout(lanes)))``
    response : ``In(stream.Signature({passed}))``
        The lanes whose test passed, in the order of the requests; lanes that are not tested do not pass.
    """

    def __init__(self, lanes: int) -> None:
        response = data.StructLayout({"passed": lanes})
        super().__init__(
            {
                "request": Out(stream.Signature(wavefront_test_layout(lanes))),
                "response": In(stream.Signature(response)),
            }
        )


class ConditionalAccess(Interface):
    """The conditional unit and its cache, seen from the unit.

    Members
    -------
    access : ``Out(stream.Signature(access_layout(passenger)))``
    result : ``In(result_layout(passenger))``
        In the order of the accesses. Not a stream: `valid` may fall for a cycle while a refill writes the data RAM.
    ready : ``Out(1)``
        The result is taken if it is valid; the next one may come in the next cycle. Follows from the passenger, not
        from `valid`.
    change : ``Out(CHANGE)``
        The change of the word of the result if it is taken, combinationally; no byte of a result with an error, or of
        an access that touches nothing.
    empty : ``In(1)``
        All results have been taken.
    """

    def __init__(self, passenger: ShapeLike) -> None:
        super().__init__(
            {
                "access": Out(stream.Signature(access_layout(passenger))),
                "result": In(result_layout(passenger)),
                "ready": Out(1),
                "change": Out(CHANGE),
                "empty": In(1),
            }
        )
