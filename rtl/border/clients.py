"""Memory clients of the array: their requests and the memory controller's responses.

Clients name pairs and constants, never addresses: translation, formats and masks of outputs are the memory
controller's. Source: CTM Guide pp. 5-7, 31-38.
"""

from amaranth.hdl import ShapeLike
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.interface import Interface
from ctm.rtl.isa.limits import (
    ADDRESS_BITS,
    CHANNELS,
    COLUMN_BITS,
    COORDINATE_BITS,
    FLOAT_CONSTANTS,
    INPUTS,
    OUTPUTS,
    WORD_BITS,
    WORD_BYTES,
)

BEAT_WORDS = 4
LINE_BEATS = 4
"""A line of constants is four beats of four words: 4 float constants, or 16 int or bool constants."""
CONSTANT_LINE_BITS = (FLOAT_CONSTANTS // LINE_BEATS - 1).bit_length()


class ConstantBank(enum.Enum, shape=2):
    """The three files of constants."""

    FLOAT = 0
    INT = 1
    BOOL = 2


PAGE_BITS = ADDRESS_BITS - (WORD_BYTES - 1).bit_length() - 2 * COORDINATE_BITS
"""Bits of a word's number in memory beyond those of a pair."""
WORDS = data.ArrayLayout(WORD_BITS, CHANNELS)
"""The channels of an element."""


def words_layout(lanes: int) -> data.ArrayLayout:
    """Four channels of every lane."""
    return data.ArrayLayout(WORDS, lanes)


def indices_layout(lanes: int) -> data.ArrayLayout:
    """A column or a row for every lane."""
    return data.ArrayLayout(COORDINATE_BITS, lanes)


def fetch_request_layout(lanes: int, tag: ShapeLike, areas: int = 0, *, memory: bool = False) -> data.StructLayout:
    """A pair for each lane. Lanes in `fetch` are read; their pairs are inside the input's limits.

    `input` numbers the inputs first, then `areas` areas (see `ctm.rtl.border.buffers`), and with `memory` all of
    memory: there x is the low bits of a word's number, y the next ones, and `page` the highest.
    """
    indices = indices_layout(lanes)
    pages: dict[str, ShapeLike] = {"page": data.ArrayLayout(PAGE_BITS, lanes)} if memory else {}
    return data.StructLayout(
        {
            "tag": tag,
            "input": range(INPUTS + areas + memory),
            "uncached": 1,
            "x": indices,
            "y": indices,
            "fetch": lanes,
            **pages,
        }
    )


def fetch_response_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    """Words of the lanes that fetch. With an error, and for other lanes, they mean nothing."""
    return data.StructLayout({"tag": tag, "words": words_layout(lanes), "error": 1})


def output_layout(lanes: int, outputs: int = OUTPUTS) -> data.StructLayout:
    """A wavefront's write to one of the outputs: the pair of its lane 0, words and channels of each lane."""
    return data.StructLayout(
        {
            "i": COLUMN_BITS,
            "j": COORDINATE_BITS,
            "target": range(outputs),
            "words": words_layout(lanes),
            "mask": data.ArrayLayout(CHANNELS, lanes),
        }
    )


def uncached_write_layout(lanes: int, wave: ShapeLike, areas: int = 0, *, memory: bool = False) -> data.StructLayout:
    """A word for each lane in `mask`, at a pair of its own; of two lanes with the same pair the higher one wins.

    Pairs are those of output 0, or, where there are `areas`, of one of them, or with `memory` words of all of memory,
    whose number follows those of areas; see `fetch_request_layout`.
    """
    indices = indices_layout(lanes)
    chosen: dict[str, ShapeLike] = {"area": range(areas + memory)} if areas else {}
    pages: dict[str, ShapeLike] = {"page": data.ArrayLayout(PAGE_BITS, lanes)} if memory else {}
    return data.StructLayout(
        {
            "wave": wave,
            **chosen,
            **pages,
            "acquires": 1,
            "x": indices,
            "y": indices,
            "values": data.ArrayLayout(WORD_BITS, lanes),
            "mask": lanes,
        }
    )


class ConstantClient(Interface):
    """The port of a reader of constant lines, seen from the reader.

    Members
    -------
    request : ``Out(stream.Signature({bank, line}))``
        A line of one of the files.
    response : ``In(stream.Signature({words, error}))``
        Its beats, in the order of the requests. With `error` the words mean nothing.
    """

    def __init__(self) -> None:
        request = data.StructLayout({"bank": ConstantBank, "line": CONSTANT_LINE_BITS})
        response = data.StructLayout({"words": data.ArrayLayout(WORD_BITS, BEAT_WORDS), "error": 1})
        super().__init__({"request": Out(stream.Signature(request)), "response": In(stream.Signature(response))})


class FetchClient(Interface):
    """The port of a core that fetches elements of inputs, seen from the core.

    Members
    -------
    request : ``Out(stream.Signature(fetch_request_layout(lanes, tag, areas, memory=memory)))``
    response : ``In(stream.Signature(fetch_response_layout(lanes, tag)))``
        In the order of the requests of the same wave slot, which the tag contains. Other responses may overtake.
    """

    def __init__(self, lanes: int, tag: ShapeLike, areas: int = 0, *, memory: bool = False) -> None:
        super().__init__(
            {
                "request": Out(stream.Signature(fetch_request_layout(lanes, tag, areas, memory=memory))),
                "response": In(stream.Signature(fetch_response_layout(lanes, tag))),
            }
        )


class UncachedClient(Interface):
    """The port of a unit that writes past the caches, to output 0 or to areas, seen from the unit.

    Members
    -------
    write : ``Out(stream.Signature(uncached_write_layout(lanes, wave, areas, memory=memory)))``
    done : ``In(stream.Signature({wave}))``
        A write that acquires, and all earlier ones of its wave slot, have their write responses. Other writes have no
        response.
    """

    def __init__(self, lanes: int, wave: ShapeLike, areas: int = 0, *, memory: bool = False) -> None:
        super().__init__(
            {
                "write": Out(stream.Signature(uncached_write_layout(lanes, wave, areas, memory=memory))),
                "done": In(stream.Signature(data.StructLayout({"wave": wave}))),
            }
        )
