"""The second level of the input cache: lines for the first levels of all cores."""

from amaranth import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_REQUEST, LineClient
from ctm.rtl.config import CacheConfig
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.mc.lines.cache import LineCache


class SharedCache(wiring.Component):
    """Reads lines for several requesters, who take turns; one line in each cycle.

    A line that is there comes two cycles after its request, and a line that another requester waits for is not asked
    for again. All answers come in the order in which the requests were taken, so that a line that is there may have to
    wait for another requester's that is not. Beyond that all is as in `LineCache`: at most `outstanding` lines are
    asked for and have not come, refused lines are refused to all who wait for them, uncached ones are always asked for.

    Members
    -------
    clients : ``In(LineClient(always_ready=True))``, `requesters` of them
    lines : ``Out(LineClient(always_ready=True))``
    invalidate : ``In(1)``
        Forget all lines; only while idle and no request is offered.
    idle : ``Out(1)``
        All answers have been given.
    hit, miss : ``Out(1)``
        A line, not an uncached one, was found, or was not.
    """

    def __init__(self, config: CacheConfig, *, requesters: int, outstanding: int) -> None:
        if requesters < 1:
            raise ValueError(f"requesters must be at least 1, not {requesters}")
        self._config, self._requesters, self._outstanding = config, requesters, outstanding
        super().__init__(
            {
                "clients": In(LineClient(always_ready=True)).array(requesters),
                "lines": Out(LineClient(always_ready=True)),
                "invalidate": In(1),
                "idle": Out(1),
                "hit": Out(1),
                "miss": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.arbiter = arbiter = Arbiter(LINE_REQUEST, self._requesters)
        requester = range(self._requesters)
        m.submodules.lines = lines = LineCache(self._config, requester, outstanding=self._outstanding)
        for number, client in enumerate(self.clients):
            wiring.connect(m, wiring.flipped(client.request), arbiter.inputs[number])
        wiring.connect(m, lines.lines, wiring.flipped(self.lines))

        access, asked, result = lines.access, arbiter.output, lines.result
        m.d.comb += [
            access.valid.eq(asked.valid),
            asked.ready.eq(access.ready),
            access.payload.line.eq(asked.payload.line),
            access.payload.uncached.eq(asked.payload.uncached),
            access.payload.reads.eq(1),
            access.payload.passenger.eq(arbiter.source),
            result.ready.eq(1),
            lines.invalidate.eq(self.invalidate),
            self.idle.eq(lines.idle),
            self.hit.eq(lines.hit),
            self.miss.eq(lines.miss),
        ]
        for number, client in enumerate(self.clients):
            response = client.response
            m.d.comb += [
                response.valid.eq(result.valid & (Value.cast(result.payload.passenger) == number)),
                response.payload.bits.eq(result.payload.bits),
                response.payload.refused.eq(result.payload.refused),
            ]
        return m
