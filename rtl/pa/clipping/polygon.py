"""The memory of a polygon that is clipped, and of what is kept of its primitive.

Two polygons of `MOST_VERTICES` vertices: a plane makes the one of the other.
"""

from amaranth import Cat, Const, Value
from amaranth.hdl import ValueLike
from amaranth.lib import data

from ctm.rtl.border.draws import AXES
from ctm.rtl.isa.limits import WORD_BITS

MOST_VERTICES = 28
VERTEX_BITS = MOST_VERTICES.bit_length()
ADDRESS = data.StructLayout({"word": 3, "vertex": VERTEX_BITS, "buffer": 1})
"""A word of a vertex: x, y, z, w, three weights, a distance. After the vertices of buffer 0 are the distances of the
original vertices, after those of buffer 1 their w, and the size of a point."""
WEIGHTS = AXES + 1
DISTANCE = 7
READ = data.StructLayout({"valid": 1, "address": ADDRESS})
"""The word comes a cycle later."""
WRITE = data.StructLayout({"valid": 1, "address": ADDRESS, "word": WORD_BITS})


def address(buffer: ValueLike, vertex: ValueLike, word: ValueLike) -> Value:
    """Of a word."""
    fields = (Value.cast(word), Value.cast(vertex), Value.cast(buffer))
    return Cat(_fitted(field, width) for field, width in zip(fields, (3, VERTEX_BITS, 1), strict=True))


def _fitted(value: Value, width: int) -> Value:
    return Cat(value, Const(0, width))[:width]


def kept_distance(vertex: ValueLike, plane: ValueLike) -> Value:
    """Of a distance of an original vertex."""
    return address(0, Value.cast(vertex) + MOST_VERTICES, plane)


def kept_w(vertex: ValueLike) -> Value:
    """Of w of an original vertex."""
    return address(1, Value.cast(vertex) + MOST_VERTICES, 0)


KEPT_SIZE = address(1, MOST_VERTICES, 1)
"""Of the size of a point."""
