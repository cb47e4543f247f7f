"""Address translation: index pairs to the byte addresses of elements. Source: CTM Guide p. 6, tables 1 and 2."""

from dataclasses import dataclass

from ctm.rtl.isa.formats import ELEMENTS, TILE_LOG2, DataFormat, ElementShape
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.mc.buffer import Buffer

_TILE_LOG2_BYTES = 11


@dataclass(frozen=True, kw_only=True)
class Form:
    """What of a buffer code is compiled for."""

    format: DataFormat
    is_tiled: bool
    is_2x2: bool
    is_empty: bool

    @staticmethod
    def of(buffer: Buffer) -> "Form":
        """The form of a buffer."""
        return Form(
            format=buffer.format, is_tiled=buffer.is_tiled, is_2x2=buffer.is_2x2, is_empty=buffer.width_limit == 0
        )

    @property
    def element(self) -> ElementShape:
        """Channels and bytes of an element."""
        return ELEMENTS[self.format]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a buffer lies, scalars; see `BufferSlot`."""

    memory: Value
    base: Value
    stride: Value
    width_limit: Value
    height_limit: Value
    scale_x: Value
    scale_y: Value


def element_address(lanes: Lanes, form: Form, place: Place, x: Value, y: Value) -> Value:
    """Byte addresses of the elements (x, y), words; they wrap at 4 GiB."""
    size_log2 = form.element.element_bytes.bit_length() - 1
    builder, stride = lanes.builder, lanes.splat(place.stride)
    if form.is_tiled:
        offset = _tiled(lanes, form.element.element_bytes, stride, x, y)
    else:
        offset = builder.add(builder.mul(y, stride), builder.shl(x, lanes.integer(size_log2)))
    return builder.add(lanes.splat(place.base), offset)


def _tiled(lanes: Lanes, element_bytes: int, tiles: Value, x: Value, y: Value) -> Value:
    """Offset of an element whose tile row has `tiles` tiles: that of its tile, and inside it."""
    builder = lanes.builder
    width, height = TILE_LOG2[element_bytes]
    size_log2 = element_bytes.bit_length() - 1
    row = builder.lshr(y, lanes.integer(height))
    tile = builder.add(builder.mul(row, tiles), builder.lshr(x, lanes.integer(width)))
    low_x = builder.and_(x, lanes.integer((1 << width - 3) - 1))
    low_y = builder.and_(y, lanes.integer((1 << height - 3) - 1))
    inside = builder.or_(builder.shl(low_y, lanes.integer(width - 3)), low_x)
    address = builder.or_(
        builder.shl(tile, lanes.integer(_TILE_LOG2_BYTES)), builder.shl(inside, lanes.integer(size_log2))
    )

    def moved(value: Value, bit: int, to: int) -> Value:
        """One bit of a value at another place, what is around it not cleared."""
        if bit < to:
            return builder.shl(value, lanes.integer(to - bit))
        return builder.lshr(value, lanes.integer(bit - to))

    # Neighbouring tiles are mirrored: a bit above the tile is part of the exclusive ORs.
    bits = (
        (5, ((x, width - 3),)),
        (6, ((y, height - 3),)),
        (7, ((x, width - 2), (y, height - 1))),
        (8, ((y, height - 2), (x, width - 1))),
        (9, ((x, width - 1), (y, height))),
        (10, ((y, height - 1), (x, width))),
    )
    for to, sources in bits:
        values = [moved(value, bit, to) for value, bit in sources]
        value = values[0] if len(values) == 1 else builder.xor(*values)
        address = builder.or_(address, builder.and_(value, lanes.integer(1 << to)))
    return address
