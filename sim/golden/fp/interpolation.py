"""The table and quadratic of the transcendental unit, on whole arrays.

Integers of the datapath are float64 here: none has more than 50 bits, so every product and sum is exact, and np.floor
is the shift that drops bits. Source: docs/arithmetic.md.
"""

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.coefficients import COEFFICIENTS
from ctm.rtl.isa.transcendental import (
    ARGUMENT_BITS,
    LOGARITHM,
    LOGARITHM_SELECT_BITS,
    SQUARE_ALIGNMENT,
    SQUARE_SHIFT,
    SUM_SHIFT,
    Region,
)
from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.words import Doubles

Integers = npt.NDArray[np.int32]
Indices = npt.NDArray[np.intp]

_C0, _C1, _C2 = (np.array(column, np.float64) for column in zip(*COEFFICIENTS, strict=True))
# Scaled so that the products add up in units of the result.
_LINEAR = _C1 * 2.0**-SUM_SHIFT
_QUADRATIC = _C2 * 2.0 ** (SQUARE_ALIGNMENT - SUM_SHIFT)

_FINEST_BITS = min(region.width_bits for region in LOGARITHM)


def _logarithm_segments() -> tuple[Indices, Doubles]:
    """Table address and middle of the segment of every argument, by its bits above the finest segment's width."""
    first = np.arange(1 << (ARGUMENT_BITS - _FINEST_BITS)) << _FINEST_BITS
    addresses, middles = np.empty(first.size, np.intp), np.empty(first.size, np.float64)
    for octant, region in enumerate(LOGARITHM):
        here = first >> (ARGUMENT_BITS - LOGARITHM_SELECT_BITS) == octant
        segment = first[here] >> region.width_bits
        addresses[here] = region.base + segment % region.entries
        middles[here] = (segment << region.width_bits) + (1 << (region.width_bits - 1))
    return addresses, middles


_LOGARITHM_ADDRESS, _LOGARITHM_MIDDLE = _logarithm_segments()


def interpolate(region: Region, argument: Integers, base: Integers | None = None) -> Doubles:
    """The unit's sum for every `argument`, with C0_FRACTION fraction bits, in an array of this function's.

    `base` gives each element its own region, shaped as `region`, by its first address. The sum for an argument of
    2^ARGUMENT_BITS, one too large, is meaningless.
    """
    address = scratch.take("interpolation.address", argument.shape, np.int32)
    distance = scratch.take("interpolation.distance", argument.shape, np.float64)
    local = scratch.take("interpolation.local", argument.shape, np.int32)
    np.bitwise_and(argument, (1 << region.width_bits) - 1, out=local)
    np.subtract(local, 1 << (region.width_bits - 1), out=local)
    np.copyto(distance, local)
    np.right_shift(argument, region.width_bits, out=address)
    np.add(address, region.base if base is None else base, out=address)
    return _quadratic(address, distance)


def interpolate_logarithm(argument: Integers) -> Doubles:
    """As `interpolate`, for LOGARITHM, whose regions differ in width."""
    segment = scratch.take("interpolation.segment", argument.shape, np.intp)
    address = scratch.take("interpolation.logarithm_address", argument.shape, np.intp)
    distance = scratch.take("interpolation.distance", argument.shape, np.float64)
    middle = scratch.take("interpolation.middle", argument.shape, np.float64)
    np.right_shift(argument, _FINEST_BITS, out=segment)
    np.take(_LOGARITHM_ADDRESS, segment, out=address, mode="clip")
    np.take(_LOGARITHM_MIDDLE, segment, out=middle, mode="clip")
    np.copyto(distance, argument)
    np.subtract(distance, middle, out=distance)
    return _quadratic(address, distance)


def _quadratic(address: Integers | Indices, distance: Doubles) -> Doubles:
    index = scratch.take("interpolation.index", distance.shape, np.intp)
    total = scratch.take("interpolation.total", distance.shape, np.float64)
    coefficient = scratch.take("interpolation.coefficient", distance.shape, np.float64)
    product = scratch.take("interpolation.product", distance.shape, np.float64)
    np.copyto(index, address)
    # "clip" is numpy's fast mode.
    np.take(_C0, index, out=total, mode="clip")
    np.take(_LINEAR, index, out=coefficient, mode="clip")
    np.multiply(coefficient, distance, out=product)
    np.add(total, product, out=total)
    np.multiply(distance, distance, out=distance)
    np.multiply(distance, 2.0**-SQUARE_SHIFT, out=distance)
    np.floor(distance, out=distance)
    np.take(_QUADRATIC, index, out=coefficient, mode="clip")
    np.multiply(coefficient, distance, out=product)
    np.add(total, product, out=total)
    return np.floor(total, out=total)
