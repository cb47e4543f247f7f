"""Dot products: exact products aligned to the largest, truncated, summed, rounded once.

Every non-zero term is an exact float64. With E the exponent of the largest, each is truncated towards zero to a
multiple of 2^(E - 24): 25 bits remain, so float64 sums them exactly.
Source: CTM Guide pp. 28, 42; docs/arithmetic.md.
"""

from collections.abc import Sequence

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.multiplication import annul
from ctm.sim.golden.fp.rounding import flush_denormals, narrow
from ctm.sim.golden.fp.words import DOUBLE_BIAS, DOUBLE_FRACTION_BITS, Doubles, Floats

ALIGNED_BITS = 24
"""A term keeps this many bits below the leading bit of the largest term."""

_EXPONENT = np.uint64(0x7FF << DOUBLE_FRACTION_BITS)
_SCALE = np.uint64((2 * DOUBLE_BIAS + ALIGNED_BITS) << DOUBLE_FRACTION_BITS)
_UNSCALE = np.uint64((2 * DOUBLE_BIAS) << DOUBLE_FRACTION_BITS)
# Below every non-zero product of two normal numbers; keeps the scale of a sum of zeros finite.
_SMALLEST_LARGEST = 2.0**-252


def dot(
    a: Sequence[Floats] | Floats,
    b: Sequence[Floats] | Floats,
    *,
    addend: Floats | None = None,
    zero_times_anything: bool,
    clean: bool = False,
    out: Floats | None = None,
) -> Floats:
    """DP3, DP4, D2A: sum of a[k] * b[k], and of `addend` (the C.b of D2A).

    `a` and `b` hold two to four terms, whose shapes broadcast to at least one dimension: arrays [n, M] or sequences of
    arrays. Two terms with an addend are D2A, three DP3, four DP4. `zero_times_anything`, `clean` and `out` are as in
    multiply_add.
    """
    if not clean:
        a, b = [flush_denormals(x) for x in a], [flush_denormals(x) for x in b]
        addend = None if addend is None else flush_denormals(addend)
    operands = [*a, *b] if addend is None else [*a, *b, addend]
    shape = np.broadcast(*operands).shape
    result = np.empty(shape, np.float32) if out is None else out
    a = [np.broadcast_to(x, shape) for x in a]
    b = [np.broadcast_to(x, shape) for x in b]
    addends = [] if addend is None else [np.broadcast_to(addend, shape)]
    with np.errstate(all="ignore"):
        for block in scratch.blocks(shape):
            factors = [(x[block], y[block]) for x, y in zip(a, b, strict=True)]
            _dot(factors, [x[block] for x in addends], zero_times_anything, result[block])
    return result


def _dot(factors: list[tuple[Floats, Floats]], addends: list[Floats], zero_times_anything: bool, out: Floats) -> None:
    terms = scratch.take("dot.terms", (len(factors) + len(addends), *out.shape), np.float64)
    other = scratch.take("dot.other", out.shape, np.float64)
    for term, (x, y) in zip(terms, factors, strict=False):
        np.copyto(term, x)
        np.copyto(other, y)
        np.multiply(term, other, out=term)
    for term, x in zip(terms[len(factors) :], addends, strict=True):
        np.copyto(term, x)
    if zero_times_anything and np.isnan(np.maximum.reduce(terms, axis=None)):
        for term, (x, y) in zip(terms, factors, strict=False):
            annul(term, x, y)
    largest = scratch.take("dot.largest", out.shape, np.float64)
    _largest_magnitude(terms, largest)
    if largest.max() < np.inf:
        _sum_aligned(terms, largest)
    else:
        _sum_special(terms, largest)
    narrow(terms[0], out)


def _largest_magnitude(terms: Doubles, largest: Doubles) -> None:
    magnitude = scratch.take("dot.magnitude", largest.shape, np.float64)
    np.abs(terms[0], out=largest)
    for term in terms[1:]:
        np.abs(term, out=magnitude)
        np.maximum(largest, magnitude, out=largest)


def _sum_aligned(terms: Doubles, largest: Doubles) -> None:
    """Align the finite `terms`, sum them into terms[0]; `largest` is overwritten."""
    np.maximum(largest, _SMALLEST_LARGEST, out=largest)
    # Powers of two are made from exponent fields: 2^(24 - E) here, 2^(E - 24) below.
    bits = largest.view(np.uint64)
    np.bitwise_and(bits, _EXPONENT, out=bits)
    np.subtract(_SCALE, bits, out=bits)
    for term in terms:
        np.multiply(term, largest, out=term)
        np.trunc(term, out=term)
    total = terms[0]
    for term in terms[1:]:
        np.add(total, term, out=total)
    np.subtract(_UNSCALE, bits, out=bits)
    np.multiply(total, largest, out=total)


def _sum_special(terms: Doubles, largest: Doubles) -> None:
    """As `_sum_aligned`, where some terms are infinities or NaNs: those columns are summed by float64's rules."""
    special = ~(largest < np.inf)
    column = terms[0][special]
    for term in terms[1:]:
        column += term[special]
    terms[:, special] = 0.0
    largest[special] = 0.0
    _sum_aligned(terms, largest)
    terms[0][special] = column
