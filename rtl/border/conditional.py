"""What the conditional unit is asked and answers, and what it asks of its cache."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_WORDS
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS, WORD_BITS, WORD_BYTES

WORD_INDEX_BITS = (LINE_WORDS - 1).bit_length()

CHANGE = data.StructLayout({"bits": WORD_BITS, "mask": WORD_BYTES})
"""Bytes of a word; only those in `mask` change."""


def access_layout(passenger: ShapeLike) -> data.StructLayout:
    """An access to a word of a line, or, without `touches`, to nothing; with `reads` its contents matter.

    The passenger comes back with the result.
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
    """An access's word; with `refused` or without `reads` the bits mean nothing."""
    return data.StructLayout({"valid": 1, "bits": WORD_BITS, "refused": 1, "passenger": passenger})


def group_to_test_layout(lanes: int) -> data.StructLayout:
    """A group to be tested: the pair of its lane 0, the lanes to be tested, and their conditional values."""
    return data.StructLayout(
        {"i": COLUMN_BITS, "j": COORDINATE_BITS, "mask": lanes, "values": data.ArrayLayout(WORD_BITS, lanes)}
    )


class ConditionalClient(Interface):
    """Somebody who has groups tested by the conditional unit, seen from there.

    Members
    -------
    request : ``Out(stream.Signature(group_to_test_layout(lanes)))``
    response : ``In(stream.Signature({passed}))``
        The lanes whose test passed, in the order of the requests; those that were not to be tested have not.
    """

    def __init__(self, lanes: int) -> None:
        response = data.StructLayout({"passed": lanes})
        super().__init__(
            {
                "request": Out(stream.Signature(group_to_test_layout(lanes))),
                "response": In(stream.Signature(response)),
            }
        )


class ConditionalAccess(Interface):
    """The conditional unit and its cache, seen from the unit.

    Members
    -------
    access : ``Out(stream.Signature(access_layout(passenger)))``
    result : ``In(result_layout(passenger))``
        In the order of the accesses. Not a stream: a line that comes may hide it for a cycle.
    taken : ``Out(1)``
        The result is used; only while it is valid. The next one may come in the next cycle.
    change : ``Out(CHANGE)``
        What becomes of the word of the result that is taken, combinationally; nothing if it is refused, or of an access
        that touches nothing.
    empty : ``In(1)``
        All results have been taken.
    """

    def __init__(self, passenger: ShapeLike) -> None:
        super().__init__(
            {
                "access": Out(stream.Signature(access_layout(passenger))),
                "result": In(result_layout(passenger)),
                "taken": Out(1),
                "change": Out(CHANGE),
                "empty": In(1),
            }
        )
