"""Clients that write lines, and the memory ports that they share."""

from amaranth import Array, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.border.lines import LINE_ADDRESS_BITS, LINE_BITS, LINE_WRITTEN, line_write_layout
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.lib.sharing import Arbiter
from ctm.rtl.mc.bus.port import WritePort
from ctm.rtl.mc.bus.routing import Routing
from ctm.rtl.mc.bus.writer import tagged_write_layout, tagged_write_response_layout


class WritePorts(wiring.Component):
    """Writes lines for several clients over the memory ports, which each have a round-robin arbiter.

    `ordered` says for each client whether its responses come in order. A write of such a client that changes the port
    waits for the responses of all its earlier writes. A slice reaches its port in the same cycle; slices of a line
    are not parted by those of another client. A response reaches its client in the next cycle.

    Parameters
    ----------
    outstanding
        Writes that each port may have taken without a response.

    Members
    -------
    writes : ``In(stream.Signature(line_write_layout(slice_bits)))`` for each client
    written : ``Out(stream.Signature(LINE_WRITTEN))`` for each client
    ports : ``Out(WritePort(tag, slice_bits))`` for each memory port
    written_line : ``Out(26)``
        The line of the response in `written`.
    idle : ``Out(len(ordered))``
        All writes of a client have their responses.
    """

    def __init__(
        self, ordered: tuple[bool, ...], *, routing: Routing, outstanding: int, slice_bits: int = LINE_BITS
    ) -> None:
        clients = len(ordered)
        self._ordered, self._routing, self._outstanding, self._slice_bits = ordered, routing, outstanding, slice_bits
        self.tag = tag = range(clients)
        super().__init__(
            {
                "writes": In(stream.Signature(line_write_layout(slice_bits))).array(clients),
                "written": Out(stream.Signature(LINE_WRITTEN)).array(clients),
                "ports": Out(WritePort(tag, slice_bits)).array(routing.ports),
                "written_line": Out(LINE_ADDRESS_BITS),
                "idle": Out(clients),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        ports = range(len(self.ports))
        arbiters = []
        for port in ports:
            layout = tagged_write_layout(self.tag, self._slice_bits)
            sliced = self._slice_bits < LINE_BITS
            m.submodules[f"writes_{port}"] = arbiter = Arbiter(layout, len(self._ordered), keeps=sliced)
            if sliced:
                m.d.comb += arbiter.keep.eq(arbiter.output.payload.write.remaining.any())
            connect(m, arbiter.output, flipped(self.ports[port].request))
            arbiters.append(arbiter)
        m.submodules.responses = responses = Arbiter(tagged_write_response_layout(self.tag), len(ports))
        for port in ports:
            connect(m, flipped(self.ports[port].response), responses.inputs[port])
        m.submodules.response = registered = RegisterSlice(responses.output.payload.shape(), SliceMode.FULL)
        connect(m, responses.output, registered.input)
        response = registered.output
        m.d.comb += self.written_line.eq(response.payload.line)

        for client, ordered in enumerate(self._ordered):
            write, written = self.writes[client], self.written[client]
            most = self._outstanding * len(ports) + len(registered.held)
            count = Signal(range(most + 1), name=f"count_{client}")
            last_port = Signal(range(len(ports)), name=f"last_port_{client}")
            its_port = self._routing.port(write.payload.line)
            allowed = (count == 0) | (its_port == last_port) | (not ordered)
            taken = write.valid & write.ready & ~write.payload.remaining.any()
            m.d.comb += [
                written.valid.eq(response.valid & (Value.cast(response.payload.tag) == client)),
                written.payload.error.eq(response.payload.error),
                write.ready.eq(allowed & Array(arbiter.inputs[client].ready for arbiter in arbiters)[its_port]),
                self.idle[client].eq(count == 0),
            ]
            m.d.sync += count.eq(count + taken - (written.valid & written.ready))
            with m.If(written.valid):
                m.d.comb += response.ready.eq(written.ready)
            with m.If(taken):
                m.d.sync += last_port.eq(its_port)
            for port in ports:
                own = arbiters[port].inputs[client]
                m.d.comb += [
                    own.valid.eq(write.valid & allowed & (its_port == port)),
                    own.payload.write.eq(write.payload),
                    own.payload.tag.eq(client),
                ]
        return m
