"""Decodes the descriptor of an input, an output or the conditional buffer.

Source: CTM Guide pp. 5-7, 13-22; docs/design/memory-controller.md.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, LIMIT_BITS
from ctm.rtl.isa.commands import ADDRESS
from ctm.rtl.isa.formats import (
    ELEMENTS,
    FORMAT,
    HEIGHT,
    LINEAR_ROW_ALIGNMENT,
    PITCH_UNIT,
    TILE_LOG2,
    Tiling,
)
from ctm.rtl.isa.limits import COORDINATE_LIMIT


def formats_by_size() -> dict[int, tuple[int, ...]]:
    """Element bytes to the codes of the formats that have such elements."""
    sizes = sorted({shape.element_bytes for shape in ELEMENTS.values()})
    return {
        size: tuple(code.value for code, shape in ELEMENTS.items() if shape.element_bytes == size) for size in sizes
    }


class BufferDecoder(wiring.Component):
    """Decodes the parameter words of a set_*_fmt command. Combinational.

    Reserved format codes give any buffer: the command processor checks them.

    Members
    -------
    base, format, height : ``In(32)``
        Parameter words as given; a command without a height has 0 there.
    buffer : ``Out(BUFFER)``
    """

    base: In(ADDRESS)
    format: In(FORMAT)
    height: In(HEIGHT)
    buffer: Out(BUFFER)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        buffer, tiling = self.buffer, Value.cast(self.format.tiling)
        pitch, height = Signal(LIMIT_BITS), Signal(LIMIT_BITS)
        m.d.comb += [
            pitch.eq(Cat(Const(0, PITCH_UNIT.bit_length() - 1), self.format.pitch)),
            height.eq(Mux(self.height.height.any(), self.height.height, COORDINATE_LIMIT)),
            buffer.base.eq(self.base.base),
            buffer.pitch.eq(pitch),
            buffer.height.eq(height),
            buffer.format.eq(self.format.format),
            buffer.tiled.eq(tiling.matches(Tiling.TILED.value, Tiling.TILED_INP_2X2.value)),
            buffer.gathers.eq(tiling.matches(Tiling.LINEAR_INP_2X2.value, Tiling.TILED_INP_2X2.value)),
        ]
        with m.Switch(self.format.format):
            for size, codes in formats_by_size().items():
                unit = (LINEAR_ROW_ALIGNMENT // size).bit_length() - 1
                with m.Case(*codes):
                    m.d.comb += buffer.stride.eq(Mux(buffer.tiled, pitch >> TILE_LOG2[size][0], pitch >> unit))
        return m
