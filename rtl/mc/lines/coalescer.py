"""Coalesces the accesses of several channels: one access for each distinct line.

A channel is what reads one element or writes one: a channel of a lane in fetches, a lane in writes.
"""

from functools import reduce
from itertools import combinations
from operator import or_

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_ADDRESS_BITS
from ctm.rtl.lib.encoding import lowest_one
from ctm.rtl.lib.views import record
from ctm.rtl.mc.lines.cache import access_layout


def touches_layout(channels: int, passenger: ShapeLike) -> data.StructLayout:
    """The lines that the channels in `reads` access, one for each channel."""
    return data.StructLayout(
        {
            "lines": data.ArrayLayout(LINE_ADDRESS_BITS, channels),
            "reads": channels,
            "uncached": 1,
            "passenger": passenger,
        }
    )


def share_layout(channels: int, passenger: ShapeLike) -> data.StructLayout:
    """The passenger of an access: the channels that share the line, and the input's passenger.

    `last`: it is the input's last access.
    """
    return data.StructLayout({"channels": channels, "last": 1, "passenger": passenger})


_COMPARED_IN_PAIRS = 4
"""Most channels of which every pair is compared."""


class Coalescer(wiring.Component):
    """Converts the reads of several channels to accesses to lines: one for each distinct line.

    The first access is offered in the cycle after the input was taken, and one in each cycle from then on; the next
    input is taken with the last access. An input that reads nothing gives one access that reads nothing. Accesses are
    in the order of the inputs; those of one input are in the order of the lowest channel of each line.

    Members
    -------
    touches : ``In(stream.Signature(touches_layout(channels, passenger)))``
    access : ``Out(stream.Signature(access_layout(share_layout(channels, passenger))))``
    idle : ``Out(1)``
        The unit is empty.
    """

    def __init__(self, channels: int, passenger: ShapeLike) -> None:
        self._touches = touches_layout(channels, passenger)
        super().__init__(
            {
                "touches": In(stream.Signature(self._touches)),
                "access": Out(stream.Signature(access_layout(share_layout(channels, passenger)))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # `reads` are the remaining ones.
        busy, touches = Signal(), record(self._touches)
        access = self.access.payload
        matching, remaining, last = Signal.like(touches.reads), Signal.like(touches.reads), Signal()
        first = lowest_one(touches.reads)
        chosen = (line & reads.replicate(LINE_ADDRESS_BITS) for line, reads in zip(touches.lines, first, strict=True))
        matching_line, last_line = self._matching(m, touches, first, access.line)
        m.d.comb += [
            access.line.eq(reduce(or_, chosen)),
            matching.eq(matching_line & touches.reads),
            remaining.eq(touches.reads & ~matching),
            last.eq(~remaining.any() if last_line is None else last_line),
            access.reads.eq(touches.reads.any()),
            access.uncached.eq(touches.uncached),
            access.passenger.channels.eq(matching),
            access.passenger.last.eq(last),
            access.passenger.passenger.eq(touches.passenger),
            self.access.valid.eq(busy),
            self.touches.ready.eq(~busy | (self.access.ready & last)),
            self.idle.eq(~busy),
        ]
        with m.If(self.touches.ready):
            m.d.sync += busy.eq(self.touches.valid)
        with m.If(self.touches.ready & self.touches.valid):
            m.d.sync += touches.eq(self.touches.payload)
        with m.Elif(self.access.ready):
            m.d.sync += touches.reads.eq(remaining)
        return m

    @staticmethod
    def _matching(m: Module, touches: data.View, first: Value, line: Value) -> tuple[Value, Value | None]:
        """The channels whose line is that of the first one that reads, and whether all that read share one line.

        Few channels are compared in pairs, which does not wait for the choice; of many that would be too many pairs.
        """
        lines, reads = touches.lines, touches.reads
        if len(lines) > _COMPARED_IN_PAIRS:
            return Cat(own == line for own in lines), None
        same = {pair: Signal(name=f"same_{pair[0]}_{pair[1]}") for pair in combinations(range(len(lines)), 2)}
        m.d.comb += [each.eq(lines[one] == lines[other]) for (one, other), each in same.items()]
        matching = (
            first[own] | reduce(or_, (first[one] & same[one, own] for one in range(own)), Const(0))
            for own in range(len(lines))
        )
        return Cat(matching), Cat(each | ~(reads[one] & reads[other]) for (one, other), each in same.items()).all()
