"""What happens to an operand before and to a result after its operation.

Source: CTM Guide pp. 27, 29.
"""

import numpy as np

from ctm.sim.golden.fp.rounding import canonicalise
from ctm.sim.golden.fp.words import MAGNITUDE, SIGN, SMALLEST_NORMAL, Floats, words

_FACTORS = (1.0, 2.0, 4.0, 8.0, 0.5, 0.25, 0.125)
_INFINITY = np.int32(0x7F80_0000)


def input_modifier(x: Floats, modifier: int, *, out: Floats | None = None) -> Floats:
    """`x`, -`x`, |`x|` or -|`x`| for `modifier` 0 to 3: the sign bit only. `out` may be `x`; modifier 0 returns `x`."""
    if modifier == 0 and out is None:
        return x
    result = np.empty(x.shape, np.float32) if out is None else out
    if modifier == 0:
        np.copyto(words(result), words(x))
    elif modifier == 1:
        np.bitwise_xor(words(x), SIGN, out=words(result))
    elif modifier == 2:
        np.bitwise_and(words(x), MAGNITUDE, out=words(result))
    elif modifier == 3:
        np.bitwise_or(words(x), SIGN, out=words(result))
    else:
        raise ValueError(f"input modifier must be 0..3, not {modifier}")
    return result


def output_modifier(x: Floats, modifier: int, *, clean: bool = False, out: Floats | None = None) -> Floats:
    """`x` times 1, 2, 4, 8, 1/2, 1/4, 1/8 for `modifier` 0 to 6.

    Denormals, before and after, become signed zeros, NaNs 0x7FFFFFFF; overflow gives an infinity. `clean` promises that
    no element is a denormal, as after arithmetic. `out` may be `x`. Modifier 7 copies and is not an operation.
    """
    if not 0 <= modifier < len(_FACTORS):
        raise ValueError(f"output modifier must be 0..6, not {modifier}")
    factor = np.float32(_FACTORS[modifier])
    result = np.empty(x.shape, np.float32) if out is None else out
    if result is not x:
        np.copyto(words(result), words(x))
    if factor > 1 and not clean:
        canonicalise(result)
    if factor < 1:
        # Before scaling: the product could be rounded up on the grid of the denormals.
        limit = SMALLEST_NORMAL / factor
        np.bitwise_and(words(result), SIGN, out=words(result), where=np.abs(result) < limit)
    if factor != 1:
        with np.errstate(all="ignore"):
            np.multiply(result, factor, out=result)
    canonicalise(result)
    return result


def clamp(x: Floats, *, out: Floats | None = None) -> Floats:
    """`x` clamped to [0, 1]: NaN and -0 become +0. `out` may be `x`.

    A positive denormal is copied; results of arithmetic and of the output modifier have none.
    """
    return clamp_to(x, 1.0, out=out)


def clamp_to(x: Floats, largest: float, *, out: Floats | None = None) -> Floats:
    """`x` clamped to [0, `largest`]: NaN and -0 become +0. `out` may be `x`; `largest` is a positive float32 or 0."""
    result = np.empty(x.shape, np.float32) if out is None else out
    source, bits = x.view(np.int32), result.view(np.int32)
    # Integers order floats as long as the sign is plus; minus signs, -0 included, are negative integers.
    np.maximum(source, np.int32(0), out=bits)
    if bits.size and bits.max() > _INFINITY:
        np.copyto(bits, np.int32(0), where=bits > _INFINITY)
    np.minimum(bits, np.float32(largest).view(np.int32), out=bits)
    return result
