"""The first and last stages of a wavefront's fetch: pairs to addresses, and lines to words.

Source: CTM Guide pp. 5-7, 32-33.
"""

from amaranth import Array, Cat, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, INPUT_WRITE
from ctm.rtl.border.clients import fetch_request_layout, fetch_response_layout
from ctm.rtl.border.lines import LINE_OFFSET_BITS
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS, INPUTS, WORD_BITS
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.ram import DistributedRam
from ctm.rtl.lib.views import record
from ctm.rtl.mc.address import ORIGIN, ElementOrigin, NeighbourAddresses
from ctm.rtl.mc.area import in_page
from ctm.rtl.mc.elements import CONVERSION, POSITION, ElementWords, channel_addresses, conversion, position
from ctm.rtl.mc.lines.cache import result_layout
from ctm.rtl.mc.lines.coalescer import share_layout, touches_layout

_QUEUE = 2


def passenger_layout(lanes: int, tag: ShapeLike) -> data.StructLayout:
    """The passenger of a fetch: what converts its lines to words."""
    return data.StructLayout(
        {
            "tag": tag,
            "format": DataFormat,
            "gathers": 1,
            "absent": 1,
            "positions": data.ArrayLayout(POSITION, lanes * CHANNELS),
        }
    )


class FetchAddresses(wiring.Component):
    """The addresses of the channels of a wavefront's fetches, and the descriptors of what they read.

    Latency is one cycle, throughput one wavefront in each cycle. `ready` does not depend on the next unit's in the same
    cycle. An element's origin is found in front of the queue, addresses after it.

    Members
    -------
    request : ``In(stream.Signature(fetch_request_layout(lanes, tag, areas, memory=memory)))``
    written : ``In(INPUT_WRITE)``
        Only while no request is offered. An input that was not written since the reset is absent.
    areas : ``In(BUFFER)``, `areas` of them, and with `memory` all of memory as one
        Their numbers follow those of the inputs. Stable while requests are offered.
    wavefront : ``Out(stream.Signature(touches_layout(4 * lanes, passenger_layout(lanes, tag))))``
    idle : ``Out(1)``
        The unit is empty.
    """

    def __init__(self, lanes: int, tag: ShapeLike, areas: int = 0, *, memory: bool = False) -> None:
        self._lanes, self._memory = lanes, memory
        request = fetch_request_layout(lanes, tag, areas, memory=memory)
        self._queued = data.StructLayout(
            {"buffer": BUFFER, "origins": data.ArrayLayout(ORIGIN, lanes), "request": request}
        )
        super().__init__(
            {
                "request": In(stream.Signature(request)),
                "written": In(INPUT_WRITE),
                "areas": In(data.ArrayLayout(BUFFER, areas + memory)),
                "wavefront": Out(stream.Signature(touches_layout(lanes * CHANNELS, passenger_layout(lanes, tag)))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.queue = queue = SyncFIFO(width=self._queued.size, depth=_QUEUE)
        entering, queued = Signal(self._queued), self._queued(queue.r_data)
        m.d.comb += [
            Value.cast(entering.buffer).eq(self._descriptor(m)),
            entering.request.eq(self.request.payload),
            queue.w_data.eq(entering),
            queue.w_en.eq(self.request.valid),
            self.request.ready.eq(queue.w_rdy),
            queue.r_en.eq(self.wavefront.ready),
            self.wavefront.valid.eq(queue.r_rdy),
            self.idle.eq(~queue.r_rdy),
        ]

        buffer, request, wavefront = queued.buffer, queued.request, self.wavefront.payload
        absent = buffer.pitch == 0
        lines, positions = [], []
        for lane in range(self._lanes):
            m.submodules[f"origin_{lane}"] = origin = GatedStateless(ElementOrigin())
            m.submodules[f"neighbours_{lane}"] = neighbours = GatedStateless(NeighbourAddresses())
            m.d.comb += [
                origin.wanted.eq(self.request.valid),
                origin.buffer.eq(entering.buffer),
                origin.x.eq(entering.request.x[lane]),
                origin.y.eq(entering.request.y[lane]),
                entering.origins[lane].eq(origin.origin),
                neighbours.wanted.eq(queue.r_rdy),
                neighbours.buffer.eq(buffer),
                neighbours.x.eq(request.x[lane]),
                neighbours.y.eq(request.y[lane]),
                neighbours.origin.eq(queued.origins[lane]),
            ]
            addresses = channel_addresses(m, buffer, neighbours.addresses)
            own = [address[LINE_OFFSET_BITS:] for address in addresses]
            if self._memory:
                own = [in_page(line, request.page[lane]) for line in own]
            lines += own
            positions += [position(address) for address in addresses]
        m.d.comb += [
            Value.cast(wavefront.lines).eq(Cat(lines)),
            wavefront.reads.eq(Mux(absent, 0, Cat(fetches.replicate(CHANNELS) for fetches in request.fetch))),
            wavefront.uncached.eq(request.uncached),
            wavefront.passenger.tag.eq(request.tag),
            wavefront.passenger.format.eq(buffer.format),
            wavefront.passenger.gathers.eq(buffer.gathers),
            wavefront.passenger.absent.eq(absent),
            Value.cast(wavefront.passenger.positions).eq(Cat(positions)),
        ]
        return m

    def _descriptor(self, m: Module) -> Value:
        """The descriptor of what is read. One that is absent has a pitch of 0, and nothing else of it matters."""
        number, written, areas = self.request.payload.input, self.written, list(map(Value.cast, self.areas))
        m.submodules.inputs = inputs = DistributedRam(BUFFER, INPUTS)
        is_set, input_number = Signal(INPUTS), number[: len(written.number)]
        inputs.write(m, written.number, written.buffer, written.valid)
        with m.If(written.valid):
            m.d.sync += is_set.bit_select(written.number, 1).eq(1)
        found = record(BUFFER, name="found")
        m.d.comb += found.eq(inputs.read(m, input_number))
        with m.If(~is_set.bit_select(input_number, 1)):
            m.d.comb += found.pitch.eq(0)
        if not areas:
            return Value.cast(found)
        return Mux(number < INPUTS, Value.cast(found), Array(areas)[number - INPUTS])


class FetchWords(wiring.Component):
    """Selects the channels of a wavefront from its lines, and responds after the last one.

    The response comes two cycles after the wavefront's last line was taken; a line is taken in each cycle.

    Members
    -------
    line : ``In(stream.Signature(result_layout(share_layout(4 * lanes, passenger_layout(lanes, tag)))))``
    response : ``Out(stream.Signature(fetch_response_layout(lanes, tag)))``
    idle : ``Out(1)``
        All responses have been taken.
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
        # The channels gathered so far, and whether they are complete.
        raw = record(data.ArrayLayout(WORD_BITS, self._lanes * CHANNELS), reset_less=True)
        tag, error = Signal(self._passenger["tag"].shape, reset_less=True), Signal()
        # How words are converted is worked out in the cycle in front of it.
        conversions = record(data.ArrayLayout(CONVERSION, self._lanes * CHANNELS), reset_less=True)
        whole, moves = Signal(), Signal()
        m.d.comb += [
            moves.eq(whole & (~self.response.valid | self.response.ready)),
            self.line.ready.eq(~whole | moves),
            self.idle.eq(~whole & ~self.response.valid),
        ]
        takes = self.line.valid & self.line.ready
        with m.If(takes):
            m.d.sync += [tag.eq(share.passenger.tag), Value.cast(conversions).eq(self._conversions(m, share.passenger))]
        with m.If(takes | moves):
            m.d.sync += [
                whole.eq(takes & share.last),
                error.eq((takes & line.error) | (error & ~moves)),
            ]
        for channel, where in enumerate(share.passenger.positions):
            with m.If(takes & share.channels[channel]):
                m.d.sync += raw[channel].eq(line.bits.word_select(where.word, WORD_BITS))

        words = self._converted(m, raw, conversions)
        with m.If(moves | self.response.ready):
            m.d.sync += self.response.valid.eq(moves)
        with m.If(moves):
            m.d.sync += [
                Value.cast(response.words).eq(Cat(words)),
                response.tag.eq(tag),
                response.error.eq(error),
            ]
        return m

    def _conversions(self, m: Module, passenger: data.View) -> Value:
        """How the channels of all lanes follow from their words."""
        return Cat(
            conversion(
                m, number % CHANNELS, Value.cast(passenger.format),
                gathers=passenger.gathers, absent=passenger.absent, upper=where.upper,
            )
            for number, where in enumerate(passenger.positions)
        )  # fmt: skip

    def _converted(self, m: Module, raw: data.View, conversions: data.View) -> list[Value]:
        """The words of each lane."""
        words = []
        for lane in range(self._lanes):
            m.submodules[f"element_{lane}"] = element = ElementWords()
            for channel in range(CHANNELS):
                number = lane * CHANNELS + channel
                m.d.comb += [
                    element.raw[channel].eq(raw[number]),
                    element.conversions[channel].eq(conversions[number]),
                ]
            words.append(Value.cast(element.words))
        return words
