"""The planes of clip space, and on which side of one a vertex is.

Source: docs/draws.md.
"""

from amaranth import Module, Signal, Value
from amaranth.lib import enum

from ctm.rtl.border.draws import DISTANCES
from ctm.rtl.fp.selection import is_nan, is_zero


class Plane(enum.Enum, shape=4):
    """Planes of clip space. The first seven clip, in their order.

    NEAR is z + w >= 0, or z >= 0 where the draw says so; FAR is w - z >= 0, LEAST_W w >= 2^-100. LEFT is x + w >= 0,
    RIGHT w - x >= 0, BOTTOM and TOP likewise with y; in those of the guard band the coordinate has a factor. The last
    four are the sides of the view, which do not clip. With NEAR and FAR they decide what is dropped.
    """

    NEAR = 0
    FAR = 1
    LEAST_W = 2
    GUARD_LEFT = 3
    GUARD_RIGHT = 4
    GUARD_BOTTOM = 5
    GUARD_TOP = 6
    LEFT = 7
    RIGHT = 8
    BOTTOM = 9
    TOP = 10


SIDES = (Plane.LEFT, Plane.RIGHT, Plane.BOTTOM, Plane.TOP)
CLIPPING = Plane.GUARD_TOP.value + 1
"""Planes that clip; clip distances follow them."""
ALL_CLIPPING = CLIPPING + DISTANCES
_X, _Y, _Z, _W = range(4)


def axis_of(m: Module, plane: Value) -> Value:
    """The word of a position that a distance from the plane depends on, beside w."""
    axis = Signal(2, name="axis")
    with m.Switch(plane):
        with m.Case(Plane.NEAR, Plane.FAR):
            m.d.comb += axis.eq(_Z)
        with m.Case(Plane.LEAST_W):
            m.d.comb += axis.eq(_W)
        with m.Case(Plane.GUARD_LEFT, Plane.GUARD_RIGHT, Plane.LEFT, Plane.RIGHT):
            m.d.comb += axis.eq(_X)
        with m.Default():
            m.d.comb += axis.eq(_Y)
    return axis


def is_negative(distance: Value) -> Value:
    """Whether a word is below 0; a denormal is not, nor is a NaN."""
    return distance[-1] & ~is_zero(distance) & ~is_nan(distance)


def is_outside(distance: Value) -> Value:
    """Whether a word is below 0 or a NaN."""
    return is_negative(distance) | is_nan(distance)
