"""What cores that shade a draw's vertices and pixels say to the units around them.

Source: docs/draws.md; docs/design/draws.md has the picture.
"""

from amaranth import Value
from amaranth.hdl import ValueLike
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.draws import CORNERS, DISTANCES, EDGE, shape_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.draws import STREAMS, VERTEX_BUFFERS, PrimitiveType, Ring
from ctm.rtl.isa.limits import ADDRESS_BITS, CHANNELS, WORD_BITS

RECORDS = 16
"""Shapes whose pixels may be in flight together."""
PARAMETERS = 32
"""Most parameters of a vertex, each of four words."""


START_WORDS = 7
"""Words that a thread of a geometry program begins with: R0.x to R0.w, R1.x to R1.z."""
ITEM_BITS = 24
"""Width of the dwords of an item of a ring."""
DWORD_BITS = ADDRESS_BITS - 2
"""Width of a dword's number in memory."""
EMIT_BITS = 11
"""Width of the vertices that a thread may emit."""


class Stage(enum.Enum, shape=3):
    """What the array runs: a program of the domain, or one of a draw's.

    VERTICES is the vertex program, also in front of a geometry program; COPY is run for vertices that were emitted.
    """

    DOMAIN = 0
    VERTICES = 1
    PIXELS = 2
    GEOMETRY = 3
    COPY = 4


def is_of_threads(stage: ValueLike) -> Value:
    """Whether a stage's program is run for threads: for vertices or primitives."""
    return Value.cast(stage).matches(*(each.value for each in (Stage.VERTICES, Stage.GEOMETRY, Stage.COPY)))


STREAM = data.StructLayout({"enabled": 1, "origin": DWORD_BITS, "stride": WORD_BITS})
"""Where a draw streams vertices out: the dword of its first vertex, and dwords from one to the next."""


DRAW = data.StructLayout(
    {
        "stage": Stage,
        "is_bad": 1,
        "adds": 1,
        "first_instance": WORD_BITS,
        "instance": WORD_BITS,
        "lowest_depth": WORD_BITS,
        "highest_depth": WORD_BITS,
        "rings": data.ArrayLayout(DWORD_BITS, len(Ring)),
        "streams": data.ArrayLayout(STREAM, STREAMS),
    }
)
"""What the array runs, and the state of the draw that its programs depend on. `is_bad`: it is none that is done.
`adds`: outputs are added to targets. `rings`: the first dword of each."""

GEOMETRY_PROGRAM = data.StructLayout(
    {
        "present": 1,
        "vertex_item": ITEM_BITS,
        "item": ITEM_BITS,
        "emitted_item": ITEM_BITS,
        "most_emitted": EMIT_BITS,
        "output": PrimitiveType,
    }
)
"""A draw's geometry program, if it has one: dwords of the items of vertices, of threads and of emitted vertices; the
most vertices that a thread may emit, and what they form."""
DRAW_PROGRAMS = data.StructLayout(
    {
        "clip_distances": DISTANCES,
        "cull_distances": DISTANCES,
        "by_primitive": 1,
        "geometry": GEOMETRY_PROGRAM,
    }
)
"""What a draw's programs ask of the units around the array: which distances cut and cull, and whether vertices are of
one primitive each, whose number their program gets."""

VERTEX_BUFFER = data.StructLayout({"address": WORD_BITS, "bytes": WORD_BITS, "stride": WORD_BITS})
"""Where vertices' data is: a byte address, a multiple of 4; its bytes; bytes from one element to the next."""
BUFFERS = VERTEX_BUFFERS + len(Ring)
"""What fetches of a draw read: vertex buffers, and then the rings."""
VERTEX_BUFFER_WRITE = data.StructLayout({"valid": 1, "number": range(BUFFERS), "buffer": VERTEX_BUFFER})
STREAM_WRITE = data.StructLayout(
    {"valid": 1, "number": range(STREAMS), "dword": DWORD_BITS, "dwords": WORD_BITS, "stride": WORD_BITS}
)
"""A stream that a command sets: its first dword, its dwords, and those of a vertex."""
RING_WRITE = data.StructLayout({"valid": 1, "number": range(len(Ring)), "dword": DWORD_BITS, "dwords": WORD_BITS})
"""A ring that a command sets."""


class DrawBuffers(Interface):
    """The buffers of draws, one cycle each time a command sets one, seen from the memory controller.

    Members
    -------
    vertex_buffer : ``Out(VERTEX_BUFFER_WRITE)``
        A vertex buffer, or a ring as a buffer of dwords.
    ring : ``Out(RING_WRITE)``
        With geometry programs.
    stream : ``Out(STREAM_WRITE)``
        Likewise.
    """

    def __init__(self, *, geometry: bool) -> None:
        of_geometry = {"ring": Out(RING_WRITE), "stream": Out(STREAM_WRITE)} if geometry else {}
        super().__init__({"vertex_buffer": Out(VERTEX_BUFFER_WRITE), **of_geometry})


class Blending(Interface):
    """The addition of outputs to targets, seen from the unit that makes the wavefronts of pixels.

    Members
    -------
    adds : ``Out(1)``
        Outputs of the pixels that run are added to their targets. Only changes while none is in flight.
    taken : ``In(1)``
        One of these outputs was taken.
    written : ``In(1)``
        The sums of the next one of those that were taken are in memory.
    """

    def __init__(self) -> None:
        super().__init__({"adds": Out(1), "taken": In(1), "written": In(1)})


def vertex_write_layout(vertices: int) -> data.StructLayout:
    """A vertex that is to be shaded: its entry in the vertex store, its index, and the primitive that it is of.

    With `streamed` it is vertex `number` of those that the draw streams out.
    """
    return data.StructLayout(
        {
            "valid": 1,
            "entry": range(vertices),
            "index": WORD_BITS,
            "primitive": WORD_BITS,
            "streamed": 1,
            "number": WORD_BITS,
        }
    )


def start_write_layout(vertices: int) -> data.StructLayout:
    """A word that a thread of a geometry program begins with, one of `START_WORDS`."""
    return data.StructLayout({"valid": 1, "thread": range(vertices), "word": range(START_WORDS), "value": WORD_BITS})


def emit_layout(lanes: int, vertices: int) -> data.StructLayout:
    """Threads of a wavefront that emit a vertex, or end their strip, or both in this order; `first` is lane 0's."""
    return data.StructLayout({"emits": 1, "cuts": 1, "first": range(vertices), "lanes": lanes})


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


class FetchShading(Interface):
    """What the fetch unit of a core that shades has of the core's port, seen from the unit.

    Members
    -------
    buffer, exported
        As those of `ShadingClient`.
    vertex, streams
        With geometry programs: likewise.
    """

    def __init__(self, config: MachineConfig) -> None:
        vertices = config.pipeline.vertices
        geometry = {"vertex": In(vertex_write_layout(vertices)), "streams": Out(STREAMS)}
        super().__init__(
            {
                "buffer": In(VERTEX_BUFFER_WRITE),
                "exported": Out(vector_write_layout(vertices)),
                **(geometry if config.pipeline.has_geometry else {}),
            }
        )


class ShadingClient(Interface):
    """The port of a core that shades vertices and pixels, seen from the core.

    Members
    -------
    vertex : ``In(vertex_write_layout(vertices))``
        Vertices, before the wavefront that shades them.
    buffer : ``In(VERTEX_BUFFER_WRITE)``
        A vertex buffer or ring that a command set; only while the core is idle.
    exported : ``Out(vector_write_layout(vertices))``
    constant : ``Out(constant_layout(vertices))``
    words : ``In(WORDS)``
        The constant, a cycle later.
    ended : ``Out({valid, ticket})``
        A wavefront of pixels has ended.
    thread : ``In(start_write_layout(vertices))``
        With geometry programs: what threads begin with, before the wavefront of these.
    streams : ``Out(STREAMS)``
        Likewise: streams that a wavefront has written, one cycle.
    emits : ``Out(stream.Signature(emit_layout(lanes, vertices)))``
        Likewise.
    """

    def __init__(self, config: MachineConfig) -> None:
        vertices = config.pipeline.vertices
        geometry = {
            "thread": In(start_write_layout(vertices)),
            "streams": Out(STREAMS),
            "emits": Out(stream.Signature(emit_layout(config.array.wavefront_lanes, vertices))),
        }
        super().__init__(
            {
                "vertex": In(vertex_write_layout(vertices)),
                "buffer": In(VERTEX_BUFFER_WRITE),
                "exported": Out(vector_write_layout(vertices)),
                "constant": Out(constant_layout(vertices)),
                "words": In(WORDS),
                "ended": Out(data.StructLayout({"valid": 1, "ticket": range(config.array.threads)})),
                **(geometry if config.pipeline.has_geometry else {}),
            }
        )
