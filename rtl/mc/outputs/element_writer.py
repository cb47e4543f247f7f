"""Elements that a group writes, as bytes of lines."""

from amaranth import Module, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import WORDS
from ctm.rtl.border.lines import LINE_WRITE
from ctm.rtl.isa.limits import CHANNELS, COORDINATE_BITS
from ctm.rtl.lib.rest import Resting
from ctm.rtl.lib.views import record
from ctm.rtl.mc.lines.coalescer import Coalescer
from ctm.rtl.mc.outputs.group_bytes import ELEMENT, GroupElements, LineMerge


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
        self._elements = data.StructLayout({"elements": data.ArrayLayout(ELEMENT, lanes), "passenger": passenger})
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
        busy, group = Signal(), record(self._group)
        touches = coalescer.group
        m.d.comb += [
            self.group.ready.eq(~busy | touches.ready),
            touches.valid.eq(busy),
            touches.payload.passenger.passenger.eq(group.passenger),
            self.idle.eq(~busy & coalescer.idle),
        ]
        with m.If(self.group.ready):
            m.d.sync += [busy.eq(self.group.valid), group.eq(self.group.payload)]
        m.submodules.elements = elements = Resting(GroupElements(self._lanes))
        m.d.comb += [
            elements.wanted.eq(busy),
            *(getattr(elements, name).eq(group[name]) for name in ("buffer", "x", "y", "words", "mask")),
            touches.payload.lines.eq(elements.lines),
            touches.payload.passenger.elements.eq(elements.elements),
            touches.payload.reads.eq(elements.writes),
        ]

        access, line = coalescer.access, self.line
        share = access.payload.passenger
        m.submodules.merge = merge = Resting(LineMerge(self._lanes))
        m.d.comb += [
            merge.wanted.eq(access.valid),
            merge.elements.eq(share.passenger.elements),
            merge.chosen.eq(share.channels),
            line.payload.write.bits.eq(merge.bits),
            line.payload.write.mask.eq(merge.mask),
            line.valid.eq(access.valid),
            access.ready.eq(line.ready),
            line.payload.writes.eq(access.payload.reads),
            line.payload.last.eq(share.last),
            line.payload.passenger.eq(share.passenger.passenger),
            line.payload.write.line.eq(access.payload.line),
        ]
        return m
