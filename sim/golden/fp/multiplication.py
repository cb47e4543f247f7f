"""Products rounded by themselves: a * b, and a * b + c with two roundings.

A float32 product is the machine's own, but for the grid of the denormals: where it comes out there, or as 2^-126, which
it may have been rounded up to, the exact product in float64 decides. Source: docs/arithmetic.md.
"""

import numpy as np

from ctm.sim.golden.fp import scratch
from ctm.sim.golden.fp.rounding import canonicalise, canonicalise_nan, find_small, flush_denormals, settle_small
from ctm.sim.golden.fp.words import Doubles, Floats


def multiply(
    a: Floats,
    b: Floats | np.float32,
    *,
    zero_times_anything: bool,
    clean: bool = False,
    out: Floats | None = None,
) -> Floats:
    """Product a * b, rounded once; a zero keeps the sign of the product, which multiply_add with +0 would not.

    Shapes broadcast. With `zero_times_anything` a zero times an infinity or NaN is a zero. `clean` promises that no
    operand is a denormal. `out` must not overlap an operand.
    """
    b = np.asarray(b, np.float32)
    if not clean:
        a, b = flush_denormals(a), flush_denormals(b)
    shape = np.broadcast(a, b).shape
    result = np.empty(shape, np.float32) if out is None else out
    a, b = scratch.spread(a, shape), scratch.spread(b, shape)
    with np.errstate(all="ignore"):
        for block in scratch.blocks(shape):
            section = result[block]
            _multiply(a[block], b[block], zero_times_anything, section)
            canonicalise_nan(section)
    return result


def multiply_then_add(
    a: Floats, b: Floats, c: Floats, *, zero_times_anything: bool, clean: bool = False, out: Floats | None = None
) -> Floats:
    """Sum a * b + c, not fused: the product is rounded, and then the sum.

    The product is a result like any other, so it may overflow, and a denormal one is a zero. Shapes,
    `zero_times_anything`, `clean` and `out` are as in `multiply`.
    """
    if not clean:
        a, b, c = flush_denormals(a), flush_denormals(b), flush_denormals(c)
    shape = np.broadcast(a, b, c).shape
    result = np.empty(shape, np.float32) if out is None else out
    a, b, c = scratch.spread(a, shape), scratch.spread(b, shape), scratch.spread(c, shape)
    with np.errstate(all="ignore"):
        for block in scratch.blocks(shape):
            section = result[block]
            _multiply(a[block], b[block], zero_times_anything, section)
            np.add(section, c[block], out=section)
            # A denormal sum of two float32 is exact, so it never was rounded up to a normal number.
            canonicalise(section)
    return result


def _multiply(a: Floats, b: Floats, zero_times_anything: bool, out: Floats) -> None:
    """The product, whose NaNs may be any."""
    np.multiply(a, b, out=out)
    small = find_small(out)
    if small is not None:
        settle_small(out, small, np.multiply(a[small], b[small], dtype=np.float64))
    if zero_times_anything and np.isnan(np.maximum.reduce(out, axis=None)):
        annul(out, a, b)


def annul(product: Floats | Doubles, a: Floats, b: Floats) -> None:
    """Make the NaNs in `product` that come of a zero operand zeros, signed as the product of `a` and `b` is."""
    zero = np.isnan(product) & ((a == 0) | (b == 0))
    signed = np.where(np.signbit(a) ^ np.signbit(b), np.float32(-0.0), np.float32(0.0))
    np.copyto(product, signed, where=zero)
