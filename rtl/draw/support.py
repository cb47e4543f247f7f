"""The draws that the hardware does.

Source: docs/draws.md, faults.
"""

from amaranth import Cat, Value
from amaranth.lib import data

from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.vgt.topology import LINES, assembled

_EXPONENT = slice(23, 31)


def is_beyond(state: data.View, program: data.View, *, geometry: bool) -> Value:
    """Whether a draw of this `DRAW_STATE` and `GEOMETRY_PROGRAM` is one that is not done.

    It is so by its primitives or its viewport, or because the hardware has no `geometry` programs.
    """
    raster, scales = state.raster, list(state.viewport.scale)
    kind = Value.cast(raster.primitive)
    is_assembled = kind.matches(*(each.value for each in assembled(geometry=geometry)))
    is_endless = Cat(Value.cast(scale)[_EXPONENT].all() for scale in scales).any()
    is_flat = ~Cat(Value.cast(scale)[_EXPONENT].any() for scale in scales[:2]).all()
    of_vertices = kind.matches(*(each.value for each in LINES)) & ~program.present
    of_emits = (Value.cast(program.output) == PrimitiveType.LINESTRIP.value) & program.present
    draws_lines = of_vertices | of_emits
    found: Value = ~is_assembled | (~raster.discard & (is_endless | is_flat | draws_lines))
    return found if geometry else Value.cast(found | program.present)
