"""Holds a request until its response is sent."""

from typing import Any

from amaranth import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.isa.link import HEADER, LARGEST

_HEADER_BYTES = HEADER.size // BYTE_BITS
_CRC_BYTES = 4
_MOST = _HEADER_BYTES + LARGEST + _CRC_BYTES

REQUEST = data.StructLayout({"header": HEADER, "brought": range(LARGEST + 1), "whole": 1})
"""`brought` is the number of a request's data bytes; it is `whole` with a header and a legal number of them."""


class RequestKeeper(wiring.Component):
    """Collects the bytes of a frame: its header, and data to be read in order.

    A frame that begins while `held` is dropped: there is no queue of requests.

    Members
    -------
    begins, byte, good : of a `FrameReceiver`
    takes_byte : ``Out(1)``
        For one cycle: a request is complete. `held` has to be high from the next cycle until its end.
    held : ``In(1)``
    request : ``Out(REQUEST)``
        Constant while `held`.
    data : ``Out(stream.Signature(8))``
        The data in order, a byte in every other cycle; after the last one it means nothing.
    """

    begins: In(1)
    byte: In(data.StructLayout({"valid": 1, "bits": BYTE_BITS}))
    good: In(1)
    arrives: Out(1)
    held: In(1)
    request: Out(REQUEST)
    data: Out(stream.Signature(BYTE_BITS))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        rows: Any = Memory(shape=BYTE_BITS, depth=LARGEST + _CRC_BYTES, init=[])
        m.submodules.rows = rows
        writer, reader = rows.write_port(), rows.read_port()
        header = Signal(HEADER.size, reset_less=True)
        taking, count, index = Signal(), Signal(range(_MOST + 2)), Signal(range(LARGEST + 1))
        takes_byte = taking & ~self.held & self.byte.valid
        m.d.comb += [
            self.arrives.eq(taking & ~self.held & self.good),
            self.request.header.eq(header),
            self.request.brought.eq(count - (_HEADER_BYTES + _CRC_BYTES)),
            self.request.whole.eq((count >= _HEADER_BYTES + _CRC_BYTES) & (count <= _MOST)),
            writer.addr.eq(count - _HEADER_BYTES),
            writer.data.eq(self.byte.bits),
            writer.en.eq(takes_byte & (count >= _HEADER_BYTES) & (count < _MOST)),
            reader.addr.eq(index),
            self.data.payload.eq(reader.data),
        ]
        with m.If(self.begins):
            m.d.sync += taking.eq(~self.held & ~self.arrives)
            with m.If(~self.held & ~self.arrives):
                m.d.sync += count.eq(0)
        with m.Elif(takes_byte):
            with m.If(count <= _MOST):
                m.d.sync += count.eq(count + 1)
            with m.If(count < _HEADER_BYTES):
                m.d.sync += header.eq(Cat(header[BYTE_BITS:], self.byte.bits))
        with m.If(self.arrives):
            m.d.sync += [index.eq(0), self.data.valid.eq(0)]
        with m.Elif(self.data.valid & self.data.ready):
            m.d.sync += [index.eq(index + 1), self.data.valid.eq(0)]
        with m.Else():
            m.d.sync += self.data.valid.eq(self.held)
        return m
