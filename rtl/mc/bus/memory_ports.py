"""The AXI4 managers of the machine. A soft reset does not clear them, because a burst cannot be aborted."""

from typing import Any

from amaranth import Cat, Module
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from ctm.rtl.lib.clock_gating import resettable
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode
from ctm.rtl.mc.bus.axi import BusSignature
from ctm.rtl.mc.bus.reader import BusReader, tagged_request_layout, tagged_response_layout
from ctm.rtl.mc.bus.writer import BusWriter, tagged_write_layout, tagged_write_response_layout


class MemoryPorts(wiring.Component):
    """A `BusReader` and a `BusWriter` for each port, and in front of each a register slice for what it cannot take.

    Members
    -------
    reads : ``In(stream.Signature(tagged_request_layout(read_tag)))`` for each port
    lines : ``Out(stream.Signature(tagged_response_layout(read_tag, slice_bits)))`` for each port
    writes : ``In(stream.Signature(tagged_write_layout(write_tag, slice_bits)))`` for each port
    write_responses : ``Out(stream.Signature(tagged_write_response_layout(write_tag)))`` for each port
    buses : ``Out(BusSignature(data_bits))`` for each port
    drain : ``In(1)``
        Take nothing, finish bursts in flight, and drop responses.
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
                "reads": In(stream.Signature(tagged_request_layout(read_tag))).array(ports),
                "lines": Out(stream.Signature(tagged_response_layout(read_tag, slice_bits))).array(ports),
                "writes": In(stream.Signature(tagged_write_layout(write_tag, slice_bits))).array(ports),
                "write_responses": Out(stream.Signature(tagged_write_response_layout(write_tag))).array(ports),
                "buses": Out(BusSignature(data_bits)).array(ports),
                "drain": In(1),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        idle = []
        for port, bus in enumerate(self.buses):
            reader = BusReader(
                self._read_tag, data_bits=self._data_bits, outstanding=self._reads, slice_bits=self._slice_bits
            )  # fmt: skip
            writer = BusWriter(
                self._write_tag, data_bits=self._data_bits, outstanding=self._writes, slice_bits=self._slice_bits
            )  # fmt: skip
            m.submodules[f"reader_{port}"], m.submodules[f"writer_{port}"] = reader, writer
            connect(m, reader.response, flipped(self.lines[port]))
            connect(m, writer.response, flipped(self.write_responses[port]))
            connect(m, reader.ar, flipped(bus.ar))
            connect(m, flipped(bus.r), reader.r)
            connect(m, writer.aw, flipped(bus.aw))
            connect(m, writer.w, flipped(bus.w))
            connect(m, flipped(bus.b), writer.b)
            m.d.comb += [reader.drain.eq(self.drain), writer.drain.eq(self.drain)]
            self._connect_requests(m, f"reads_{port}", self.reads[port], reader.request)
            self._connect_requests(m, f"writes_{port}", self.writes[port], writer.request)
            idle += [reader.idle, writer.idle]
        m.d.comb += self.idle.eq(Cat(idle).all())
        return m

    def _connect_requests(self, m: Module, name: str, source: Any, target: Any) -> None:
        """Connect requests through a register slice, which is reset with the clients of the port."""
        slice_ = RegisterSlice(source.payload.shape(), SliceMode.REVERSE)
        m.submodules[name] = resettable(slice_, self.drain)
        connect(m, flipped(source), slice_.input)
        connect(m, slice_.output, target)
