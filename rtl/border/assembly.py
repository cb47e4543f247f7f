"""Vertices of a draw as they are assembled: indices, primitives, and batches of these.

Source: docs/draws.md.
"""

from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.draws import CORNERS, VIEWPORT, primitive_layout
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.shading import vertex_write_layout
from ctm.rtl.isa.draws import RASTER, IndexFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS

INDEX_BUFFER = data.StructLayout({"address": ADDRESS_BITS, "format": IndexFormat, "restarts": 1, "restart": WORD_BITS})
"""Where indices are, and with `restarts` which one begins a new strip."""

DRAW_STATE = data.StructLayout(
    {
        "indices": INDEX_BUFFER,
        "viewport": VIEWPORT,
        "lowest_depth": WORD_BITS,
        "highest_depth": WORD_BITS,
        "raster": RASTER,
        "radius": 16,
        "count": WORD_BITS,
        "instances": WORD_BITS,
        "base_vertex": WORD_BITS,
        "first_instance": WORD_BITS,
    }
)
"""The state that the commands of draws set, and the parameters of the last start_draw."""

INDEX = data.StructLayout({"index": WORD_BITS, "restarts": 1, "error": 1, "last": 1})
"""An index of an instance; with `error` memory gave an error response, and it is any. With `restarts` it is none: a new
strip begins. With `last` it is the last one."""

MOST_CORNERS = 6
"""Of a primitive with its neighbours."""


def indices_layout(corners: int) -> data.StructLayout:
    """The indices of a primitive's vertices, base vertex added, and which of them is the provoking one.

    With `ends` there is no primitive: the instance is over.
    """
    return data.StructLayout(
        {"corners": data.ArrayLayout(WORD_BITS, corners), "provoking": range(corners), "ends": 1, "error": 1}
    )


class StreamSpace(Interface):
    """What tells whether a primitive fits into a draw's streams, seen from the unit that forms primitives.

    Members
    -------
    corners : ``Out(range(MOST_CORNERS + 1))``
        Of a primitive that is to be streamed out.
    streams : ``In(1)``
        The draw has a stream.
    known : ``In(1)``
        `fits` is known, two cycles after `take` at the latest.
    fits : ``In(1)``
        The primitive fits into every stream.
    number : ``In(32)``
        The number of its first vertex among those that the draw streams out.
    take : ``Out(1)``
        The primitive is streamed out; only if it is known that it `fits`.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "corners": Out(range(MOST_CORNERS + 1)),
                "streams": In(1),
                "known": In(1),
                "fits": In(1),
                "number": In(WORD_BITS),
                "take": Out(1),
            }
        )


class Grouping(Interface):
    """The instances of which batches are made, seen from the unit that runs the draw.

    Members
    -------
    begin : ``Out(1)``
        Begin an instance, only while `idle`; what remains of the last one is dropped.
    drop : ``Out(1)``
        Read no more indices.
    idle : ``In(1)``
        No line of indices is in flight.
    """

    def __init__(self) -> None:
        super().__init__({"begin": Out(1), "drop": Out(1), "idle": In(1)})


class EmitGrouping(Interface):
    """The runs of a geometry program whose vertices are grouped, seen from the unit that runs the draw.

    Members
    -------
    clear : ``Out(1)``
        A run begins, which has emitted nothing.
    begin : ``Out(1)``
        Make the batches of threads 0 to `threads` - 1; only while `idle`.
    threads : ``Out(range(vertices + 1))``
        Those of the run.
    idle : ``In(1)``
        All that was emitted is kept.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__({"clear": Out(1), "begin": Out(1), "threads": Out(range(vertices + 1)), "idle": In(1)})


class Batch(Interface):
    """A batch of vertices and primitives of up to `corners`, seen from the unit that makes it.

    Members
    -------
    vertex : ``Out(vertex_write_layout(vertices))``
        A vertex that is to be shaded, while the batch is made.
    closed : ``Out(1)``
        The batch is made.
    used : ``Out(range(vertices + 1))``
        Entries of the vertex store that its vertices have: the first ones.
    ends, error : ``Out(1)``
        With `closed`: it is the instance's last one; an index could not be read.
    primitive : ``Out(stream.Signature(primitive_layout(vertices, corners)))``
        Its primitives, in order, while it is closed. One is offered in every cycle until the last one is taken: the
        batch has no more when none is.
    done : ``In(1)``
        All have been taken: make the next one.
    """

    def __init__(self, vertices: int, corners: int = CORNERS) -> None:
        super().__init__(
            {
                "vertex": Out(vertex_write_layout(vertices)),
                "closed": Out(1),
                "used": Out(range(vertices + 1)),
                "ends": Out(1),
                "error": Out(1),
                "primitive": Out(stream.Signature(primitive_layout(vertices, corners))),
                "done": In(1),
            }
        )
