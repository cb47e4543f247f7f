"""A piece of a primitive between the clipper and set-up: words in a fixed order."""

from amaranth.lib import data

from ctm.rtl.border.draws import AXES, CORNERS, primitive_layout
from ctm.rtl.isa.limits import WORD_BITS

INVERSES = CORNERS + 1
"""First come w of the piece's vertices, and the size of a point."""
POSITIONS = INVERSES + CORNERS * AXES
"""Then x, y and z of the first vertex, of the second, of the third."""
ORIGINALS = POSITIONS + CORNERS
"""Then w of the original vertices; of a point that of the first only, then zeros."""
PIECE_WORDS = ORIGINALS + CORNERS * CORNERS
"""Then the original vertices' weights in the first vertex, in the second, in the third; of a point zeros."""


def piece_layout(vertices: int) -> data.StructLayout:
    """A word of a piece, whose primitive is the same for all words; `clipped`: it is not the whole primitive."""
    return data.StructLayout({"word": WORD_BITS, "primitive": primitive_layout(vertices), "clipped": 1})
