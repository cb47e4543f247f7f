"""The machine's operations on arrays of any shape, for what stands between vertices and pixels.

Operands have no denormals, as results have none. Each operation is rounded to nearest even, once.
Source: docs/draws.md.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ctm.sim.golden import fp

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
_ONE = np.float32(1)


def add(a: Floats, b: Floats | np.float32) -> Floats:
    """Sum a + b."""
    return _flat(lambda x, y: fp.add(x, y, clean=True), a, b)


def subtract(a: Floats, b: Floats) -> Floats:
    """Difference a - b."""
    return add(a, -b)


def multiply(a: Floats, b: Floats | np.float32) -> Floats:
    """Product a * b."""
    return _flat(lambda x, y: fp.multiply(x, y, zero_times_anything=False, clean=True), a, b)


def multiply_then_add(a: Floats, b: Floats, c: Floats) -> Floats:
    """Sum a * b + c, of which the product is rounded, too."""
    return _flat(lambda x, y, z: fp.multiply_then_add(x, y, z, zero_times_anything=False, clean=True), a, b, c)


def multiply_add(a: Floats, b: Floats | np.float32, c: Floats) -> Floats:
    """Sum a * b + c, rounded once."""
    return _flat(lambda x, y, z: fp.multiply_add(x, y, z, zero_times_anything=False, clean=True), a, b, c)


def reciprocal(x: Floats) -> Floats:
    """The float32 nearest to 1 / x: an infinity for 0, and 0 where it would be a denormal."""
    return _flat(_reciprocal, x)


def _reciprocal(x: Floats) -> Floats:
    with np.errstate(all="ignore"):
        result: Floats = _ONE / x
    # No reciprocal of a float32 lies so close below the smallest normal number that 24 bits would round it there.
    fp.canonicalise(result)
    return result


def flush(x: Floats) -> Floats:
    """Operands of what is in memory: signed zeros for denormals."""
    return _flat(fp.flush_denormals, x)


def is_negative(x: Floats) -> Mask:
    """Below 0; a NaN is not."""
    found: Mask = x < 0
    return found


def is_outside(distance: Floats) -> Mask:
    """Below 0, or a NaN."""
    found: Mask = ~(distance >= 0)
    return found


def _flat(operation: Callable[..., Floats], *operands: Floats | np.float32) -> Floats:
    """Results of an operation that wants one long axis."""
    arrays = np.broadcast_arrays(*operands)
    return operation(*(each.reshape(-1) for each in arrays)).reshape(arrays[0].shape)
