"""The ELF header of an executable, and the offsets of its segments' headers."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BYTES
from ctm.rtl.pe.window import OFFSET_BITS, word_layout

HEADER_WORDS = elf.ELF_HEADER_BYTES // WORD_BYTES
_RULES = {
    0: (0xFFFF_FFFF, int.from_bytes(elf.ELF_MAGIC, "little")),
    1: (0xFF00_FFFF, elf.ELFCLASS32 | elf.ELFDATA2LSB << 8 | elf.ELFOSABI_ATI << 24),
    2: (0x0000_00FF, elf.ABI_VERSION),
    9: (0xFFFF_FFFF, elf.EF_ATI_DPP),
    10: (0xFFFF_0000, elf.PROGRAM_HEADER_BYTES << 16),
}
"""Words of the ELF header: the bits that are checked, and their values. Word 4 has the program format's machine."""
_TABLE_WORD, _COUNT_WORD = 7, 11


class SegmentTable(wiring.Component):
    """Checks the words of an ELF header, and then steps through the headers of its segments.

    Members
    -------
    invalidate : ``In(1)``
        Begin another header.
    word : ``In(word_layout(image_limit))``
        Words of the header, each once.
    next : ``In(1)``
        Go on to the next segment.
    is_bad : ``Out(1)``
        A word has an illegal value.
    is_empty : ``Out(1)``
        There are no more segments.
    offset : ``Out(34)``
        Offset of the segment's header.
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        self._rules = {**_RULES, 4: (0xFFFF_FFFF, elf.ET_EXEC | program_format.machine << 16)}
        super().__init__(
            {
                "invalidate": In(1),
                "word": In(word_layout(program_format.image_limit)),
                "next": In(1),
                "is_bad": Out(1),
                "is_empty": Out(1),
                "offset": Out(OFFSET_BITS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        word, remaining = self.word.word, Signal(16)
        m.d.comb += self.is_empty.eq(remaining == 0)
        with m.If(self.invalidate):
            m.d.sync += self.is_bad.eq(0)
        with m.If(self.next):
            m.d.sync += [self.offset.eq(self.offset + elf.PROGRAM_HEADER_BYTES), remaining.eq(remaining - 1)]
        with m.If(self.word.valid), m.Switch(self.word.index):
            for index, (mask, right) in self._rules.items():
                with m.Case(index), m.If(word & mask != right):
                    m.d.sync += self.is_bad.eq(1)
            with m.Case(_TABLE_WORD):
                m.d.sync += self.offset.eq(word)
            with m.Case(_COUNT_WORD):
                m.d.sync += remaining.eq(word)
        return m
