"""Clients that read lines, and the memory ports that they share."""

from typing import Any

from amaranth import Cat, Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LineClient, TaggedLineClient
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.sharing import Arbiter, route
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout
from ctm.rtl.mc.bus.reorder_buffer import ReorderBuffer
from ctm.rtl.mc.bus.routing import Routing


class ReadPorts(wiring.Component):
    """Gives several clients lines over the memory ports; at each port they take turns.

    `clients` says how many lines each may have outstanding, `ordered` which of them get their lines in order, whatever
    port they come from; the others get each when it comes, in parts of `slice_bits`. A request reaches its port in the
    same cycle. All ports together give a part in each cycle; it reaches its client in the cycle in which it leaves the
    port, or, in order, two cycles later: all who get theirs in order have one memory for them, of which one line is
    read in a cycle. Several ports have to give whole lines: parts of one follow each other.

    Members
    -------
    client_0 and so on : ``In(LineClient())``, or ``In(TaggedLineClient(range(outstanding), slice_bits))``
        See `clients`.
    port_requests : ``Out(stream.Signature(tagged_request_layout(tag)))`` for each port
    port_responses : ``In(stream.Signature(tagged_response_layout(tag, slice_bits)))`` for each port
    error : ``Out(len(clients))``
        Whose line was refused; told at the same time as or before the client.
    error_line : ``Out(26)``
    """

    def __init__(
        self, clients: tuple[int, ...], *, ordered: tuple[bool, ...], routing: Routing, slice_bits: int = LINE_BITS
    ) -> None:
        if slice_bits != LINE_BITS and routing.ports > 1:
            raise ValueError(f"{routing.ports} ports cannot give lines in parts")
        self._outstanding, self._ordered, self._routing = clients, ordered, routing
        self._part_bits = slice_bits
        # A tag has room for the client with the most lines.
        self.tag = data.StructLayout({"client": range(len(clients)), "place": range(max(clients))})
        members: dict[str, Any] = {
            f"client_{number}": In(LineClient() if in_order else TaggedLineClient(range(outstanding), slice_bits))
            for number, (outstanding, in_order) in enumerate(zip(clients, ordered, strict=True))
        }
        super().__init__(
            members
            | {
                "port_requests": Out(stream.Signature(tagged_request_layout(self.tag))).array(routing.ports),
                "port_responses": In(stream.Signature(tagged_response_layout(self.tag, slice_bits))).array(
                    routing.ports
                ),
                "error": Out(len(clients)),
                "error_line": Out(LINE_ADDRESS_BITS),
            }
        )

    @property
    def clients(self) -> list[Any]:
        """The clients by their numbers."""
        return [getattr(self, f"client_{number}") for number in range(len(self._outstanding))]

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        arbiters = []
        for port, requests in enumerate(self.port_requests):
            m.submodules[f"requests_{port}"] = arbiter = Arbiter(
                tagged_request_layout(self.tag), len(self._outstanding)
            )  # fmt: skip
            connect(m, arbiter.output, flipped(requests))
            arbiters.append(arbiter)
        m.submodules.responses = answers = Arbiter(
            tagged_response_layout(self.tag, self._part_bits), len(self.port_responses)
        )  # fmt: skip
        for port, responses in enumerate(self.port_responses):
            connect(m, flipped(responses), answers.inputs[port])
        m.d.comb += [answers.output.ready.eq(1), self.error_line.eq(answers.output.payload.line)]
        in_order = [number for number, ordered in enumerate(self._ordered) if ordered]
        if in_order:
            self._put_in_order(m, in_order, answers.output, arbiters)
        for number, client in enumerate(self.clients):
            if not self._ordered[number]:
                self._ask(m, number, client.request, arbiters)
                self._answer(m, answers.output, self._is_of(m, number, answers.output), client.response)
        return m

    def _put_in_order(self, m: Module, numbers: list[int], answer: Any, arbiters: list[Arbiter]) -> None:
        """Give these clients what they asked for in order."""
        outstanding = tuple(self._outstanding[number] for number in numbers)
        order = ReorderBuffer(outstanding=outstanding, slice_bits=self._part_bits)
        asks = Cat(client.request.valid for client in order.clients).any()
        m.submodules.order = Gated(order, asks | ~order.idle)
        for number, client, asked in zip(numbers, order.clients, order.requests, strict=True):
            connect(m, flipped(self.clients[number]), client)
            self._ask(m, number, asked, arbiters)
        own = Cat(self._is_of(m, number, answer) for number in numbers)
        self._answer(m, answer, own.any(), order.response)
        m.d.comb += order.response.payload.client.eq(one_hot_index(own))

    def _ask(self, m: Module, number: int, asked: Any, arbiters: list[Arbiter]) -> None:
        """Send a client's requests to their ports."""
        inputs = [arbiter.inputs[number] for arbiter in arbiters]
        route(m, asked, self._routing.port(asked.payload.line), inputs)
        for own in inputs:
            m.d.comb += [
                own.payload.line.eq(asked.payload.line),
                own.payload.tag.client.eq(number),
                own.payload.tag.place.eq(asked.payload.tag),
            ]

    def _is_of(self, m: Module, number: int, answer: Any) -> Value:
        """Whether an answer is a client's own."""
        is_own = Value.cast(answer.valid & (answer.payload.tag.client == number))
        m.d.comb += self.error[number].eq(is_own & answer.payload.error)
        return is_own

    def _answer(self, m: Module, answer: Any, is_own: Value, back: Any) -> None:
        """Give an answer back."""
        came = answer.payload
        m.d.comb += [
            back.valid.eq(is_own),
            back.payload.bits.eq(came.bits),
            back.payload.part.eq(came.part),
            back.payload.error.eq(came.error),
            back.payload.tag.eq(came.tag.place),
        ]
