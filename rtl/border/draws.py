"""Draws: vertices that are shaded, the primitives that they form, and the strips of pixels that these cover.

Source: docs/draws.md; docs/design/draws.md has the picture.
"""

from amaranth import signed
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.draws import RASTER
from ctm.rtl.isa.limits import COLUMN_BITS, COORDINATE_BITS, WORD_BITS

AXES = 3
CORNERS = 3
"""Of a triangle; those of a point are all its vertex."""
DISTANCES = 8
"""Clip or cull distances of a vertex."""
POSITION_VECTORS = 4
"""Of a vertex: position, size and the like, distances 0 to 3, distances 4 to 7."""
RECORD_ROWS = 7
"""Of a shape: constants of four words, which the programs of its pixels read."""
SUBPIXEL_BITS = 8
WINDOW_BITS = 25
"""Width of a window coordinate: signed, in 1/256 pixel, -2^23 to 2^23."""
SIDE_BITS = WINDOW_BITS + 1
"""Width of a difference of two window coordinates."""
EDGE_BITS = 2 * WINDOW_BITS
"""Width of an edge value at a pixel: signed, in 1/65536 pixel^2."""

VIEWPORT = data.StructLayout({"scale": data.ArrayLayout(WORD_BITS, AXES), "offset": data.ArrayLayout(WORD_BITS, AXES)})
"""Float32 words, of x, y and z."""

RASTER_STATE = data.StructLayout(
    {
        "viewport": VIEWPORT,
        "raster": RASTER,
        "radius": 16,
        "points": 1,
        "clip_distances": DISTANCES,
        "cull_distances": DISTANCES,
        "domain": DOMAIN,
    }
)
"""What a draw's raster depends on. `points`: primitives are points, else triangles; `radius`: half a point's side in
1/16 pixel, where the program has no size; of `clip_distances` and `cull_distances` those are set that cut and cull."""

EDGE = data.StructLayout({"value": signed(EDGE_BITS), "dx": signed(SIDE_BITS), "dy": signed(SIDE_BITS)})
"""An edge of a shape: its value at the pixel of a strip's lane 0, and the edge itself, in window coordinates. A column
further the value is 256 dy less, a row further 256 dx more."""


def primitive_layout(vertices: int, corners: int = CORNERS) -> data.StructLayout:
    """A primitive: the entries of its corners among `vertices`, that of the provoking one, and its number.

    A point or triangle that is drawn has three corners.
    """
    entry = range(vertices)
    return data.StructLayout({"corners": data.ArrayLayout(entry, corners), "provoking": entry, "number": WORD_BITS})


def record_write_layout(records: int) -> data.StructLayout:
    """A row of a shape's record, one of `records`."""
    return data.StructLayout({"record": range(records), "row": range(RECORD_ROWS), "words": WORDS})


def shape_layout(vertices: int, records: int) -> data.StructLayout:
    """What the constants of a shape's pixels are: its record, and the entries of its vertices."""
    entry = range(vertices)
    return data.StructLayout(
        {"record": range(records), "corners": data.ArrayLayout(entry, CORNERS), "provoking": entry}
    )


def strip_layout(lanes: int, vertices: int, records: int) -> data.StructLayout:
    """A wavefront's pixels of a shape: the pair of lane 0, the lanes that are covered, and the edges of the shape.

    The edges are those opposite to vertices 0, 1 and 2; all are 0 of a point.
    """
    return data.StructLayout(
        {
            "i": COLUMN_BITS,
            "j": COORDINATE_BITS,
            "covered": lanes,
            "constants": shape_layout(vertices, records),
            "edges": data.ArrayLayout(EDGE, CORNERS),
        }
    )


class PositionReader(Interface):
    """The port of a reader of vertices' positions, seen from the reader.

    Members
    -------
    entry : ``Out(range(vertices))``
    vector : ``Out(range(POSITION_VECTORS))``
    words : ``In(WORDS)``
        A cycle later.
    """

    def __init__(self, vertices: int) -> None:
        super().__init__({"entry": Out(range(vertices)), "vector": Out(range(POSITION_VECTORS)), "words": In(WORDS)})


class RecordClient(Interface):
    """The records of shapes, seen from the unit that makes shapes.

    Members
    -------
    free : ``In(stream.Signature(range(records)))``
        A record that no pixel needs any more.
    write : ``Out({valid, payload})``
        A row of the record, which pixels of the shape's first strip may read in the next cycle.
    made : ``Out({valid, payload})``
        All strips of a shape with this record were given, perhaps none.
    """

    def __init__(self, records: int) -> None:
        write = data.StructLayout({"valid": 1, "payload": record_write_layout(records)})
        made = data.StructLayout({"valid": 1, "payload": range(records)})
        super().__init__({"free": In(stream.Signature(range(records))), "write": Out(write), "made": Out(made)})
