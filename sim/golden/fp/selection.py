"""Operations that return one operand's bits, and the test of a result against zero.

Comparisons take denormals for zeros; what is returned keeps its bits, denormals and NaN payloads included. `clean`
promises that no operand is a denormal.
Source: CTM Guide pp. 28, 32, 41.
"""

import numpy as np

from ctm.sim.golden.fp.rounding import flush_denormals
from ctm.sim.golden.fp.words import SMALLEST_NORMAL, Floats, Mask, words


def minimum(a: Floats, b: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """A < B ? A : B; so B if either is a NaN or both are zeros. `out` may be an operand."""
    compared_a, compared_b = (a, b) if clean else (flush_denormals(a), flush_denormals(b))
    return choose(compared_a < compared_b, a, b, out)


def maximum(a: Floats, b: Floats, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """A >= B ? A : B, but B if both are zeros; B if either is a NaN. `out` may be an operand."""
    compared_a, compared_b = (a, b) if clean else (flush_denormals(a), flush_denormals(b))
    # Equal operands that are not zeros have the same bits, so > chooses the same as >=.
    return choose(compared_a > compared_b, a, b, out)


def select_above_half(a: Floats, b: Floats, c: Floats, *, out: Floats | None = None) -> Floats:
    """CND: C > 0.5 ? A : B. `out` may be an operand."""
    return choose(c > np.float32(0.5), a, b, out)


def select_not_negative(a: Floats, b: Floats, c: Floats, *, out: Floats | None = None) -> Floats:
    """CMP: C >= 0 ? A : B, where -0 and negative denormals are zeros. `out` may be an operand."""
    return choose(c > -SMALLEST_NORMAL, a, b, out)


def choose(chosen: Mask, a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """`chosen` ? A : B, bit for bit. `out` may be an operand."""
    # b ^ (a ^ b & mask): a masked copy is several times slower where the mask has no pattern.
    result = np.empty(np.broadcast(chosen, a, b).shape, np.float32) if out is None else out
    mask = np.negative(chosen, dtype=np.int32, casting="unsafe").view(np.uint32)
    np.bitwise_xor(words(b), (words(a) ^ words(b)) & mask, out=words(result))
    return result


def test_zero(x: Floats, test: int) -> Mask:
    """`x` == 0, < 0, >= 0 or != 0 for `test` 0 to 3; denormals are zeros, a NaN is != 0 and nothing else."""
    if test == 0:
        return np.abs(x) < SMALLEST_NORMAL
    if test == 1:
        return x <= -SMALLEST_NORMAL
    if test == 2:
        return x > -SMALLEST_NORMAL
    if test == 3:
        return ~(np.abs(x) < SMALLEST_NORMAL)
    raise ValueError(f"test must be 0..3, not {test}")
