"""The program loader: finds the code and the program information of an executable's image in memory.

Source: CTM Guide pp. 45-49. All offsets and sizes are kept with as many bits as their sums need, so that none wraps.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.lines import LineClient
from ctm.rtl.border.programs import image_layout
from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS
from ctm.rtl.isa.status import Status
from ctm.rtl.pe.window import OFFSET_BITS, ImageWindow

_WORD_BYTES = WORD_BITS // 8
_HEADER_WORDS = elf.ELF_HEADER_BYTES // _WORD_BYTES
_RULES = {
    0: (0xFFFF_FFFF, int.from_bytes(elf.ELF_MAGIC, "little")),
    1: (0xFF00_FFFF, elf.ELFCLASS32 | elf.ELFDATA2LSB << 8 | elf.ELFOSABI_ATI << 24),
    2: (0x0000_00FF, elf.ABI_VERSION),
    9: (0xFFFF_FFFF, elf.EF_ATI_DPP),
    10: (0xFFFF_0000, elf.PROGRAM_HEADER_BYTES << 16),
}
"""Words of the ELF header: the bits that count, and what they must be. Word 4 has the program format's machine."""
_TABLE_WORD, _COUNT_WORD = 7, 11
_NAME_WORDS = tuple(
    int.from_bytes(elf.NOTE_NAME[at : at + _WORD_BYTES], "little") for at in range(0, len(elf.NOTE_NAME), _WORD_BYTES)
)
_INFORMATION_BYTES = _WORD_BYTES * elf.PROGRAM_INFORMATION_WORDS


class ProgramLoader(wiring.Component):
    """Loads an image: its code stays where it is, its program information is copied.

    It reads the headers and notes, in the order of the file, once each, and three lines ahead, but nothing outside the
    format's limit. How long that takes depends on them; every loop goes up to that limit.

    Members
    -------
    start : ``In(1)``
        Load the image at `base`, a multiple of 2 KiB that stays until `done`; only while none is loaded.
    base : ``In(32)``
    idle : ``Out(1)``
        None is being loaded.
    done : ``Out(1)``
        It is loaded, or it cannot be.
    status : ``Out(Status)``
        With `done`: OK, BAD_EXECUTABLE or BUS_ERROR.
    address : ``Out(32)``
        With a BUS_ERROR: of the header, note or part of a note that memory refused.
    image : ``Out(image_layout(program_format))``
        Meaningless while one is loaded, and behind a failure.
    lines : ``Out(LineClient())``
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        self._format = program_format
        super().__init__(
            {
                "start": In(1),
                "base": In(ADDRESS_BITS),
                "idle": Out(1),
                "done": Out(1),
                "status": Out(Status),
                "address": Out(ADDRESS_BITS),
                "image": Out(image_layout(program_format)),
                "lines": Out(LineClient()),
            }
        )
        self._window = ImageWindow(program_format.image_limit)
        self._is_bad = Signal()
        self._segment, self._segments_left = Signal(OFFSET_BITS), Signal(16)
        self._segment_words = Signal(elf.PROGRAM_HEADER_BYTES * 8)
        self._note_words = Signal(elf.NOTE_HEADER_BYTES * 8)
        self._note, self._end = Signal(OFFSET_BITS), Signal(OFFSET_BITS)
        self._is_named = Signal()
        self._code_offset, self._code_size = Signal(WORD_BITS), Signal(WORD_BITS)
        self._codes, self._informations = Signal(2), Signal(2)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.window = window = self._window
        wiring.connect(m, window.lines, wiring.flipped(self.lines))
        m.d.comb += [window.base.eq(self.base), self.image.code.eq(self.base + self._code_offset)]
        with m.FSM():
            with m.State("idle"):
                m.d.comb += [self.idle.eq(1), window.forget.eq(self.start)]
                m.d.sync += [self.status.eq(Status.OK), self._is_bad.eq(0), self._codes.eq(0)]
                m.d.sync += self._informations.eq(0)
                with m.If(self.start):
                    m.next = "header"
            self._read_header(m)
            self._read_segments(m)
            self._read_notes(m)
            self._read_information(m)
            self._divide(m)
            with m.State("done"):
                m.d.comb += [window.finish.eq(1), self.done.eq(window.drained)]
                with m.If(window.drained):
                    m.next = "idle"
        return m

    def _read(self, m: Module, offset: Value | int, count: Value | int) -> None:
        """Read words; in the next state they come."""
        extent = self._window.extent
        m.d.comb += [extent.valid.eq(1), extent.offset.eq(offset), extent.count.eq(count)]

    def _malformed(self, m: Module) -> None:
        m.d.sync += self.status.eq(Status.BAD_EXECUTABLE)
        m.next = "done"

    def _when_read(self, m: Module, following: str) -> None:
        """Go on when all words have come."""
        window = self._window
        with m.If(window.done):
            with m.If(window.status == Status.OK):
                m.next = following
            with m.Else():
                m.d.sync += [self.status.eq(window.status), self.address.eq(window.address)]
                m.next = "done"

    def _read_header(self, m: Module) -> None:
        word = self._window.word
        with m.State("header"):
            self._read(m, 0, _HEADER_WORDS)
            m.next = "header words"
        with m.State("header words"):
            with m.If(word.valid), m.Switch(word.index):
                for index, (mask, right) in {
                    **_RULES,
                    4: (0xFFFF_FFFF, elf.ET_EXEC | self._format.machine << 16),
                }.items():
                    with m.Case(index), m.If(word.word & mask != right):
                        m.d.sync += self._is_bad.eq(1)
                with m.Case(_TABLE_WORD):
                    m.d.sync += self._segment.eq(word.word)
                with m.Case(_COUNT_WORD):
                    m.d.sync += self._segments_left.eq(word.word)
            self._when_read(m, "segment")

    def _read_segments(self, m: Module) -> None:
        word = self._window.word
        kind, offset, size = (self._segment_words.word_select(index, WORD_BITS) for index in (0, 1, 4))
        with m.State("segment"):
            with m.If(self._is_bad):
                self._malformed(m)
            with m.Elif(self._segments_left == 0):
                m.next = "end"
            with m.Else():
                self._read(m, self._segment, elf.PROGRAM_HEADER_BYTES // _WORD_BYTES)
                m.next = "segment words"
        with m.State("segment words"):
            with m.If(word.valid):
                m.d.sync += self._segment_words.eq(Cat(self._segment_words[WORD_BITS:], word.word))
            self._when_read(m, "segment kind")
        with m.State("segment kind"):
            m.d.sync += [self._segment.eq(self._segment + elf.PROGRAM_HEADER_BYTES)]
            m.d.sync += [self._segments_left.eq(self._segments_left - 1)]
            m.next = "segment"
            with m.If(kind == elf.PT_LOAD):
                m.d.sync += [self._code_offset.eq(offset), self._code_size.eq(size), self._codes.eq(self._codes + 1)]
                with m.If(self._codes == 1):
                    self._malformed(m)
            with m.If(kind == elf.PT_NOTE):
                m.d.sync += [self._note.eq(offset), self._end.eq(offset + size)]
                m.next = "note"

    def _read_notes(self, m: Module) -> None:
        word = self._window.word
        name_size, descriptor_size, kind = (self._note_words.word_select(index, WORD_BITS) for index in range(3))
        name = self._note + elf.NOTE_HEADER_BYTES
        descriptor, following = Signal(OFFSET_BITS), Signal(OFFSET_BITS)
        with m.State("note"):
            with m.If(self._note >= self._end):
                m.next = "segment"
            with m.Else():
                self._read(m, self._note, elf.NOTE_HEADER_BYTES // _WORD_BYTES)
                m.next = "note words"
        with m.State("note words"):
            with m.If(word.valid):
                m.d.sync += self._note_words.eq(Cat(self._note_words[WORD_BITS:], word.word))
            self._when_read(m, "note's name")
        with m.State("note's name"):
            m.d.sync += descriptor.eq(name + self._words(name_size) * _WORD_BYTES)
            m.next = "note's descriptor"
        with m.State("note's descriptor"):
            m.d.sync += following.eq(descriptor + self._words(descriptor_size) * _WORD_BYTES)
            m.next = "name"
        with m.State("name"):
            m.d.sync += self._is_named.eq(name_size == len(elf.NOTE_NAME))
            with m.If(following > self._end):
                self._malformed(m)
            with m.Else():
                self._read(m, name, self._words(name_size))
                m.next = "name words"
        with m.State("name words"):
            for index, right in enumerate(_NAME_WORDS):
                with m.If(word.valid & (word.index == index) & (word.word != right)):
                    m.d.sync += self._is_named.eq(0)
            self._when_read(m, "descriptor")
        with m.State("descriptor"):
            with m.If(~self._is_named | (kind != self._format.information.value)):
                m.d.sync += self._note.eq(following)
                m.next = "note"
            with m.Elif(descriptor_size != _INFORMATION_BYTES):
                self._malformed(m)
            with m.Else():
                self._read(m, descriptor, elf.PROGRAM_INFORMATION_WORDS)
                m.d.sync += self._note.eq(following)
                m.next = "information"

    @staticmethod
    def _words(size: Value) -> Value:
        """Whole words that hold a number of bytes."""
        return (size + _WORD_BYTES - 1) // _WORD_BYTES

    def _read_information(self, m: Module) -> None:
        word, information = self._window.word, Value.cast(self.image.information)
        with m.State("information"):
            with m.If(word.valid):
                m.d.sync += information.eq(Cat(information[WORD_BITS:], word.word))
            with m.If(self._window.done & (self._informations != 2)):
                m.d.sync += self._informations.eq(self._informations + 1)
            self._when_read(m, "note")
        with m.State("end"):
            is_good = (
                (self._codes == 1)
                & (self._informations == 1)
                & (self.image.information[0] == self._format.version)
                & (self._code_size != 0)
                & (self._code_size <= self._format.most_units * self._format.unit_bytes)
                & (self._code_offset % _WORD_BYTES == 0)
                & (self._code_offset + self._code_size <= self._format.image_limit)
            )
            with m.If(is_good):
                m.next = "divide"
            with m.Else():
                self._malformed(m)

    def _divide(self, m: Module) -> None:
        """The number of units, a bit in each cycle, the highest first."""
        unit_bytes, most = self._format.unit_bytes, self._format.most_units
        size, bits = self.image.size, len(self.image.size)
        rest, step = Signal(range(most * unit_bytes + 1)), Signal(bits)
        divisor = Signal(range((unit_bytes << bits - 1) + 1))
        with m.State("divide"):
            m.d.sync += [rest.eq(self._code_size), size.eq(0), step.eq(1 << bits - 1)]
            m.d.sync += divisor.eq(unit_bytes << bits - 1)
            m.next = "divide bits"
        with m.State("divide bits"):
            m.d.sync += [step.eq(step >> 1), divisor.eq(divisor >> 1)]
            with m.If(step == 0):
                m.next = "done"
                with m.If(rest != 0):
                    self._malformed(m)
            with m.Elif(rest >= divisor):
                m.d.sync += [rest.eq(rest - divisor), size.eq(size | step)]
