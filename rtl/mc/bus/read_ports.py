"""Clients that read lines, and the memory ports that they share."""

from dataclasses import dataclass

from amaranth import Cat, Module, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LineClient, TaggedLineClient, read_bits
from ctm.rtl.lib.clock_gating import Gated
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.sharing import Arbiter, route
from ctm.rtl.mc.bus.port import ReadPort
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout
from ctm.rtl.mc.bus.reorder_buffer import ReorderBuffer
from ctm.rtl.mc.bus.routing import Routing


@dataclass(frozen=True)
class ReadClient:
    """A client that may have so many `lines` outstanding.

    One that is `ordered` gets its lines in the order of its requests, whole ones or, if it is `sliced`, slices. Any
    other one gets lines in any order, in slices.
    """

    lines: int
    ordered: bool = False
    sliced: bool = False


class ReadPorts(wiring.Component):
    """Reads lines for several clients over the memory ports, which each have a round-robin arbiter.

    A request reaches its port in the same cycle. All ports together give one slice in each cycle, of `slice_bits`. It
    reaches an unordered client in the same cycle, an ordered one as the `ReorderBuffer` says. Several ports have to
    give whole lines, because a line's slices are not interleaved.

    Members
    -------
    client_0 and so on : ``In(LineClient(bits))``, or ``In(TaggedLineClient(range(outstanding), slice_bits))``
        See `clients`.
    ports : ``Out(ReadPort(tag, slice_bits))`` for each memory port
    error : ``Out(len(clients))``
        The clients whose line has an error, in the cycle of the client's response or earlier.
    error_line : ``Out(26)``
    """

    def __init__(
        self,
        clients: tuple[ReadClient, ...],
        *,
        routing: Routing,
        slice_bits: int = LINE_BITS,
    ) -> None:
        if slice_bits != LINE_BITS and routing.ports > 1:
            raise ValueError(f"{routing.ports} ports cannot give lines in slices")
        self._of, self._routing, self._slice_bits = clients, routing, slice_bits
        # A tag is as wide as the client with the most lines needs.
        self.tag = data.StructLayout(
            {"client": range(len(clients)), "index": range(max(each.lines for each in clients))}
        )
        members: dict[str, Member] = {}
        for number, each in enumerate(clients):
            bits = read_bits(slice_bits) if each.sliced else LINE_BITS
            client = LineClient(bits) if each.ordered else TaggedLineClient(range(each.lines), slice_bits)
            members[f"client_{number}"] = In(client)
        super().__init__(
            members
            | {
                "ports": Out(ReadPort(self.tag, slice_bits)).array(routing.ports),
                "error": Out(len(clients)),
                "error_line": Out(LINE_ADDRESS_BITS),
            }
        )

    @property
    def clients(self) -> list[wiring.PureInterface]:
        """The clients by their numbers."""
        return [getattr(self, f"client_{number}") for number in range(len(self._of))]

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        arbiters = []
        for number, port in enumerate(self.ports):
            m.submodules[f"requests_{number}"] = arbiter = Arbiter(tagged_request_layout(self.tag), len(self._of))
            connect(m, arbiter.output, flipped(port.request))
            arbiters.append(arbiter)
        m.submodules.responses = responses = Arbiter(
            tagged_response_layout(self.tag, self._slice_bits), len(self.ports)
        )  # fmt: skip
        for port, response in zip(self.ports, responses.inputs, strict=True):
            connect(m, flipped(port.response), response)
        m.d.comb += [responses.output.ready.eq(1), self.error_line.eq(responses.output.payload.line)]
        in_order = [number for number, each in enumerate(self._of) if each.ordered]
        if in_order:
            self._put_in_order(m, in_order, responses.output, arbiters)
        for number, client in enumerate(self.clients):
            if not self._of[number].ordered:
                self._send(m, number, client.request, arbiters)
                self._return(m, responses.output, self._is_of(m, number, responses.output), client.response)
        return m

    def _put_in_order(self, m: Module, numbers: list[int], response: stream.Interface, arbiters: list[Arbiter]) -> None:
        """Connect these clients to the reorder buffer."""
        outstanding = tuple(self._of[number].lines for number in numbers)
        sliced = tuple(self._of[number].sliced for number in numbers)
        order = ReorderBuffer(outstanding=outstanding, slice_bits=self._slice_bits, sliced=sliced)
        active = Cat(client.request.valid for client in order.clients).any()
        m.submodules.order = Gated(order, active | ~order.idle)
        for number, client, request in zip(numbers, order.clients, order.requests, strict=True):
            connect(m, flipped(self.clients[number]), client)
            self._send(m, number, request, arbiters)
        own = Cat(self._is_of(m, number, response) for number in numbers)
        self._return(m, response, own.any(), order.response)
        m.d.comb += order.response.payload.client.eq(one_hot_index(own))

    def _send(self, m: Module, number: int, request: stream.Interface, arbiters: list[Arbiter]) -> None:
        """Send a client's requests to their ports."""
        inputs = [arbiter.inputs[number] for arbiter in arbiters]
        route(m, request, self._routing.port(request.payload.line), inputs)
        for own in inputs:
            m.d.comb += [
                own.payload.line.eq(request.payload.line),
                own.payload.tag.client.eq(number),
                own.payload.tag.index.eq(request.payload.tag),
            ]

    def _is_of(self, m: Module, number: int, response: stream.Interface) -> Value:
        """Whether a response is a client's own."""
        is_own = Value.cast(response.valid & (response.payload.tag.client == number))
        m.d.comb += self.error[number].eq(is_own & response.payload.error)
        return is_own

    def _return(self, m: Module, response: stream.Interface, is_own: Value, back: stream.Interface) -> None:
        """Connect a response to its client."""
        came = response.payload
        m.d.comb += [
            back.valid.eq(is_own),
            back.payload.bits.eq(came.bits),
            back.payload.slice.eq(came.slice),
            back.payload.error.eq(came.error),
            back.payload.tag.eq(came.tag.index),
        ]
