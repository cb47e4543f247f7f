"""Elements that a group writes, as bytes of lines."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from rtl.config import COMBINATIONAL
from rtl.isa.limits import CHANNELS, COORDINATE_BITS
from rtl.mc.address import ElementAddress
from rtl.mc.buffer import BUFFER
from rtl.mc.coalescer import Coalescer
from rtl.mc.elements import ELEMENT_BYTES, LINE_BYTES, WORDS, ElementBytes
from rtl.mc.lines import LINE_OFFSET_BITS, LINE_WRITE

_BYTE_BITS = 8
_BLOCKS = LINE_BYTES // ELEMENT_BYTES
_BLOCK_BITS = (ELEMENT_BYTES - 1).bit_length()


def element_writes_layout(lanes: int, passenger: ShapeLike) -> data.StructLayout:
    """Words of each lane, to be written at its pair as far as the mask says; pairs outside the buffer are dropped."""
    return data.StructLayout(
        {
            "buffer": BUFFER,
            "x": data.ArrayLayout(COORDINATE_BITS + 1, lanes),
            "y": data.ArrayLayout(COORDINATE_BITS, lanes),
            "words": data.ArrayLayout(WORDS, lanes),
            "mask": data.ArrayLayout(CHANNELS, lanes),
            "passenger": passenger,
        }
    )


def group_line_layout(passenger: ShapeLike) -> data.StructLayout:
    """What a group writes into one line; `last` is its last one. Without `writes` it writes nothing at all."""
    return data.StructLayout({"write": LINE_WRITE, "writes": 1, "last": 1, "passenger": passenger})


class ElementWriter(wiring.Component):
    """Converts a group's elements and gathers them by lines, one line in each cycle.

    The first line is offered two cycles after the group was taken. Of two lanes that write the same byte the later one
    wins. A group that writes nothing gives one line without `writes`.

    Members
    -------
    group : ``In(stream.Signature(element_writes_layout(lanes, passenger)))``
    line : ``Out(stream.Signature(group_line_layout(passenger)))``
    idle : ``Out(1)``
        There is no group.
    """

    def __init__(self, lanes: int, passenger: ShapeLike) -> None:
        self._lanes = lanes
        self._group = element_writes_layout(lanes, passenger)
        element = {"offset": LINE_OFFSET_BITS, "bytes": ELEMENT_BYTES * _BYTE_BITS, "mask": ELEMENT_BYTES}
        self._elements = data.StructLayout(
            {"elements": data.ArrayLayout(data.StructLayout(element), lanes), "passenger": passenger}
        )
        super().__init__(
            {
                "group": In(stream.Signature(self._group)),
                "line": Out(stream.Signature(group_line_layout(passenger))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.coalescer = coalescer = Coalescer(self._lanes, self._elements)
        busy, group = Signal(), Signal(self._group)
        touches = coalescer.group
        m.d.comb += [
            self.group.ready.eq(~busy | touches.ready),
            touches.valid.eq(busy),
            touches.payload.passenger.passenger.eq(group.passenger),
            self.idle.eq(~busy & coalescer.idle),
        ]
        with m.If(self.group.ready):
            m.d.sync += [busy.eq(self.group.valid), group.eq(self.group.payload)]
        reads = [self._convert(m, group, touches.payload, lane) for lane in range(self._lanes)]
        m.d.comb += touches.payload.reads.eq(Cat(reads))

        access, line = coalescer.access, self.line
        share = access.payload.passenger
        m.d.comb += [
            line.valid.eq(access.valid),
            access.ready.eq(line.ready),
            line.payload.writes.eq(access.payload.reads),
            line.payload.last.eq(share.last),
            line.payload.passenger.eq(share.passenger.passenger),
            line.payload.write.line.eq(access.payload.line),
        ]
        self._merge(m, share.channels, share.passenger.elements)
        return m

    def _convert(self, m: Module, group: data.View, touches: data.View, lane: int) -> Value:
        """A lane's element: its line, its place there, its bytes. Whether it writes any."""
        m.submodules[f"address_{lane}"] = address = ElementAddress()
        m.submodules[f"bytes_{lane}"] = bytes_ = ElementBytes(COMBINATIONAL)
        x, y, limits = group.x[lane], group.y[lane], group.buffer.limits
        exists = (x < limits.width) & (y < limits.height)
        element = touches.passenger.elements[lane]
        m.d.comb += [
            address.buffer.eq(group.buffer),
            address.x.eq(x),
            address.y.eq(y),
            bytes_.words.eq(group.words[lane]),
            bytes_.mask.eq(Mux(exists, group.mask[lane], 0)),
            bytes_.format.eq(group.buffer.format),
            touches.lines[lane].eq(address.address[LINE_OFFSET_BITS:]),
            element.offset.eq(address.address[:LINE_OFFSET_BITS]),
            element.bytes.eq(bytes_.bytes),
            element.mask.eq(bytes_.byte_mask),
        ]
        return bytes_.byte_mask.any()

    def _merge(self, m: Module, chosen: Value, elements: data.View) -> None:
        """The line's bytes from the elements of the chosen lanes."""
        write = self.line.payload.write
        blocks: list[list[tuple[Value, Value]]] = [[] for _ in range(_BLOCKS)]
        for lane, element in enumerate(elements):
            mask = Signal(ELEMENT_BYTES, name=f"mask_{lane}")
            # Elements are aligned to their size: they are the same or have no byte in common.
            later = (
                Mux(chosen[other] & (elements[other].offset == element.offset), elements[other].mask, 0)
                for other in range(lane + 1, self._lanes)
            )
            m.d.comb += mask.eq(Mux(chosen[lane], element.mask & ~reduce(or_, later, 0), 0))
            gated = element.bytes & Cat(bit.replicate(_BYTE_BITS) for bit in mask)
            bits, place = Signal(ELEMENT_BYTES * _BYTE_BITS, name=f"bits_{lane}"), Signal.like(mask)
            inside = element.offset[1:_BLOCK_BITS]
            m.d.comb += [
                bits.eq((gated << (inside << 4))[: len(bits)]),
                place.eq((mask << (inside << 1))[: len(mask)]),
            ]
            for block, contributions in enumerate(blocks):
                is_own = element.offset[_BLOCK_BITS:] == block
                contributions.append((bits & is_own.replicate(len(bits)), place & is_own.replicate(len(place))))
        m.d.comb += [
            write.bits.eq(Cat(reduce(or_, (bits for bits, _ in block)) for block in blocks)),
            write.mask.eq(Cat(reduce(or_, (place for _, place in block)) for block in blocks)),
        ]
