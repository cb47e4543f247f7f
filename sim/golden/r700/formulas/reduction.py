"""Operations on all four vector slots."""

from collections.abc import Sequence

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import SIGN, Floats, Mask, words
from ctm.sim.golden.r700.formulas.comparison import flushed
from ctm.sim.golden.r700.formulas.kinds import Reduction
from ctm.sim.golden.r700.formulas.selection import maximum

Slots = tuple[Floats, Floats, Floats, Floats]


def _dot(zero_times_anything: bool) -> Reduction:
    def reduction(first: Sequence[Floats], second: Sequence[Floats], *, clean: bool = False) -> Slots:
        result = fp.dot(first, second, zero_times_anything=zero_times_anything, clean=clean)
        return result, result, result, result

    return reduction


def _maximum_of_four(first: Sequence[Floats], *, clean: bool = False) -> Slots:
    x, y, z, w = first
    result = maximum(maximum(x, y, clean=clean), maximum(z, w, clean=clean), clean=clean)
    return result, result, result, result


def _cube(first: Sequence[Floats], second: Sequence[Floats], *, clean: bool = False) -> Slots:
    """Coordinates t and s on the face that a direction goes through, twice its largest component, the face's number.

    The operands are zzxy and yxzz of the direction, so the first ones have all of it.
    """
    z, x, y = np.broadcast_arrays(*(flushed(first[slot], clean) for slot in (0, 2, 3)))
    on_z = (np.abs(z) >= np.abs(x)) & (np.abs(z) >= np.abs(y))
    on_y = ~on_z & (np.abs(y) >= np.abs(x))
    major = fp.choose(on_z, z, fp.choose(on_y, y, x))
    is_negative = major < 0
    t = fp.choose(on_y, z, y)
    _negate(t, ~on_y | is_negative)
    s = fp.choose(on_z | on_y, x, z)
    _negate(s, ~on_y & (is_negative == on_z))
    face = on_z * np.float32(4) + on_y * np.float32(2) + is_negative
    fp.canonicalise(t)
    fp.canonicalise(s)
    return t, s, fp.output_modifier(major, 1, clean=True), face


def _negate(x: Floats, where: Mask) -> None:
    np.bitwise_xor(words(x), where * SIGN, out=words(x))


REDUCTIONS: dict[str, Reduction] = {
    "DOT4": _dot(zero_times_anything=True),
    "DOT4_IEEE": _dot(zero_times_anything=False),
    "MAX4": _maximum_of_four,
    "CUBE": _cube,
}
