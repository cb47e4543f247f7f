"""What values of signals mean, as the files that viewers read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from ctm.rtl.config import MachineConfig
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.isa.limits import ADDRESS_BITS
from ctm.sim.assembler.languages import statements
from ctm.sim.elf import Executable

Programs = Mapping[int, tuple[str, Executable]]


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Texts of a signal's values; `name` is what a viewer calls them."""

    name: str
    width: int
    texts: Mapping[int, str]

    def filter(self) -> str:
        """A translate filter file of GTKWave: hexadecimal values in its notation, and the text that replaces each."""
        digits = -(-self.width // 4)
        return "".join(f"{value:0{digits}X} {text}\n" for value, text in self.texts.items())

    def mnemonics(self) -> str:
        """A mnemonic file of Surfer: binary values, and the texts in quotes."""
        lines = (f'{value:0{self.width}b} "{text}"\n' for value, text in self.texts.items())
        return "".join([f"Name: {self.name}\nBits: {self.width}\n", *lines])


def of_enumeration(name: str, kind: type[Enum], width: int) -> Texts:
    """The names of an enumeration's members."""
    return Texts(name=name, width=width, texts={member.value: member.name for member in kind})


def of_instructions(name: str, programs: Programs, config: MachineConfig) -> Texts:
    """The instructions of a run: their texts, by the address of their program above the one in its code.

    A wave slot that has issued nothing has the value 0.
    """
    pc_bits = INSTRUCTION_SETS[config.array.instruction_set].shapes.program_format.most_units.bit_length()
    texts = {0: "none"}
    for address, (_, executable) in programs.items():
        texts |= {address << pc_bits | unit: text for unit, text in _instructions(executable)}
    return Texts(name=name, width=pc_bits + ADDRESS_BITS, texts=texts)


def _instructions(executable: Executable) -> Iterator[tuple[int, str]]:
    """The text of each instruction in one line, with its source line where that is known."""
    for unit, text in statements(executable).items():
        line = executable.lines.at(unit) if executable.lines is not None else None
        location = "" if line is None else f"  ; {line}"
        # A quote would end the text in a mnemonic file.
        yield unit, f"{unit}: {' '.join(text.split())}{location}".replace('"', "'")
