"""What cores that shade a draw's vertices and pixels say to the units around them.

Source: docs/draws.md; docs/design/draws.md has the picture.
"""

from amaranth.lib import data, enum
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.draws import CORNERS, DISTANCES, EDGE, shape_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.draws import VERTEX_BUFFERS
from ctm.rtl.isa.limits import CHANNELS, WORD_BITS

RECORDS = 16
"""Shapes whose pixels may be in flight together."""
PARAMETERS = 32
"""Most parameters of a vertex, each of four words."""


class Stage(enum.Enum, shape=2):
    """What the array runs: a program of the domain, or a draw's programs for vertices or pixels."""

    DOMAIN = 0
    VERTICES = 1
    PIXELS = 2


DRAW = data.StructLayout(
    {
        "stage": Stage,
        "is_bad": 1,
        "first_instance": WORD_BITS,
        "instance": WORD_BITS,
        "lowest_depth": WORD_BITS,
        "highest_depth": WORD_BITS,
    }
)
"""What the array runs, and the state of the draw that its programs depend on. `is_bad`: it is none that is done."""

DRAW_PROGRAMS = data.StructLayout({"clip_distances": DISTANCES, "cull_distances": DISTANCES, "by_primitive": 1})
"""What a draw's programs ask of the units around the array: which distances cut and cull, and whether vertices are of
one primitive each, whose number their program gets."""

VERTEX_BUFFER = data.StructLayout({"address": WORD_BITS, "bytes": WORD_BITS, "stride": WORD_BITS})
"""Where vertices' data is: a byte address, a multiple of 4; its bytes; bytes from one element to the next."""
VERTEX_BUFFER_WRITE = data.StructLayout({"valid": 1, "number": range(VERTEX_BUFFERS), "buffer": VERTEX_BUFFER})


def vertex_write_layout(vertices: int) -> data.StructLayout:
    """A vertex that is to be shaded: its entry in the vertex store, its index, and the primitive that it is of."""
    return data.StructLayout({"valid": 1, "entry": range(vertices), "index": WORD_BITS, "primitive": WORD_BITS})


def vector_layout(vertices: int) -> data.StructLayout:
    """A vector of a vertex: one of its position vectors, or else a parameter."""
    return data.StructLayout({"entry": range(vertices), "is_position": 1, "row": range(PARAMETERS)})


def vector_write_layout(vertices: int) -> data.StructLayout:
    """An export of a vertex: the words of a vector that are in `mask`."""
    return data.StructLayout({"valid": 1, "vector": vector_layout(vertices), "words": WORDS, "mask": CHANNELS})


def constant_layout(vertices: int, records: int = RECORDS) -> data.StructLayout:
    """A row of a shape's record, or else a vector of a vertex."""
    return data.StructLayout(
        {"is_record": 1, "record": range(records), "row": range(PARAMETERS), "entry": range(vertices)}
    )


def drawn_layout(config: MachineConfig) -> data.StructLayout | None:
    """What a wavefront of a draw's pixels has beside its pixels, None where the machine does not draw.

    `ticket` is returned when its outputs are accepted and its test has its response.
    """
    if not config.pipeline.draws:
        return None
    return data.StructLayout(
        {
            "constants": shape_layout(config.pipeline.vertices, RECORDS),
            "edges": data.ArrayLayout(EDGE, CORNERS),
            "ticket": range(config.array.threads),
        }
    )


class ShadingClient(Interface):
    """The port of a core that shades vertices and pixels, seen from the core.

    Members
    -------
    vertex : ``In(vertex_write_layout(vertices))``
        Vertices, before the wavefront that shades them.
    buffer : ``In(VERTEX_BUFFER_WRITE)``
        A vertex buffer that a command set; only while the core is idle.
    exported : ``Out(vector_write_layout(vertices))``
    constant : ``Out(constant_layout(vertices))``
    words : ``In(WORDS)``
        The constant, a cycle later.
    ended : ``Out({valid, ticket})``
        A wavefront of pixels has ended.
    """

    def __init__(self, config: MachineConfig) -> None:
        vertices = config.pipeline.vertices
        super().__init__(
            {
                "vertex": In(vertex_write_layout(vertices)),
                "buffer": In(VERTEX_BUFFER_WRITE),
                "exported": Out(vector_write_layout(vertices)),
                "constant": Out(constant_layout(vertices)),
                "words": In(WORDS),
                "ended": Out(data.StructLayout({"valid": 1, "ticket": range(config.array.threads)})),
            }
        )
