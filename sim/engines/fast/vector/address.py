"""Address translation: index pairs to the byte addresses of elements. Source: CTM Guide p. 6, tables 1 and 2."""

from collections.abc import Sequence
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
class BufferParameters:
    """Where a buffer lies, scalars; see `BufferSlot`."""

    memory: Value
    base: Value
    stride: Value
    width_limit: Value
    height_limit: Value
    scale_x: Value
    scale_y: Value


def element_address(lanes: Lanes, form: Form, buffer: BufferParameters, x: Value, y: Value) -> Value:
    """Byte addresses of the elements (x, y), words, as wide as the wider one of them; they wrap at 4 GiB.

    What depends on x and on y is apart until the end, so that a loop computes only that of which changes in it.
    """
    row, from_y = _row(lanes.of(y), form, buffer, y)
    column, from_x = _column(lanes.of(x), form, x)
    wider = lanes.at(max(x.type.count, y.type.count))
    row, from_y, column, from_x = map(wider.spread, (row, from_y, column, from_x))
    # Each bit of the offset is one of x, or of y, or the exclusive OR of both; one above the tile mirrors neighbours.
    return lanes.builder.add(lanes.builder.add(row, column), lanes.builder.xor(from_x, from_y))


def _row(lanes: Lanes, form: Form, buffer: BufferParameters, y: Value) -> tuple[Value, Value]:
    """The byte address of a row of tiles, or of elements, and what y gives of the offset in a tile."""
    builder, base, stride = lanes.builder, lanes.splat(buffer.base), lanes.splat(buffer.stride)
    if not form.is_tiled:
        return builder.add(base, builder.mul(y, stride)), lanes.none
    size_log2 = form.element.element_bytes.bit_length() - 1
    width, height = TILE_LOG2[form.element.element_bytes]
    rows = builder.mul(builder.lshr(y, lanes.integer(height)), stride)
    bits = [(bit, bit + width - 3 + size_log2) for bit in range(height - 3)]
    bits += [(height - 3, 6), (height - 1, 7), (height - 2, 8), (height, 9), (height - 1, 10)]
    return builder.add(base, builder.shl(rows, lanes.integer(_TILE_LOG2_BYTES))), _moved(lanes, y, bits)


def _column(lanes: Lanes, form: Form, x: Value) -> tuple[Value, Value]:
    """How far a column of tiles, or of elements, is from the first one, bytes, and what x gives of the offset."""
    builder, size_log2 = lanes.builder, form.element.element_bytes.bit_length() - 1
    if not form.is_tiled:
        return builder.shl(x, lanes.integer(size_log2)), lanes.none
    width, _ = TILE_LOG2[form.element.element_bytes]
    bits = [(bit, bit + size_log2) for bit in range(width - 3)]
    bits += [(width - 3, 5), (width - 2, 7), (width - 1, 8), (width - 1, 9), (width, 10)]
    tiles = builder.shl(builder.lshr(x, lanes.integer(width)), lanes.integer(_TILE_LOG2_BYTES))
    return tiles, _moved(lanes, x, bits)


def _moved(lanes: Lanes, value: Value, bits: Sequence[tuple[int, int]]) -> Value:
    """Bits of a value at other positions, by pairs (from, to); 0 elsewhere."""
    builder, masks = lanes.builder, dict[int, int]()
    for bit, to in bits:
        masks[to - bit] = masks.get(to - bit, 0) | 1 << to
    result = lanes.none
    for distance, mask in masks.items():
        shift = builder.shl if distance >= 0 else builder.lshr
        moved = shift(value, lanes.integer(abs(distance)))
        result = builder.or_(result, builder.and_(moved, lanes.integer(mask)))
    return result
