"""Finds the program information among the notes of an executable."""

from collections.abc import Callable

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS, WORD_BYTES
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.window import OFFSET_BITS, WindowClient, keep

_HEADER_WORDS = elf.NOTE_HEADER_BYTES // WORD_BYTES
_NAME_WORDS = tuple(
    int.from_bytes(elf.NOTE_NAME[at : at + WORD_BYTES], "little") for at in range(0, len(elf.NOTE_NAME), WORD_BYTES)
)
_SEVERAL = 2
_INFORMATION_BYTES = WORD_BYTES * elf.PROGRAM_INFORMATION_WORDS


class NoteWalker(wiring.Component):
    """Walks through the notes of one segment after the other and copies the program information.

    It reads the header and the name of each note, in their order.

    Members
    -------
    invalidate : ``In(1)``
        Drop the program information; not during a walk.
    start : ``In(1)``
        Walk through `segment`; only after the `done` of the previous one.
    segment : ``In(PROGRAM_HEADER)``
    done : ``Out(1)``
    status : ``Out(Status)``
        With `done`: OK, the window's error, or BAD_EXECUTABLE if a note passes its segment's end or the program
        information has an illegal size.
    found : ``Out(1)``
        Program information was found.
    repeated : ``Out(1)``
        A second one was found, or one of another kind of program; both are illegal.
    information : ``Out(ArrayLayout(32, 16))``
        The last one.
    pipelines, pipeline : ``Out(2)``, ``Out(ArrayLayout(32, 32))``
        Where the machine draws: notes that describe a draw's programs, 2 if there are several or one has an illegal
        size; and the words of the last one.
    window : ``Out(WindowClient(image_limit))``
    """

    def __init__(self, program_format: ProgramFormat, *, draws: bool = False) -> None:
        self._kind = program_format.information.value
        self._pipeline = program_format.pipeline.value if draws and program_format.pipeline is not None else None
        words = data.ArrayLayout(WORD_BITS, elf.PIPELINE_INFORMATION_WORDS)
        pipeline = {"pipelines": Out(2), "pipeline": Out(words)} if self._pipeline is not None else {}
        formats = PROGRAM_FORMATS.values()
        self._foreign = sorted(
            {each.information.value for each in formats if each.machine == program_format.machine} - {self._kind}
        )
        super().__init__(
            {
                "invalidate": In(1),
                "start": In(1),
                "segment": In(elf.PROGRAM_HEADER),
                "done": Out(1),
                "status": Out(Status),
                "found": Out(1),
                "repeated": Out(1),
                "information": Out(data.ArrayLayout(WORD_BITS, elf.PROGRAM_INFORMATION_WORDS)),
                "window": Out(WindowClient(program_format.image_limit)),
                **pipeline,
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        names = ("note", "end", "descriptor", "following")
        note, end, descriptor, following = (Signal(OFFSET_BITS, name=name) for name in names)
        header, is_named, window, word = Signal(elf.NOTE_HEADER), Signal(), self.window, self.window.word

        def read(offset: Value, count: Value | int, then: str) -> None:
            m.d.comb += [window.extent.valid.eq(1), window.extent.offset.eq(offset), window.extent.count.eq(count)]
            with m.If(window.done):
                m.next = then
                with m.If(window.status != Status.OK):
                    finish(window.status)

        def finish(status: Status | Value) -> None:
            m.d.comb += [self.done.eq(1), self.status.eq(status)]
            m.next = "idle"

        self._invalidate(m)
        with m.FSM():
            with m.State("idle"), m.If(self.start):
                m.d.sync += [note.eq(self.segment.offset), end.eq(self.segment.offset + self.segment.filesz)]
                m.next = "header"
            with m.State("header"):
                keep(m, Value.cast(header), word)
                with m.If(note >= end):
                    finish(Status.OK)
                with m.Else():
                    read(note, _HEADER_WORDS, "name's size")
            with m.State("name's size"):
                m.d.sync += descriptor.eq(note + elf.NOTE_HEADER_BYTES + _whole_words(header.namesz) * WORD_BYTES)
                m.d.sync += is_named.eq(header.namesz == len(elf.NOTE_NAME))
                m.next = "descriptor's size"
            with m.State("descriptor's size"):
                m.d.sync += following.eq(descriptor + _whole_words(header.descsz) * WORD_BYTES)
                m.next = "name"
            with m.State("name"):
                wrong = [(word.index == index) & (word.word != right) for index, right in enumerate(_NAME_WORDS)]
                with m.If(word.valid & Cat(wrong).any()):
                    m.d.sync += is_named.eq(0)
                with m.If(following > end):
                    finish(Status.BAD_EXECUTABLE)
                with m.Else():
                    read(note + elf.NOTE_HEADER_BYTES, _whole_words(header.namesz), "descriptor")
            with m.State("descriptor"):
                keep(m, Value.cast(self.information), word)
                with m.If(~is_named | (header.type != self._kind)):
                    m.d.sync += note.eq(following)
                    m.next = "header"
                    with m.If(is_named):
                        self._look_at_other(m, header)
                with m.Elif(header.descsz != _INFORMATION_BYTES):
                    finish(Status.BAD_EXECUTABLE)
                with m.Else():
                    read(descriptor, elf.PROGRAM_INFORMATION_WORDS, "header")
                    with m.If(window.done):
                        m.d.sync += [note.eq(following), self.found.eq(1), self.repeated.eq(self.repeated | self.found)]
            if self._pipeline is not None:
                self._add_pipeline(m, lambda: read(descriptor, elf.PIPELINE_INFORMATION_WORDS, "header"))
        return m

    def _add_pipeline(self, m: Module, read: Callable[[], None]) -> None:
        """Read the words of a note that describes a draw's programs."""
        with m.State("pipeline"):
            keep(m, Value.cast(self.pipeline), self.window.word)
            read()

    def _invalidate(self, m: Module) -> None:
        with m.If(self.invalidate):
            m.d.sync += [self.found.eq(0), self.repeated.eq(0)]
            if self._pipeline is not None:
                m.d.sync += self.pipelines.eq(0)

    def _look_at_other(self, m: Module, header: data.View) -> None:
        """Note program information of another kind of program; count what describes a draw's programs, and read it."""
        with m.If(header.type.matches(*self._foreign)):
            m.d.sync += self.repeated.eq(1)
        if self._pipeline is None:
            return
        is_whole = header.descsz == WORD_BYTES * elf.PIPELINE_INFORMATION_WORDS
        with m.If(header.type == self._pipeline):
            m.d.sync += self.pipelines.eq(Mux(is_whole & (self.pipelines == 0), 1, _SEVERAL))
            with m.If(is_whole):
                m.next = "pipeline"


def _whole_words(size: Value) -> Value:
    """Whole words that hold a number of bytes."""
    return (size + WORD_BYTES - 1) // WORD_BYTES
