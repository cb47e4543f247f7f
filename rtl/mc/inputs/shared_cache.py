"""The second level of the input cache: lines for the first levels of all cores."""

from typing import Any

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
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

    The low bits of a line's number say in which bank it is. At each bank requesters take turns. A line that is there
    comes two cycles after its request, and a line that another requester waits for is not asked for again. A bank
    answers in the order in which it took requests, so that a line that is there may have to wait for another
    requester's that is not; answers of several banks to one requester take turns. Beyond that each bank is as
    `LineCache`: at most `outstanding` lines are asked for and have not been waited for, refused lines are refused to
    all who wait for them, uncached ones are always asked for.

    Between requesters and banks stand a multiplexer of requests at each bank and, if there are several banks, one of
    lines at each requester.

    Members
    -------
    clients : ``In(TaggedLineClient(range(outstanding)))``, `requesters` of them
    lines : ``Out(TaggedLineClient(range(outstanding), slice_bits))`` for each bank
    invalidate : ``In(1)``
        Forget all lines; only while idle and no request is offered.
    idle : ``Out(1)``
        All answers have been given.
    hit, miss : ``Out(banks)``
        A line, not an uncached one, was found, or was not.
    """

    def __init__(
        self, config: SharedCacheConfig, *, requesters: int, outstanding: int, slice_bits: int = LINE_BITS
    ) -> None:
        if requesters < 1:
            raise ValueError(f"requesters must be at least 1, not {requesters}")
        self._config, self._requesters, self._outstanding = config, requesters, outstanding
        self._part_bits = slice_bits
        self._bank_bits = (config.banks - 1).bit_length()
        self._tag = tag = range(outstanding)
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
        whose = data.StructLayout({"requester": range(self._requesters), "tag": self._tag})
        banks, requests = [], []
        for number in range(self._config.banks):
            m.submodules[f"bank_{number}"] = bank = LineCache(
                self._config.bank, whose, outstanding=self._outstanding, slice_bits=self._part_bits
            )  # fmt: skip
            m.submodules[f"requests_{number}"] = arbiter = Arbiter(
                tagged_line_request_layout(self._tag), self._requesters
            )  # fmt: skip
            self._connect_bank(m, number, bank, arbiter.output)
            banks.append(bank)
            requests.append(arbiter)
            m.d.comb += bank.access.payload.passenger.requester.eq(arbiter.source)
        for number, client in enumerate(self.clients):
            inputs, line = [arbiter.inputs[number] for arbiter in requests], client.request.payload.line
            route(m, client.request, line[: self._bank_bits], inputs)
            m.d.comb += [own.payload.eq(client.request.payload) for own in inputs]
        self._answer(m, [bank.result for bank in banks])
        m.d.comb += self.idle.eq(Cat(bank.idle for bank in banks).all())
        return m

    def _connect_bank(self, m: Module, number: int, bank: LineCache, asked: Any) -> None:
        """A bank counts only its own lines."""
        access, lines = bank.access, self.lines[number]
        m.d.comb += [
            access.valid.eq(asked.valid),
            asked.ready.eq(access.ready),
            access.payload.line.eq(asked.payload.line[self._bank_bits :]),
            access.payload.uncached.eq(asked.payload.uncached),
            access.payload.reads.eq(1),
            access.payload.passenger.tag.eq(asked.payload.tag),
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

    def _answer(self, m: Module, results: list[Any]) -> None:
        """Lines go to who asked for them; where there are several banks, that of one of them in a cycle."""
        answers = [[client.response] for client in self.clients]
        if len(results) > 1:
            for number, client in enumerate(self.clients):
                m.submodules[f"answers_{number}"] = arbiter = Arbiter(
                    tagged_line_response_layout(self._tag), len(results)
                )  # fmt: skip
                wiring.connect(m, arbiter.output, wiring.flipped(client.response))
                answers[number] = list(arbiter.inputs)
        for bank, result in enumerate(results):
            line, responses = result.payload, [own[bank] for own in answers]
            route(m, result, Value.cast(line.passenger.requester), responses)
            for response in responses:
                m.d.comb += [
                    response.payload.bits.eq(line.bits),
                    response.payload.error.eq(line.error),
                    response.payload.tag.eq(line.passenger.tag),
                ]
