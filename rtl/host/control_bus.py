"""An AXI4-Lite subordinate that converts transactions to accesses to registers.

Source: AMBA AXI4-Lite specification (ARM IHI 0022, part B).
"""

from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.host import REGISTER_SPACE
from ctm.rtl.isa.limits import WORD_BITS

OFFSET_BITS = (REGISTER_SPACE - 1).bit_length()
_RESPONSE_BITS = 2

WRITE_DATA = data.StructLayout({"bits": WORD_BITS, "strobe": WORD_BITS // 8})
READ_DATA = data.StructLayout({"bits": WORD_BITS, "response": _RESPONSE_BITS})


class ControlBusSignature(wiring.Signature):
    """The bus seen from its manager: streams `aw`, `w`, `b`, `ar` and `r`."""

    def __init__(self) -> None:
        super().__init__(
            {
                "aw": Out(stream.Signature(OFFSET_BITS)),
                "w": Out(stream.Signature(WRITE_DATA)),
                "b": In(stream.Signature(_RESPONSE_BITS)),
                "ar": Out(stream.Signature(OFFSET_BITS)),
                "r": In(stream.Signature(READ_DATA)),
            }
        )


class ControlBus(wiring.Component):
    """One write and one read at a time; every response is OKAY.

    A write is made in the cycle after its address and its data, a read in the cycle after its address. The response
    follows one cycle later.

    Members
    -------
    bus : ``In(ControlBusSignature())``
    write : ``Out({valid, offset, bits, strobe})``
        For one cycle.
    read_offset : ``Out(12)``
        Constant during a read.
    read_bits : ``In(32)``
        The register's contents, in the same cycle.
    """

    def __init__(self) -> None:
        write = {"valid": 1, "offset": OFFSET_BITS, "bits": WORD_BITS, "strobe": WORD_BITS // 8}
        super().__init__(
            {
                "bus": In(ControlBusSignature()),
                "write": Out(data.StructLayout(write)),
                "read_offset": Out(OFFSET_BITS),
                "read_bits": In(WORD_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        bus, write = self.bus, self.write
        has_address, has_data = Signal(), Signal()
        m.d.comb += [
            bus.aw.ready.eq(~has_address),
            bus.w.ready.eq(~has_data),
            write.valid.eq(has_address & has_data & ~bus.b.valid),
        ]
        with m.If(bus.aw.valid & bus.aw.ready):
            m.d.sync += [has_address.eq(1), write.offset.eq(bus.aw.payload)]
        with m.If(bus.w.valid & bus.w.ready):
            m.d.sync += [has_data.eq(1), write.bits.eq(bus.w.payload.bits), write.strobe.eq(bus.w.payload.strobe)]
        with m.If(bus.b.ready):
            m.d.sync += bus.b.valid.eq(0)
        with m.If(write.valid):
            m.d.sync += [has_address.eq(0), has_data.eq(0), bus.b.valid.eq(1)]

        reading = Signal()
        m.d.comb += bus.ar.ready.eq(~reading & ~bus.r.valid)
        with m.If(bus.r.ready):
            m.d.sync += bus.r.valid.eq(0)
        with m.If(bus.ar.valid & bus.ar.ready):
            m.d.sync += [reading.eq(1), self.read_offset.eq(bus.ar.payload)]
        with m.If(reading):
            m.d.sync += [reading.eq(0), bus.r.valid.eq(1), bus.r.payload.bits.eq(self.read_bits)]
        return m
