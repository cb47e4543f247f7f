"""The AXI4 managers of the machine. A soft reset does not clear them, because a burst cannot be aborted."""

from amaranth import Cat, Module
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.lib.clock_gating import resettable
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.mc.bus.axi import BusSignature
from ctm.rtl.mc.bus.port import MemoryPort
from ctm.rtl.mc.bus.reader import BusReader
from ctm.rtl.mc.bus.writer import BusWriter

WAITING_REQUESTS = 1
"""Requests in the register slice of each port, besides those whose bursts are in flight."""


class MemoryPorts(wiring.Component):
    """A `BusReader` and a `BusWriter` for each port, and in front of each a register slice for what it cannot take.

    A request passes its register slice in the same cycle; all else is as these units say.

    Parameters
    ----------
    reads, writes
        Most bursts of each port without a response.

    Members
    -------
    clients : ``In(MemoryPort(read_tag, write_tag, slice_bits))`` for each port
    buses : ``Out(BusSignature(data_bits))`` for each port
    drain : ``In(1)``
        Finish bursts in flight and drop responses. Requests are accepted and dropped: clients must be in reset, too.
    idle : ``Out(1)``
        No burst is in flight.
    """

    def __init__(
        self,
        read_tag: ShapeLike,
        write_tag: ShapeLike,
        *,
        ports: int,
        data_bits: int,
        slice_bits: int,
        reads: int,
        writes: int,
    ) -> None:
        self._read_tag, self._write_tag = read_tag, write_tag
        self._data_bits, self._slice_bits, self._reads, self._writes = data_bits, slice_bits, reads, writes
        super().__init__(
            {
                "clients": In(MemoryPort(read_tag, write_tag, slice_bits)).array(ports),
                "buses": Out(BusSignature(data_bits)).array(ports),
                "drain": In(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        idle = []
        for port, (client, bus) in enumerate(zip(self.clients, self.buses, strict=True)):
            reader = BusReader(
                self._read_tag, data_bits=self._data_bits, outstanding=self._reads, slice_bits=self._slice_bits
            )  # fmt: skip
            writer = BusWriter(
                self._write_tag, data_bits=self._data_bits, outstanding=self._writes, slice_bits=self._slice_bits
            )  # fmt: skip
            m.submodules[f"reader_{port}"], m.submodules[f"writer_{port}"] = reader, writer
            connect(m, reader.response, flipped(client.read.response))
            connect(m, writer.response, flipped(client.write.response))
            connect(m, reader.ar, flipped(bus.ar))
            connect(m, flipped(bus.r), reader.r)
            connect(m, writer.aw, flipped(bus.aw))
            connect(m, writer.w, flipped(bus.w))
            connect(m, flipped(bus.b), writer.b)
            m.d.comb += [reader.drain.eq(self.drain), writer.drain.eq(self.drain)]
            self._connect_requests(m, f"reads_{port}", client.read.request, reader.request)
            self._connect_requests(m, f"writes_{port}", client.write.request, writer.request)
            idle += [reader.idle, writer.idle]
        m.d.comb += self.idle.eq(Cat(idle).all())
        return m

    def _connect_requests(self, m: Module, name: str, source: stream.Interface, target: stream.Interface) -> None:
        """Connect requests through a register slice, which is reset with the clients of the port."""
        slice_ = RegisterSlice(source.payload.shape(), SliceMode.REVERSE)
        m.submodules[name] = resettable(slice_, self.drain)
        connect(m, flipped(source), slice_.input)
        connect(m, slice_.output, target)
