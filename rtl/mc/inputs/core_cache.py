"""The first level of the input cache: fetches of one core."""

from amaranth import Module
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, INPUT_WRITE
from ctm.rtl.border.clients import fetch_request_layout, fetch_response_layout
from ctm.rtl.border.lines import TaggedLineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.mc.inputs.fetch import FetchAddresses, FetchWords, passenger_layout
from ctm.rtl.mc.lines.cache import LineCache
from ctm.rtl.mc.lines.coalescer import Coalescer, share_layout

_WAITING = 4
"""Accesses that wait, for each line that may be in flight."""


class InputCache(wiring.Component):
    """Reads inputs for a core, in order and non-blocking.

    A hit takes eight cycles (seven with a short queue), and one more for each further line of a wavefront. Throughput
    is one line in each cycle, so one wavefront if all its channels share a line. A missing line is requested four
    cycles after the request; the response is offered four cycles after the last refill.

    At most `outstanding` refills are in flight. Four times as many accesses wait in the queue, so that hits after a
    miss do not fill it. A fetch has an error if a line of a fetching lane has one. Uncached fetches read their own
    lines.

    Members
    -------
    request : ``In(stream.Signature(fetch_request_layout(lanes, tag, areas, memory=memory)))``
    response : ``Out(stream.Signature(fetch_response_layout(lanes, tag)))``
    written, areas : as those of `FetchAddresses`
        Only while idle.
    lines : ``Out(TaggedLineClient(range(outstanding)))``
    invalidate : ``In(1)``
        Invalidate all lines; only while idle and no request is offered.
    idle : ``Out(1)``
        All responses have been taken.
    hit, miss : ``Out(1)``
        A line hit or missed; uncached ones do not count.

    Attributes
    ----------
    cached
        The lines, for an observer: what is looked up in them.
    """

    def __init__(
        self,
        config: CacheConfig,
        *,
        lanes: int,
        tag: ShapeLike,
        outstanding: int,
        areas: int = 0,
        memory: bool = False,
    ) -> None:
        self._lanes, self._tag, self._areas, self._memory = lanes, tag, areas, memory
        passenger = passenger_layout(lanes, tag)
        self.cached = LineCache(
            config,
            share_layout(lanes * CHANNELS, passenger),
            outstanding=outstanding,
            waiting=_WAITING * outstanding,
        )
        super().__init__(
            {
                "request": In(stream.Signature(fetch_request_layout(lanes, tag, areas, memory=memory))),
                "response": Out(stream.Signature(fetch_response_layout(lanes, tag))),
                "written": In(INPUT_WRITE),
                "areas": In(data.ArrayLayout(BUFFER, areas + memory)),
                "lines": Out(TaggedLineClient(range(outstanding))),
                "invalidate": In(1),
                "idle": Out(1),
                "hit": Out(1),
                "miss": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        channels, passenger = self._lanes * CHANNELS, passenger_layout(self._lanes, self._tag)
        m.submodules.addresses = addresses = FetchAddresses(self._lanes, self._tag, self._areas, memory=self._memory)
        m.submodules.coalescer = coalescer = Coalescer(channels, passenger)
        m.submodules.lines = lines = self.cached
        m.submodules.words = words = FetchWords(self._lanes, self._tag)
        wiring.connect(m, wiring.flipped(self.request), addresses.request)
        wiring.connect(m, addresses.wavefront, coalescer.touches)
        wiring.connect(m, coalescer.access, lines.access)
        wiring.connect(m, lines.result, words.line)
        wiring.connect(m, words.response, wiring.flipped(self.response))
        wiring.connect(m, lines.lines, wiring.flipped(self.lines))
        m.d.comb += [
            addresses.written.eq(self.written),
            addresses.areas.eq(self.areas),
            lines.invalidate.eq(self.invalidate),
            self.idle.eq(addresses.idle & coalescer.idle & lines.idle & words.idle),
            self.hit.eq(lines.hit),
            self.miss.eq(lines.miss),
        ]
        return m
