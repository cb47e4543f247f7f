"""Where set-up keeps words, and where results of its operations go: their tags.

A tag below 16 is a register.
"""

from amaranth.lib import data

from ctm.rtl.border.draws import AXES, CORNERS
from ctm.rtl.isa.limits import WORD_BITS

REGISTER_BITS = 4
W = AXES
"""Slot 4 vertex + axis has x, y, z and w of a vertex."""
SPARE = CORNERS
"""After the vertices are the size of a point, an area or a side as a float, z2 - z0."""
SIZE, AREA, DEPTH = (4 * SPARE + register for register in (W, 0, 1))
SNAPPED = 0b10000
"""Of a result to be snapped, with its coordinate, vertex + 4 axis."""
ROW_WORD = 0b11000
"""Of a word of a row, with its index."""
REGISTER_WRITE = data.StructLayout({"valid": 1, "register": REGISTER_BITS, "word": WORD_BITS})
"""A word for a register."""
