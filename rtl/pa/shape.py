"""A shape between set-up and the walk of its strips."""

from amaranth.lib import data

from ctm.rtl.border.draws import CORNERS, EDGE, shape_layout
from ctm.rtl.isa.limits import COORDINATE_BITS

STEP_BITS = 8
"""From one pixel to the next an edge value changes by multiples of 2^8."""

PIXELS = data.StructLayout(
    {
        "first": data.ArrayLayout(COORDINATE_BITS, 2),
        "last": data.ArrayLayout(COORDINATE_BITS, 2),
        "column": COORDINATE_BITS,
        "row": COORDINATE_BITS,
        "empty": 1,
    }
)
"""Pixels from `first` to `last` that a shape can cover, those of the domain only. `column` and `row` are those of the
first strip's lane 0. With `empty` there is no pixel."""


def walk_layout(vertices: int, records: int) -> data.StructLayout:
    """A shape to be walked.

    `edges` are for the first strip's lane 0. A value is less by 1 where a pixel on the edge is outside (`strict`), so
    that a pixel is covered where no value is negative.
    """
    return data.StructLayout(
        {
            "constants": shape_layout(vertices, records),
            "edges": data.ArrayLayout(EDGE, CORNERS),
            "strict": CORNERS,
            "pixels": PIXELS,
        }
    )
