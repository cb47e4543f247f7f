"""Frames of the serial link: bytes between flags, with escapes and a CRC. See `ctm.rtl.isa.link`."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc import catalog
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.isa.link import ESCAPE, FLAG, FLIPPED

_CRC = catalog.CRC32_ISO_HDLC(data_width=BYTE_BITS)
_CRC_BYTES = 4
SENT = data.StructLayout({"byte": BYTE_BITS, "last": 1})
"""A byte of a frame that is sent, its CRC not counted."""


class FrameReceiver(wiring.Component):
    """Finds frames in the bytes of a line.

    Bytes are dropped until a flag. A flag ends one frame and begins the next, so after lost or changed bytes the frame
    after the next flag is whole again. A frame that ends in an escape or has no bytes is dropped.

    Members
    -------
    line : ``In(stream.Signature(8, always_ready=True))``
    begins : ``Out(1)``
        For one cycle: drop the bytes of the frame so far.
    byte : ``Out({valid, bits})``
        For one cycle each, the CRC's four bytes too.
    good : ``Out(1)``
        For one cycle, at least one after the last byte: a frame has ended, and its CRC is right.
    """

    line: In(stream.Signature(BYTE_BITS, always_ready=True))
    begins: Out(1)
    byte: Out(data.StructLayout({"valid": 1, "bits": BYTE_BITS}))
    good: Out(1)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.crc = crc = _CRC.create()
        line = self.line
        inside, escaped, some = Signal(), Signal(), Signal()
        is_flag, is_escape = line.payload == FLAG, line.payload == ESCAPE
        m.d.comb += [
            self.begins.eq(line.valid & is_flag),
            self.byte.valid.eq(line.valid & inside & ~is_flag & ~is_escape),
            self.byte.bits.eq(line.payload ^ Mux(escaped, FLIPPED, 0)),
            self.good.eq(line.valid & is_flag & inside & ~escaped & some & crc.match_detected),
            crc.start.eq(self.begins),
            crc.valid.eq(self.byte.valid),
            crc.data.eq(self.byte.bits),
        ]
        with m.If(line.valid):
            m.d.sync += [inside.eq(inside | is_flag), escaped.eq(is_escape), some.eq(~is_flag & (some | inside))]
        return m


class FrameSender(wiring.Component):
    """Makes frames of bytes: flag, bytes, CRC, flag.

    Members
    -------
    content : ``In(stream.Signature(SENT))``
        A frame begins with its first byte and lasts until `last`, however long that takes.
    line : ``Out(stream.Signature(8))``
    """

    content: In(stream.Signature(SENT))
    line: Out(stream.Signature(BYTE_BITS))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.crc = crc = _CRC.create()
        content, line = self.content, self.line
        index, escaped = Signal(range(_CRC_BYTES)), Signal()
        m.d.comb += crc.data.eq(content.payload.byte)

        def send(byte: Value) -> Value:
            """Offer a byte, after an escape if it needs one. Returns whether all of it is taken in this cycle."""
            needs = (byte == FLAG) | (byte == ESCAPE)
            m.d.comb += line.payload.eq(Mux(needs, Mux(escaped, byte ^ FLIPPED, ESCAPE), byte))
            with m.If(line.valid & line.ready):
                m.d.sync += escaped.eq(needs & ~escaped)
            return Value.cast(line.valid & line.ready & (~needs | escaped))

        with m.FSM():
            with m.State("begin"):
                m.d.comb += [line.valid.eq(content.valid), line.payload.eq(FLAG), crc.start.eq(1)]
                with m.If(line.valid & line.ready):
                    m.next = "content"
            with m.State("content"):
                m.d.comb += line.valid.eq(content.valid)
                with m.If(send(content.payload.byte)):
                    m.d.comb += [content.ready.eq(1), crc.valid.eq(1)]
                    with m.If(content.payload.last):
                        m.d.sync += index.eq(0)
                        m.next = "crc"
            with m.State("crc"):
                m.d.comb += line.valid.eq(1)
                with m.If(send(crc.crc.word_select(index, BYTE_BITS))):
                    m.d.sync += index.eq(index + 1)
                    with m.If(index == _CRC_BYTES - 1):
                        m.next = "end"
            with m.State("end"):
                m.d.comb += [line.valid.eq(1), line.payload.eq(FLAG)]
                with m.If(line.ready):
                    m.next = "begin"
        return m
