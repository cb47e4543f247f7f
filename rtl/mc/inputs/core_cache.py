"""The first level of the input cache: lookups of one core."""

from amaranth import Module
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER
from ctm.rtl.border.clients import fetch_request_layout, fetch_response_layout
from ctm.rtl.border.lines import TaggedLineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.isa.limits import CHANNELS, INPUTS
from ctm.rtl.mc.inputs.lookup import LookupAddresses, LookupWords, passenger_layout
from ctm.rtl.mc.lines.cache import LineCache
from ctm.rtl.mc.lines.coalescer import Coalescer, share_layout

_WAITING = 4
"""Accesses that wait, for each line that may be under way."""


class InputCache(wiring.Component):
    """Reads inputs for a core, in order, without waiting for one lookup before it starts the next.

    An answer is offered seven cycles after the request, if all lines are there (six with a short queue); of a group
    with several lines, one later for each more. One line, and so one group whose channels share a line, is served in
    each cycle. At most `outstanding` lines are asked for and have not come, and four times as many accesses to lines
    wait, for their own or for another's, so that lookups that hit behind one that misses do not fill the queue. A line
    is asked for three cycles after the request; the answer is offered four cycles after the last line has come.

    A lookup is refused if memory refused a line that a fetching lane needs. Uncached lookups read lines of their own.

    Members
    -------
    request : ``In(stream.Signature(fetch_request_layout(lanes, tag, areas)))``
    response : ``Out(stream.Signature(fetch_response_layout(lanes, tag)))``
    inputs : ``In(BUFFER)``, 16 of them, behind them `areas` areas
        Only to be changed while idle.
    lines : ``Out(TaggedLineClient(range(outstanding)))``
    invalidate : ``In(1)``
        Forget all lines; only while idle and no request is offered.
    idle : ``Out(1)``
        All answers have been taken.
    hit, miss : ``Out(1)``
        A line was looked for in the cache, and found or not; uncached ones are not looked for.
    """

    def __init__(self, config: CacheConfig, *, lanes: int, tag: ShapeLike, outstanding: int, areas: int = 0) -> None:
        self._config, self._lanes, self._tag, self._outstanding, self._areas = config, lanes, tag, outstanding, areas
        super().__init__(
            {
                "request": In(stream.Signature(fetch_request_layout(lanes, tag, areas))),
                "response": Out(stream.Signature(fetch_response_layout(lanes, tag))),
                "inputs": In(data.ArrayLayout(BUFFER, INPUTS + areas)),
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
        m.submodules.addresses = addresses = LookupAddresses(self._lanes, self._tag, self._areas)
        m.submodules.coalescer = coalescer = Coalescer(channels, passenger)
        m.submodules.lines = lines = LineCache(
            self._config,
            share_layout(channels, passenger),
            outstanding=self._outstanding,
            waiting=_WAITING * self._outstanding,
        )
        m.submodules.words = words = LookupWords(self._lanes, self._tag)
        wiring.connect(m, wiring.flipped(self.request), addresses.request)
        wiring.connect(m, addresses.group, coalescer.group)
        wiring.connect(m, coalescer.access, lines.access)
        wiring.connect(m, lines.result, words.line)
        wiring.connect(m, words.response, wiring.flipped(self.response))
        wiring.connect(m, lines.lines, wiring.flipped(self.lines))
        m.d.comb += [
            addresses.inputs.eq(self.inputs),
            lines.invalidate.eq(self.invalidate),
            self.idle.eq(addresses.idle & coalescer.idle & lines.idle & words.idle),
            self.hit.eq(lines.hit),
            self.miss.eq(lines.miss),
        ]
        return m
