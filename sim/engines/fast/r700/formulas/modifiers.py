"""What happens to a result between its operation and its register: output modifier, then clamp."""

from ctm.sim.engines.fast.vector import selection
from ctm.sim.engines.fast.vector.lanes import Lanes, Value

_FACTORS = (1.0, 2.0, 4.0, 0.5)


def modify(lanes: Lanes, words: Value, omod: int, *, clamp: bool, dx10_clamp: bool) -> Value:
    """Words that have the machine's NaN where arithmetic made one, scaled by OMOD 0 to 3 and then, if `clamp`, clamped.

    The clamp takes a denormal for a zero, and makes a NaN +0 with `dx10_clamp`, else leaves its bits.
    """
    value = lanes.as_floats(words)
    if omod:
        value = selection.canonical(lanes, lanes.builder.fmul(value, lanes.single(_FACTORS[omod])))
    elif clamp:
        value = selection.flushed(lanes, value)
    if clamp:
        clamped = selection.clamp(lanes, value)
        undefined = lanes.builder.fcmp_unordered("uno", value, value)
        value = clamped if dx10_clamp else lanes.choose(undefined, value, clamped)
    return lanes.words(value)
