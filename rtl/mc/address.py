"""Address translation: an index pair to the byte address of its element, and to those of its neighbours.

The row's product is the only multiplication; all else is multiplexers and sums, of 27 bits at most. Addresses
are counted in units of 32 bytes, in which both of the manual's tables are sums; the bits inside a tile are inserted
after the sum.
Source: CTM Guide p. 6, tables 1 and 2. Addresses wrap at 4 GiB.
"""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, STRIDE_BITS, limits_of
from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, TILE_LOG2
from ctm.rtl.isa.limits import ADDRESS_BITS, CHANNELS, COORDINATE_BITS
from ctm.rtl.mc.buffer import formats_by_size

ROW_OFFSET_BITS = COORDINATE_BITS + STRIDE_BITS
_UNIT_BITS = LINEAR_ROW_ALIGNMENT.bit_length() - 1
_UPPER_BITS = ADDRESS_BITS - _UNIT_BITS
_TILE_UNIT_BITS = 6
"""Log2 of the units of 32 bytes in a tile."""

NEIGHBOURS = ((1, 0), (0, 1), (1, 1), (0, 0))
"""Steps right and up to the elements that a fetch in 2x2 mode puts into channels 0 to 3; p. 6."""
OWN = NEIGHBOURS.index((0, 0))
"""The index of the element itself among them."""


class ElementAddress(wiring.Component):
    """The byte address of an element. Combinational.

    Members
    -------
    buffer : ``In(BUFFER)``
    x, y : ``In(12)``
    address : ``Out(32)``
    """

    buffer: In(BUFFER)
    x: In(COORDINATE_BITS)
    y: In(COORDINATE_BITS)
    address: Out(ADDRESS_BITS)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        product = Signal(ROW_OFFSET_BITS)
        m.d.comb += product.eq(_row(m, self.buffer, self.y) * self.buffer.stride)
        m.d.comb += self.address.eq(_address(m, self.buffer, _start(m, self.buffer, product), self.x, self.y))
        return m


ORIGIN = data.StructLayout({"offset": ROW_OFFSET_BITS, "is_last_column": 1, "is_last_row": 1})
"""Of an element: its row, or row of tiles, times the stride; and whether its column and its row are the last ones."""


class ElementOrigin(wiring.Component):
    """What the `NeighbourAddresses` of an element begin with. Combinational.

    Members
    -------
    buffer : ``In(BUFFER)``
    x, y : ``In(12)``
        Inside the buffer's limits.
    origin : ``Out(ORIGIN)``
    """

    buffer: In(BUFFER)
    x: In(COORDINATE_BITS)
    y: In(COORDINATE_BITS)
    origin: Out(ORIGIN)

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        limits = limits_of(self.buffer)
        m.d.comb += [
            self.origin.offset.eq(_row(m, self.buffer, self.y) * self.buffer.stride),
            self.origin.is_last_column.eq(self.x + 1 == limits.width),
            self.origin.is_last_row.eq(self.y + 1 == limits.height),
        ]
        return m


class NeighbourAddresses(wiring.Component):
    """The byte addresses that a fetch in 2x2 mode reads: (x+1, y), (x, y+1), (x+1, y+1), (x, y), each clamped.

    The last one is the element's own. No multiplier is needed: the row above starts one stride after that of `origin`,
    or is in the same row of tiles. Combinational.

    Members
    -------
    buffer : ``In(BUFFER)``
    x, y : ``In(12)``
    origin : ``In(ORIGIN)``
        The `ElementOrigin` of the element.
    addresses : ``Out(32)``, four in the order of the channels that they go to
    """

    buffer: In(BUFFER)
    x: In(COORDINATE_BITS)
    y: In(COORDINATE_BITS)
    origin: In(ORIGIN)
    addresses: Out(data.ArrayLayout(ADDRESS_BITS, CHANNELS))

    latency = 0

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        buffer, origin = self.buffer, self.origin
        right, up = (Signal(COORDINATE_BITS, name=name) for name in ("right", "up"))
        own_row, up_row = _row(m, buffer, self.y), _row(m, buffer, up)
        up_offset = Signal(ROW_OFFSET_BITS)
        m.d.comb += [
            right.eq(self.x + ~origin.is_last_column),
            up.eq(self.y + ~origin.is_last_row),
            up_offset.eq(origin.offset + Mux(own_row[0] != up_row[0], buffer.stride, 0)),
        ]
        starts = (_start(m, buffer, origin.offset), _start(m, buffer, up_offset))
        rows, columns = ((starts[0], self.y), (starts[1], up)), (self.x, right)
        for channel, (step_right, step_up) in enumerate(NEIGHBOURS):
            address = _address(m, buffer, rows[step_up][0], columns[step_right], rows[step_up][1])
            m.d.comb += self.addresses[channel].eq(address)
        return m


def _row(m: Module, buffer: data.View, y: Value) -> Signal:
    """The factor of the stride: the row, or the row of tiles."""
    row = Signal(COORDINATE_BITS, name="row")
    m.d.comb += row.eq(y)
    with m.If(buffer.tiled), m.Switch(buffer.format):
        for size, codes in formats_by_size().items():
            with m.Case(*codes):
                m.d.comb += row.eq(y >> TILE_LOG2[size][1])
    return row


def _start(m: Module, buffer: data.View, product: Value) -> Signal:
    """The start, in units, of a row or row of tiles that is `product` units or tiles after the base."""
    start = Signal(_UPPER_BITS, name="start")
    rows = Mux(buffer.tiled, Cat(Const(0, _TILE_UNIT_BITS), product), product)
    m.d.comb += start.eq(rows + Cat(Const(0, _TILE_UNIT_BITS), buffer.base))
    return start


def _address(m: Module, buffer: data.View, start: Value, x: Value, y: Value) -> Value:
    """The address of (x, y), whose row or row of tiles starts at unit `start`."""
    column, inside = Signal(_UPPER_BITS, name="column"), Signal(_TILE_UNIT_BITS, name="inside")
    lower = Signal(_UNIT_BITS, name="lower")
    with m.Switch(buffer.format):
        for size, codes in formats_by_size().items():
            scaled, offset = Cat(Const(0, size.bit_length() - 1), x), _tile_offset(size, x, y)
            with m.Case(*codes):
                with m.If(buffer.tiled):
                    m.d.comb += [
                        column.eq(Cat(Const(0, _TILE_UNIT_BITS), x[TILE_LOG2[size][0] :])),
                        inside.eq(offset[_UNIT_BITS:]),
                        lower.eq(offset[:_UNIT_BITS]),
                    ]
                with m.Else():
                    m.d.comb += [column.eq(scaled[_UNIT_BITS:]), lower.eq(scaled[:_UNIT_BITS])]
    upper = Signal(_UPPER_BITS, name="upper")
    # In a tiled buffer all terms of the sum are whole tiles.
    m.d.comb += upper.eq((start + column)[:_UPPER_BITS] | inside)
    return Cat(lower, upper)


def _tile_offset(size: int, x: Value, y: Value) -> Value:
    """Byte offset inside a tile of elements of `size` bytes; p. 6, table 2."""
    width, height = TILE_LOG2[size]
    return Cat(
        Const(0, size.bit_length() - 1),
        x[: width - 3],
        y[: height - 3],
        x[width - 3],
        y[height - 3],
        x[width - 2] ^ y[height - 1],
        y[height - 2] ^ x[width - 1],
        x[width - 1] ^ y[height],
        y[height - 1] ^ x[width],
    )
