"""The second level of the input cache: lines for the first levels of all cores."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import (
    LINE_BITS,
    TaggedLineClient,
    tagged_line_request_layout,
    tagged_line_response_layout,
)
from ctm.rtl.config import SharedCacheConfig
from ctm.rtl.lib.sharing import Arbiter, route
from ctm.rtl.mc.lines.cache import LineCache


class SharedCache(wiring.Component):
    """Reads lines for several requesters, from banks that each serve a line in each cycle.

    The low bits of a line's number are its bank. Each bank has a round-robin arbiter of requests, and, if there are
    several banks, each requester one of responses. A hit takes three cycles. A line whose refill is in flight is not
    requested again. A bank responds in the order of its requests, so a hit may wait for another requester's miss.
    Otherwise each bank is a `LineCache` with `outstanding` refills.

    Members
    -------
    clients : ``In(TaggedLineClient(range(outstanding)))``, `requesters` of them
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))`` for each bank
    invalidate : ``In(1)``
        Invalidate all lines; only while idle and no request is offered.
    idle : ``Out(1)``
        All responses have been taken.
    hit, miss : ``Out(banks)``
        A line hit or missed; uncached ones do not count.

    Attributes
    ----------
    cached
        The lines of each bank, for an observer: what is looked up in them.
    """

    def __init__(
        self, config: SharedCacheConfig, *, requesters: int, outstanding: int, slice_bits: int = LINE_BITS
    ) -> None:
        if requesters < 1:
            raise ValueError(f"requesters must be at least 1, not {requesters}")
        self._requesters = requesters
        self._bank_bits = (config.banks - 1).bit_length()
        self._tag = tag = range(outstanding)
        passenger = data.StructLayout({"requester": range(requesters), "tag": tag})
        self.cached = [
            LineCache(config.bank, passenger, outstanding=outstanding, slice_bits=slice_bits)
            for _ in range(config.banks)
        ]
        super().__init__(
            {
                "clients": In(TaggedLineClient(tag)).array(requesters),
                "lines": Out(TaggedLineClient(tag, slice_bits)).array(config.banks),
                "invalidate": In(1),
                "idle": Out(1),
                "hit": Out(config.banks),
                "miss": Out(config.banks),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        banks, requests = self.cached, []
        for number, bank in enumerate(banks):
            m.submodules[f"bank_{number}"] = bank
            m.submodules[f"requests_{number}"] = arbiter = Arbiter(
                tagged_line_request_layout(self._tag), self._requesters
            )  # fmt: skip
            self._connect_bank(m, number, bank, arbiter.output)
            requests.append(arbiter)
            m.d.comb += bank.access.payload.passenger.requester.eq(arbiter.source)
        for number, client in enumerate(self.clients):
            inputs, line = [arbiter.inputs[number] for arbiter in requests], client.request.payload.line
            route(m, client.request, line[: self._bank_bits], inputs)
            m.d.comb += [own.payload.eq(client.request.payload) for own in inputs]
        self._respond(m, [bank.result for bank in banks])
        m.d.comb += self.idle.eq(Cat(bank.idle for bank in banks).all())
        return m

    def _connect_bank(self, m: Module, number: int, bank: LineCache, request: stream.Interface) -> None:
        """Connect a bank, which numbers only its own lines."""
        access, lines = bank.access, self.lines[number]
        m.d.comb += [
            access.valid.eq(request.valid),
            request.ready.eq(access.ready),
            access.payload.line.eq(request.payload.line[self._bank_bits :]),
            access.payload.uncached.eq(request.payload.uncached),
            access.payload.reads.eq(1),
            access.payload.passenger.tag.eq(request.payload.tag),
            bank.invalidate.eq(self.invalidate),
            self.hit[number].eq(bank.hit),
            self.miss[number].eq(bank.miss),
        ]
        own = bank.lines.request
        m.d.comb += [
            lines.request.valid.eq(own.valid),
            own.ready.eq(lines.request.ready),
            lines.request.payload.line.eq(Cat(Const(number, self._bank_bits), own.payload.line)),
            lines.request.payload.uncached.eq(own.payload.uncached),
            lines.request.payload.tag.eq(own.payload.tag),
        ]
        wiring.connect(m, wiring.flipped(lines.response), bank.lines.response)

    def _respond(self, m: Module, results: list[stream.Interface]) -> None:
        """Route lines to their requesters; with several banks a requester takes one of them in a cycle."""
        responses = [[client.response] for client in self.clients]
        if len(results) > 1:
            for number, client in enumerate(self.clients):
                m.submodules[f"responses_{number}"] = arbiter = Arbiter(
                    tagged_line_response_layout(self._tag), len(results)
                )  # fmt: skip
                wiring.connect(m, arbiter.output, wiring.flipped(client.response))
                responses[number] = list(arbiter.inputs)
        for bank, result in enumerate(results):
            line, targets = result.payload, [own[bank] for own in responses]
            route(m, result, Value.cast(line.passenger.requester), targets)
            for response in targets:
                m.d.comb += [
                    response.payload.bits.eq(line.bits),
                    response.payload.error.eq(line.error),
                    response.payload.tag.eq(line.passenger.tag),
                ]
