"""Lookups of a group: what a core asks and gets, and their first and last steps, at pairs and at words.

Source: CTM Guide pp. 5-7, 32-33.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import fetch_request_layout, fetch_response_layout
from ctm.rtl.border.lines import LINE_OFFSET_BITS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS, INPUTS, WORD_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.views import record
from ctm.rtl.mc.address import NeighbourAddresses
from ctm.rtl.mc.elements import PLACE, ElementWords, channel_addresses, place
from ctm.rtl.mc.lines.cache import result_layout
from ctm.rtl.mc.lines.coalescer import share_layout, touches_layout

_QUEUE = 2


def passenger_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    """What a group's words are made with once its lines are there."""
    return data.StructLayout(
        {
            "tag": tag,
            "format": DataFormat,
            "gathers": 1,
            "absent": 1,
            "places": data.ArrayLayout(PLACE, lanes * CHANNELS),
        }
    )


class LookupAddresses(wiring.Component):
    """Where in memory the channels of a group's lookups are.

    A group is offered in the cycle after its request was taken, and one in each cycle. Readiness does not depend on
    what follows in the same cycle.

    Members
    -------
    request : ``In(stream.Signature(fetch_request_layout(lanes, tag, areas)))``
    inputs : ``In(BUFFER)``, 16 of them, behind them `areas` areas
        Stable while requests are offered.
    group : ``Out(stream.Signature(touches_layout(4 * lanes, passenger_layout(lanes, tag))))``
    idle : ``Out(1)``
        There is no group.
    """

    def __init__(self, lanes: int, tag: ShapeLike, areas: int = 0) -> None:
        self._lanes = lanes
        request = fetch_request_layout(lanes, tag, areas)
        self._queued = data.StructLayout({"buffer": BUFFER, "request": request})
        super().__init__(
            {
                "request": In(stream.Signature(request)),
                "inputs": In(data.ArrayLayout(BUFFER, INPUTS + areas)),
                "group": Out(stream.Signature(touches_layout(lanes * CHANNELS, passenger_layout(lanes, tag)))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.queue = queue = SyncFIFO(width=self._queued.size, depth=_QUEUE)
        entering, queued = Signal(self._queued), self._queued(queue.r_data)
        m.d.comb += [
            # Indexing the layout would be a shifter.
            Value.cast(entering.buffer).eq(Array(map(Value.cast, self.inputs))[self.request.payload.input]),
            entering.request.eq(self.request.payload),
            queue.w_data.eq(entering),
            queue.w_en.eq(self.request.valid),
            self.request.ready.eq(queue.w_rdy),
            queue.r_en.eq(self.group.ready),
            self.group.valid.eq(queue.r_rdy),
            self.idle.eq(~queue.r_rdy),
        ]

        buffer, request, group = queued.buffer, queued.request, self.group.payload
        absent = buffer.limits.width == 0
        lines, places = [], []
        for lane in range(self._lanes):
            m.submodules[f"neighbours_{lane}"] = neighbours = GatedStateless(NeighbourAddresses())
            m.d.comb += [
                neighbours.wanted.eq(queue.r_rdy),
                neighbours.buffer.eq(buffer),
                neighbours.x.eq(request.x[lane]),
                neighbours.y.eq(request.y[lane]),
            ]
            addresses = channel_addresses(m, buffer, neighbours.addresses)
            lines += [address[LINE_OFFSET_BITS:] for address in addresses]
            places += [place(address) for address in addresses]
        m.d.comb += [
            Value.cast(group.lines).eq(Cat(lines)),
            group.reads.eq(Mux(absent, 0, Cat(fetches.replicate(CHANNELS) for fetches in request.fetch))),
            group.uncached.eq(request.uncached),
            group.passenger.tag.eq(request.tag),
            group.passenger.format.eq(buffer.format),
            group.passenger.gathers.eq(buffer.gathers),
            group.passenger.absent.eq(absent),
            Value.cast(group.passenger.places).eq(Cat(places)),
        ]
        return m


class LookupWords(wiring.Component):
    """Picks the channels of a group from its lines, and answers when the last one is there.

    An answer comes two cycles after the group's last line was taken; a line is taken in each cycle.

    Members
    -------
    line : ``In(stream.Signature(result_layout(share_layout(4 * lanes, passenger_layout(lanes, tag)))))``
    response : ``Out(stream.Signature(fetch_response_layout(lanes, tag)))``
    idle : ``Out(1)``
        All answers have been taken.
    """

    def __init__(self, lanes: int, tag: ShapeLike) -> None:
        self._lanes = lanes
        self._passenger = passenger_layout(lanes, tag)
        super().__init__(
            {
                "line": In(stream.Signature(result_layout(share_layout(lanes * CHANNELS, self._passenger)))),
                "response": Out(stream.Signature(fetch_response_layout(lanes, tag))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        line, share, response = self.line.payload, self.line.payload.passenger, self.response.payload
        # What is gathered of a group, and whether that is all of it.
        raw = record(data.ArrayLayout(WORD_BITS, self._lanes * CHANNELS), reset_less=True)
        passenger, error = record(self._passenger, reset_less=True), Signal()
        whole, moves = Signal(), Signal()
        m.d.comb += [
            moves.eq(whole & (~self.response.valid | self.response.ready)),
            self.line.ready.eq(~whole | moves),
            self.idle.eq(~whole & ~self.response.valid),
        ]
        takes = self.line.valid & self.line.ready
        with m.If(takes):
            m.d.sync += passenger.eq(share.passenger)
        with m.If(takes | moves):
            m.d.sync += [
                whole.eq(takes & share.last),
                error.eq((takes & line.error) | (error & ~moves)),
            ]
        for channel, where in enumerate(share.passenger.places):
            with m.If(takes & share.channels[channel]):
                m.d.sync += raw[channel].eq(line.bits.word_select(where.word, WORD_BITS))

        words = self._converted(m, raw, passenger)
        with m.If(moves | self.response.ready):
            m.d.sync += self.response.valid.eq(moves)
        with m.If(moves):
            m.d.sync += [
                Value.cast(response.words).eq(Cat(words)),
                response.tag.eq(passenger.tag),
                response.error.eq(error),
            ]
        return m

    def _converted(self, m: Module, raw: data.View, passenger: data.View) -> list[Value]:
        """The words of each lane."""
        words = []
        for lane in range(self._lanes):
            m.submodules[f"element_{lane}"] = element = ElementWords()
            for channel in range(CHANNELS):
                number = lane * CHANNELS + channel
                m.d.comb += [
                    element.raw[channel].eq(raw[number]),
                    element.upper[channel].eq(passenger.places[number].upper),
                ]
            m.d.comb += [
                element.format.eq(passenger.format),
                element.gathers.eq(passenger.gathers),
                element.absent.eq(passenger.absent),
            ]
            words.append(Value.cast(element.words))
        return words
