"""The program loader: finds the code and the program information of an executable's image in memory.

Source: CTM Guide pp. 45-49. All offsets and sizes are kept with as many bits as their sums need, so that none wraps.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LINE_BITS, LineClient
from ctm.rtl.border.programs import image_layout
from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BYTES
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.code import CodeSegment
from ctm.rtl.pe.notes import NoteWalker
from ctm.rtl.pe.segments import HEADER_WORDS, SegmentTable
from ctm.rtl.pe.window import ImageWindow, keep

_SEGMENT_WORDS = elf.PROGRAM_HEADER_BYTES // WORD_BYTES


class ProgramLoader(wiring.Component):
    """Loads an image: its code is not copied, its program information is.

    It reads headers and notes once each, in the order of the file, with a prefetch of three lines, and nothing outside
    the format's limit. That limit bounds every loop.

    Members
    -------
    start : ``In(1)``
        Load the image at `base`, a multiple of 2 KiB that is constant until `done`; only while idle.
    base : ``In(32)``
    idle : ``Out(1)``
        None is being loaded.
    done : ``Out(1)``
        It is loaded, or it cannot be.
    status : ``Out(Status)``
        With `done`: OK, BAD_EXECUTABLE or BUS_ERROR.
    address : ``Out(32)``
        With a BUS_ERROR: of the header, note or field of a note with the error.
    image : ``Out(image_layout(program_format, draws=draws))``
        Meaningless during a load, and after a failure.
    lines : ``Out(LineClient(slice_bits))``
    """

    def __init__(self, program_format: ProgramFormat, *, draws: bool = False, slice_bits: int = LINE_BITS) -> None:
        self._format, self._draws, self._slice_bits = program_format, draws, slice_bits
        self._words = ("information", "pipelines", "pipeline") if draws else ("information",)
        super().__init__(
            {
                "start": In(1),
                "base": In(ADDRESS_BITS),
                "idle": Out(1),
                "done": Out(1),
                "status": Out(Status),
                "address": Out(ADDRESS_BITS),
                "image": Out(image_layout(program_format, draws=draws)),
                "lines": Out(LineClient(slice_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.window = window = ImageWindow(self._format.image_limit, self._slice_bits)
        m.submodules.table = table = SegmentTable(self._format)
        m.submodules.notes = notes = NoteWalker(self._format, draws=self._draws)
        m.submodules.code = code = CodeSegment(self._format)
        wiring.connect(m, window.lines, wiring.flipped(self.lines))
        words, segment = window.client, Signal(elf.PROGRAM_HEADER)
        m.d.comb += [window.base.eq(self.base), notes.segment.eq(segment), code.segment.eq(segment)]
        m.d.comb += [
            *(getattr(notes.window, name).eq(getattr(words, name)) for name in ("word", "done", "status")),
            self.image.code.eq(self.base + code.offset),
            self.image.size.eq(code.units),
            *(self.image[name].eq(getattr(notes, name)) for name in self._words),
            self.address.eq(window.address),
        ]

        def read(offset: Value | int, count: int, then: str) -> None:
            m.d.comb += [words.extent.valid.eq(1), words.extent.offset.eq(offset), words.extent.count.eq(count)]
            with m.If(words.done):
                self._go_on(m, words.status, then)

        with m.FSM():
            with m.State("idle"):
                m.d.comb += [self.idle.eq(1), window.invalidate.eq(self.start)]
                m.d.comb += [table.invalidate.eq(1), notes.invalidate.eq(self.start), code.invalidate.eq(1)]
                m.d.sync += self.status.eq(Status.OK)
                with m.If(self.start):
                    m.next = "header"
            with m.State("header"):
                m.d.comb += table.word.eq(words.word)
                read(0, HEADER_WORDS, "segment")
            with m.State("segment"):
                keep(m, Value.cast(segment), words.word)
                with m.If(table.is_bad | table.is_empty):
                    self._go_on(m, _ok_unless(table.is_bad), "code")
                with m.Else():
                    read(table.offset, _SEGMENT_WORDS, "segment's kind")
            with m.State("segment's kind"):
                m.d.comb += [table.next.eq(1), notes.start.eq(segment.type == elf.PT_NOTE)]
                m.d.comb += code.take.eq(segment.type == elf.PT_LOAD)
                self._go_on(m, _ok_unless(code.take & code.exists), "segment")
                with m.If(notes.start):
                    m.next = "notes"
            with m.State("notes"):
                m.d.comb += words.extent.eq(notes.window.extent)
                with m.If(notes.done):
                    self._go_on(m, notes.status, "segment")
            with m.State("code"):
                is_informed = notes.found & ~notes.repeated & (notes.information[0] == self._format.version)
                m.d.comb += code.measure.eq(is_informed)
                with m.If(~is_informed | code.done):
                    self._go_on(m, Mux(is_informed, code.status, Status.BAD_EXECUTABLE), "done")
            with m.State("done"):
                m.d.comb += [window.finish.eq(1), self.done.eq(window.drained)]
                with m.If(window.drained):
                    m.next = "idle"
        return m

    def _go_on(self, m: Module, status: Value, then: str) -> None:
        m.d.sync += self.status.eq(status)
        m.next = then
        with m.If(status != Status.OK):
            m.next = "done"


def _ok_unless(is_bad: Value) -> Value:
    return Mux(is_bad, Status.BAD_EXECUTABLE, Status.OK)
