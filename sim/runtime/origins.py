"""Where in its source a fault is: what runs on a machine, found out from what it was given."""

from collections.abc import Iterator
from dataclasses import replace

from ctm.rtl.isa import executable as elf
from ctm.rtl.isa.commands import BASE_MASK
from ctm.rtl.isa.draws import ALL_BY_WORD
from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.rtl.isa.program_formats import PROGRAM_FORMATS
from ctm.rtl.isa.status import Status
from ctm.sim.elf import ElfError, Executable, read
from ctm.sim.elf.lines import Line
from ctm.sim.elf.sources import source_text
from ctm.sim.fault import MachineError
from ctm.sim.golden.instruction_sets import EXPLANATIONS, INSTRUCTION_SETS
from ctm.sim.golden.pe.loader import load
from ctm.sim.memory import Memory

_SET_PROGRAM, _STARTS = "set_inst_fmt", ("start_program", "start_draw")
_SECTIONS_AT, _SIZES_AT = 8, 11
"""Words of the ELF header with the offset of the section headers, and with their size and number."""
_MOST_WORDS = 1024
_LARGEST = max(known.image_limit for known in PROGRAM_FORMATS.values()) * 2


class Origins:
    """Says of a machine with cores of `kind` where its faults are, and what is wrong there.

    Programs that are in memory without line tables are added to it, and buffers that were executed.
    """

    def __init__(self, memory: Memory, kind: str) -> None:
        self._memory = memory
        self._kind = kind
        self._executables: dict[int, Executable] = {}
        self._base: int | None = None
        """Where the program of the last set_inst_fmt is."""
        self._programs: dict[int, Executable | None] = {}
        self._described: dict[tuple[int, int], str] = {}
        """What was found out of programs while memory has been the same."""

    def add(self, address: int, executable: Executable) -> None:
        """A program was written to an address."""
        self._executables[address] = executable

    def add_all(self, other: "Origins") -> None:
        """All programs of `other` were written, too."""
        self._executables |= other._executables

    def executed(self, address: int, dwords: int) -> None:
        """The buffer of `dwords` words at `address` was executed, or dropped somewhere."""
        for _, name, base in self._commands(address, dwords):
            self._base = base if name == _SET_PROGRAM else self._base
        self._programs.clear()
        self._described.clear()

    def reset(self) -> None:
        """The machine was reset."""
        self._base = None

    def located(self, error: MachineError, address: int, dwords: int) -> MachineError:
        """The error of a buffer, with what its PC means, its line, and what is wrong there; as it is if it has none."""
        if error.pc is None:
            return error
        base = self._base_of(error, address, dwords)
        instruction_set = INSTRUCTION_SETS[self._kind]
        found = replace(error, place=error.place or instruction_set.describe_pc(error.pc))
        if base is None:
            return found
        if found.findings is not None:
            texts = (f"{self._said(base, pc)}: {text}" for pc, text in found.findings)
            found = replace(found, detail="; ".join(texts))
        line = self.line(base, error.pc)
        if line is not None:
            found = replace(found, file=line.file, line=line.line, source=self._text(base, line))
        return replace(found, detail=found.detail or self._explained(base, error.pc, error.status))

    def line(self, base: int, pc: int) -> Line | None:
        """The line at a PC of the program at an address, None where that is not known."""
        program = self.program(base)
        if program is None or program.lines is None:
            return None
        return program.lines.at(INSTRUCTION_SETS[self._kind].unit(pc))

    def described(self, base: int, pc: int) -> str:
        """The line at a PC with its text as far as they are known, else ""."""
        if (base, pc) not in self._described:
            line = self.line(base, pc)
            text = line and self._text(base, line)
            self._described[base, pc] = "" if line is None else f"{line}: {text}" if text else str(line)
        return self._described[base, pc]

    def program(self, base: int) -> Executable | None:
        """The program whose file is at an address; None if there is none that can be read."""
        if base not in self._programs:
            try:
                found = read(self._file(base))
            except ElfError:
                found = None
            written = self._executables.get(base)
            self._programs[base] = written if written is not None and written == found else found
        return self._programs[base]

    def _file(self, base: int) -> bytes:
        header = [int(word) for word in self._memory.words(base, elf.ELF_HEADER_BYTES // WORD_BYTES)]
        size, count = header[_SIZES_AT] >> 16, header[_SIZES_AT + 1] & 0xFFFF
        end = header[_SECTIONS_AT] + size * count
        return bytes(self._memory.bytes[base : base + max(elf.ELF_HEADER_BYTES, min(end, _LARGEST))])

    def _said(self, base: int, pc: int) -> str:
        line = self.line(base, pc)
        return INSTRUCTION_SETS[self._kind].describe_pc(pc) + (f", {line}" if line else "")

    def _text(self, base: int, line: Line) -> str | None:
        program = self.program(base)
        return source_text(program.lines, line) if program is not None and program.lines is not None else None

    def _explained(self, base: int, pc: int, status: Status) -> str:
        try:
            return EXPLANATIONS[self._kind](load(self._memory, base, self._kind), pc, status)
        except MachineError:
            return ""

    def _base_of(self, error: MachineError, address: int, dwords: int) -> int | None:
        """Where the program is that failed; None if it may be one of several."""
        base, bases = self._base, set()
        for at, name, value in self._commands(address, dwords):
            if name == _SET_PROGRAM:
                base = value
            elif base is not None:
                bases.add(base)
                if error.word is not None and at == error.address:
                    return base
        # A bus error does not say which start_program it is of.
        return bases.pop() if len(bases) == 1 else None

    def _commands(self, address: int, dwords: int) -> Iterator[tuple[int, str, int]]:
        """Commands of a buffer that choose a program or start one, with their addresses and the programs' addresses."""
        # All at once is fastest; a number of words that is wrong may be any.
        words = self._memory.words(address, min(dwords, _MOST_WORDS)).tolist()
        index = 0
        while index < dwords:
            if index + 1 >= len(words):
                words += self._memory.words(address + WORD_BYTES * len(words), _MOST_WORDS).tolist()
            command = ALL_BY_WORD.get(words[index])
            if command is None or index + command.length > dwords:
                return
            at = (address + WORD_BYTES * index) % ADDRESS_SPACE
            if command.name == _SET_PROGRAM:
                yield at, command.name, words[index + 1] & BASE_MASK
            elif command.name in _STARTS:
                yield at, command.name, 0
            index += command.length
