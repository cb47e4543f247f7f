"""The distinct lines that the channels of a group touch, one after the other."""

from functools import reduce
from operator import or_

from amaranth import Cat, Module, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.lib.encoding import lowest_one
from ctm.rtl.mc.lines.cache import access_layout


def touches_layout(channels: int, passenger: ShapeLike) -> data.StructLayout:
    """What a group reads: of each of its channels a line, where `reads` says so."""
    return data.StructLayout(
        {
            "lines": data.ArrayLayout(LINE_ADDRESS_BITS, channels),
            "reads": channels,
            "uncached": 1,
            "passenger": passenger,
        }
    )


def share_layout(channels: int, passenger: ShapeLike) -> data.StructLayout:
    """What goes with a line: which channels it is for, and whether it is the group's last one."""
    return data.StructLayout({"channels": channels, "last": 1, "passenger": passenger})


class Coalescer(wiring.Component):
    """Turns a group's reads into accesses to lines: one for each distinct line, for all channels in it together.

    A group's first access is offered in the cycle after the group was taken, and one in each cycle from then on; the
    next group is taken with the last one. A group that reads nothing gives one access that reads nothing.

    Members
    -------
    group : ``In(stream.Signature(touches_layout(channels, passenger)))``
    access : ``Out(stream.Signature(access_layout(share_layout(channels, passenger))))``
    idle : ``Out(1)``
        There is no group.
    """

    def __init__(self, channels: int, passenger: ShapeLike) -> None:
        self._touches = touches_layout(channels, passenger)
        super().__init__(
            {
                "group": In(stream.Signature(self._touches)),
                "access": Out(stream.Signature(access_layout(share_layout(channels, passenger)))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # The group's `reads` are those that are left.
        busy, group = Signal(), Signal(self._touches)
        access = self.access.payload
        matching, left, last = Signal.like(group.reads), Signal.like(group.reads), Signal()
        first = lowest_one(group.reads)
        chosen = (line & reads.replicate(LINE_ADDRESS_BITS) for line, reads in zip(group.lines, first, strict=True))
        m.d.comb += [
            access.line.eq(reduce(or_, chosen)),
            matching.eq(Cat(line == access.line for line in group.lines) & group.reads),
            left.eq(group.reads & ~matching),
            last.eq(~left.any()),
            access.reads.eq(group.reads.any()),
            access.uncached.eq(group.uncached),
            access.passenger.channels.eq(matching),
            access.passenger.last.eq(last),
            access.passenger.passenger.eq(group.passenger),
            self.access.valid.eq(busy),
            self.group.ready.eq(~busy | (self.access.ready & last)),
            self.idle.eq(~busy),
        ]
        with m.If(self.group.ready):
            m.d.sync += busy.eq(self.group.valid)
        with m.If(self.group.ready & self.group.valid):
            m.d.sync += group.eq(self.group.payload)
        with m.Elif(self.access.ready):
            m.d.sync += group.reads.eq(left)
        return m
