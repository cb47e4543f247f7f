"""The draws that the hardware does.

Source: docs/draws.md, faults.
"""

from typing import Any

from amaranth import Cat, Value

from ctm.rtl.vgt.topology import ASSEMBLED

_EXPONENT = slice(23, 31)


def is_beyond(state: Any) -> Value:
    """Whether a draw of this `DRAW_STATE` is one that is not done: by its primitives, its blending or its viewport."""
    raster, scales = state.raster, list(state.viewport.scale)
    kind = Value.cast(raster.primitive)
    is_assembled = kind.matches(*(each.value for each in ASSEMBLED))
    is_endless = Cat(Value.cast(scale)[_EXPONENT].all() for scale in scales).any()
    is_flat = ~Cat(Value.cast(scale)[_EXPONENT].any() for scale in scales[:2]).all()
    found: Value = ~is_assembled | raster.add | (~raster.discard & (is_endless | is_flat))
    return found
