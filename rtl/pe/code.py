"""The segment of an executable that has its code."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS, WORD_BYTES
from ctm.rtl.isa.status import Status
from ctm.rtl.lib.divider import Divider


class CodeSegment(wiring.Component):
    """Holds the offset of the code, and counts its units.

    Members
    -------
    invalidate : ``In(1)``
        Drop the segment; not while one is measured.
    segment : ``In(PROGRAM_HEADER)``
    take : ``In(1)``
        `segment` has the code.
    exists : ``Out(1)``
        There is one.
    measure : ``In(1)``
        Count its units; high until `done`.
    done : ``Out(1)``
        In the same cycle if offset or size are illegal, else after a division.
    status : ``Out(Status)``
        With `done`: OK, or BAD_EXECUTABLE. The segment must have one to the format's most whole units, at a multiple of
        4 inside the format's limit.
    offset : ``Out(32)``
    units : ``Out(pc_bits)``
        From `done` on.
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        self._format = program_format
        super().__init__(
            {
                "invalidate": In(1),
                "segment": In(elf.PROGRAM_HEADER),
                "take": In(1),
                "exists": Out(1),
                "measure": In(1),
                "done": Out(1),
                "status": Out(Status),
                "offset": Out(WORD_BITS),
                "units": Out(program_format.pc_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        unit_bytes, most_bytes = self._format.unit_bytes, self._format.unit_bytes * self._format.most_units
        m.submodules.divider = divider = Divider(unit_bytes, most=most_bytes)
        size = Signal(WORD_BITS)
        m.d.comb += [divider.dividend.eq(size), self.units.eq(divider.quotient)]
        with m.If(self.take):
            m.d.sync += [self.exists.eq(1), self.offset.eq(self.segment.offset), size.eq(self.segment.filesz)]
        with m.Elif(self.invalidate):
            m.d.sync += self.exists.eq(0)
        is_small = (size != 0) & (size <= most_bytes)
        is_inside = (self.offset % WORD_BYTES == 0) & (self.offset + size <= self._format.image_limit)
        with m.FSM():
            with m.State("idle"), m.If(self.measure):
                with m.If(self.exists & is_small & is_inside):
                    m.next = "divide"
                with m.Else():
                    m.d.comb += [self.done.eq(1), self.status.eq(Status.BAD_EXECUTABLE)]
            with m.State("divide"):
                m.d.comb += divider.start.eq(1)
                with m.If(divider.done):
                    m.d.comb += self.done.eq(1)
                    m.d.comb += self.status.eq(Mux(divider.remainder == 0, Status.OK, Status.BAD_EXECUTABLE))
                    m.next = "idle"
        return m
