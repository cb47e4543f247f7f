"""What happens to a result between its operation and its register: output modifier, then clamp."""

import numpy as np

from ctm.sim.golden import fp
from ctm.sim.golden.fp.words import Floats, words

OUTPUT_MODIFIERS = (0, 1, 2, 4)
"""For OMOD 0 to 3, times 1, 2, 4 and 1/2, the codes of `fp.output_modifier`."""


def modify(x: Floats, omod: int, clamp: bool, dx10_clamp: bool, clean: bool = False) -> Floats:
    """`x` scaled by OMOD 0 to 3 and then, if `clamp`, clamped to [0, 1]; `x` itself if there is nothing to do.

    Either takes a denormal for a zero. The clamp makes a NaN +0 with `dx10_clamp`, else leaves its bits.
    """
    if omod:
        x = fp.output_modifier(x, OUTPUT_MODIFIERS[omod], clean=clean)
    elif clamp and not clean:
        x = fp.flush_denormals(x)
    return _clamp(x, dx10_clamp) if clamp else x


def _clamp(x: Floats, dx10_clamp: bool) -> Floats:
    result = fp.clamp(x)
    if not dx10_clamp:
        undefined = np.isnan(x)
        if undefined.any():
            words(result)[undefined] = words(x)[undefined]
    return result
