"""Multiply-add and the operations that are one: fused, one rounding to nearest even.

The product of two float32 is exact in float64; adding rounds to 53 bits, converting rounds again to 24. The second
rounding errs only where the first has made an inexact sum look like a tie, so those sums are moved off the tie first.
Source: CTM Guide pp. 26, 28, 41; docs/arithmetic.md.
"""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.multiplication import annul
from ctm.sim.golden.fp.rounding import canonicalise, flush_denormals, narrow
from ctm.sim.golden.fp.words import DOUBLE_FRACTION_BITS, FRACTION_BITS, AnyArray, Doubles, Floats

_TIE_SHIFT = 64 - (DOUBLE_FRACTION_BITS - FRACTION_BITS)
_TIE = np.iinfo(np.int64).min


def multiply_add(
    a: Floats, b: Floats, c: Floats, *, zero_times_anything: bool, clean: bool = False, out: Floats | None = None
) -> Floats:
    """MAD: a * b + c.

    The shapes of `a`, `b` and `c` broadcast, to at least one dimension. With `zero_times_anything` (US_CONFIG bit 1) a
    zero times an infinity or NaN is a zero. `clean` promises that no operand is a denormal. `out` must not overlap an
    operand.
    """
    if not clean:
        a, b, c = flush_denormals(a), flush_denormals(b), flush_denormals(c)
    shape = np.broadcast(a, b, c).shape
    result = np.empty(shape, np.float32) if out is None else out
    a, b, c = scratch.spread(a, shape), scratch.spread(b, shape), scratch.spread(c, shape)
    with np.errstate(all="ignore"):
        for block in scratch.blocks(shape):
            _multiply_add(a[block], b[block], c[block], zero_times_anything, result[block])
    return result


def _multiply_add(a: Floats, b: Floats, c: Floats, zero_times_anything: bool, out: Floats) -> None:
    product = scratch.take("addition.product", out.shape, np.float64)
    addend = scratch.take("addition.addend", out.shape, np.float64)
    total = scratch.take("addition.total", out.shape, np.float64)
    np.copyto(product, a)
    np.copyto(addend, b)
    np.multiply(product, addend, out=product)
    np.copyto(addend, c)
    np.add(product, addend, out=total)
    if zero_times_anything and np.isnan(np.maximum.reduce(total, axis=None)):
        annul(product, a, b)
        np.add(product, addend, out=total)
    _settle_ties(product, addend, total)
    narrow(total, out)


def _settle_ties(product: Doubles, addend: Doubles, total: Doubles) -> None:
    """Move each inexact `total` that lies between two float32 towards the exact sum, by its last bit."""
    bits = total.view(np.int64)
    tail = scratch.take("addition.tail", total.shape, np.int64)
    np.left_shift(bits, _TIE_SHIFT, out=tail)
    if tail.min() != _TIE:
        return
    error = _rounding_error(product, addend, total)
    inexact = np.nonzero((tail == _TIE) & (error != 0))
    # A float64's magnitude grows with its bits, whatever its sign.
    outward = np.sign(error[inexact]) * np.sign(total[inexact])
    bits[inexact] += outward.astype(np.int64)


def _rounding_error(product: Doubles, addend: Doubles, total: Doubles) -> Doubles:
    """What `total` lacks of the exact sum (Knuth's TwoSum)."""
    partial = scratch.take("addition.partial", total.shape, np.float64)
    error = scratch.take("addition.error", total.shape, np.float64)
    np.subtract(total, product, out=partial)
    np.subtract(addend, partial, out=error)
    np.subtract(total, partial, out=partial)
    np.subtract(product, partial, out=partial)
    np.add(error, partial, out=error)
    return error


def add(a: Floats, b: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """Sum a + b, which is multiply_add(1, a, b); shapes broadcast, `out` may be an operand."""
    if not clean:
        a, b = flush_denormals(a), flush_denormals(b)
    with np.errstate(all="ignore"):
        result: Floats = np.add(a, b, out=_storage(out, a, b))
    # A denormal sum of two float32 is exact, so it never was rounded up to a normal number.
    canonicalise(result)
    return result


def presubtract(
    operation: int, source0: Floats, source1: Floats, *, clean: bool = False, out: Floats | None = None
) -> Floats:
    """srcp: 1 - 2 source0, source1 - source0, source1 + source0 or 1 - source0 for `operation` 0 to 3; p. 26.

    Shapes broadcast; `out` may be a source.
    """
    if not clean:
        source0, source1 = flush_denormals(source0), flush_denormals(source1)
    one = np.float32(1)
    with np.errstate(all="ignore"):
        if operation == 0:
            # Doubling is exact, and where it overflows so would the difference.
            result = np.multiply(source0, np.float32(-2), out=_storage(out, source0))
            np.add(result, one, out=result)
        elif operation == 1:
            result = np.subtract(source1, source0, out=_storage(out, source0, source1))
        elif operation == 2:
            result = np.add(source1, source0, out=_storage(out, source0, source1))
        elif operation == 3:
            result = np.subtract(one, source0, out=_storage(out, source0))
        else:
            raise ValueError(f"presubtract operation must be 0..3, not {operation}")
    canonicalise(result)
    return result


def _storage(out: Floats | None, *operands: AnyArray) -> Floats:
    """An array, never a scalar: numpy gives scalars for operands without dimensions."""
    return np.empty(np.broadcast(*operands).shape, np.float32) if out is None else out
