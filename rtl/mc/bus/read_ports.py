"""Clients that read lines, and the memory ports that they share."""

from amaranth import Cat, Module, Mux, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_OFFSET_BITS, LineClient
from ctm.rtl.lib.rest import Pausing
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.mc.bus.line_order import LineOrder
from ctm.rtl.mc.bus.reader import tagged_request_layout, tagged_response_layout


def port_count(split: int) -> int:
    """Memory ports: one below `split` and one from it on, if there is anything."""
    return 2 if split >> LINE_OFFSET_BITS < 1 << LINE_ADDRESS_BITS else 1


def route(line: Value, split: int) -> Value:
    """Whether a line belongs to the second port."""
    return line >= split >> LINE_OFFSET_BITS


class ReadPorts(wiring.Component):
    """Gives several clients lines over the memory ports; at each port they take turns.

    Each client gets its lines in order, whatever port they come from. `clients` says how many lines each may have
    outstanding. A request reaches its port in the same cycle, a line its client two cycles after it left the port.

    Members
    -------
    clients : ``In(LineClient())`` for each
    port_requests : ``Out(stream.Signature(tagged_request_layout(tag)))`` for each port
    port_responses : ``In(stream.Signature(tagged_response_layout(tag)))`` for each port
    refused : ``Out(len(clients))``
        Whose line was refused; told at the same time as or before the client.
    refused_line : ``Out(26)``
    """

    def __init__(self, clients: tuple[int, ...], *, split: int) -> None:
        self._clients, self._split = clients, split
        # A tag has room for the largest ring.
        self.tag = data.StructLayout({"client": range(len(clients)), "place": range(max(clients))})
        ports = port_count(split)
        super().__init__(
            {
                "clients": In(LineClient()).array(len(clients)),
                "port_requests": Out(stream.Signature(tagged_request_layout(self.tag))).array(ports),
                "port_responses": In(stream.Signature(tagged_response_layout(self.tag))).array(ports),
                "refused": Out(len(clients)),
                "refused_line": Out(LINE_ADDRESS_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        ports = range(len(self.port_requests))
        arbiters = []
        for port in ports:
            m.submodules[f"requests_{port}"] = arbiter = Arbiter(
                tagged_request_layout(self.tag), len(self._clients)
            )  # fmt: skip
            connect(m, arbiter.output, flipped(self.port_requests[port]))
            arbiters.append(arbiter)
        m.submodules.responses = answers = Arbiter(tagged_response_layout(self.tag), len(ports))
        for port in ports:
            connect(m, flipped(self.port_responses[port]), answers.inputs[port])
        came = answers.output.payload
        m.d.comb += [answers.output.ready.eq(1), self.refused_line.eq(came.line)]

        for client, outstanding in enumerate(self._clients):
            order = LineOrder(outstanding=outstanding)
            m.submodules[f"order_{client}"] = Pausing(order, order.request.valid | ~order.idle)
            connect(m, flipped(self.clients[client].request), order.request)
            connect(m, order.response, flipped(self.clients[client].response))
            asked, back = order.tagged_request, order.tagged_response
            is_own = answers.output.valid & (came.tag.client == client)
            m.d.comb += [
                back.valid.eq(is_own),
                back.payload.line.eq(came.line),
                back.payload.bits.eq(came.bits),
                back.payload.refused.eq(came.refused),
                back.payload.tag.eq(came.tag.place),
                self.refused[client].eq(is_own & came.refused),
                asked.ready.eq(
                    Mux(
                        self._second(asked.payload.line),
                        arbiters[-1].inputs[client].ready,
                        arbiters[0].inputs[client].ready,
                    )
                ),
            ]
            for port in ports:
                own = arbiters[port].inputs[client]
                m.d.comb += [
                    own.valid.eq(asked.valid & (self._second(asked.payload.line) == port)),
                    own.payload.line.eq(asked.payload.line),
                    own.payload.tag.client.eq(client),
                    own.payload.tag.place.eq(asked.payload.tag),
                ]
        return m

    def _second(self, line: Value) -> Value:
        return route(line, self._split) if len(self.port_requests) > 1 else Cat(0)
