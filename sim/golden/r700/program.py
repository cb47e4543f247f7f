"""A program as the array runs it: its code, decoded where it is executed, its note, and the constants."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ctm.rtl.isa.formats import DataFormat, Tiling
from ctm.rtl.isa.r700.control_flow import TEXTURE_CLAUSES
from ctm.rtl.isa.r700.exports import COMPUTED_DEPTH
from ctm.rtl.isa.r700.limits import CLAUSE_TEMPORARIES
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.rtl.isa.r700.program import MEMORY_OUTPUT, SCRATCH_OUTPUT
from ctm.sim.golden.dpp.constants import Constants
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.pe.loader import Image
from ctm.sim.golden.r700.decode.error import IllegalError
from ctm.sim.golden.r700.decode.fetches import decode_fetches
from ctm.sim.golden.r700.decode.groups import decode_clause
from ctm.sim.golden.r700.decode.words import decode_word
from ctm.sim.golden.r700.draws.primitives import PrimitiveConstants
from ctm.sim.golden.r700.image import Information, information_of, stage_information
from ctm.sim.golden.r700.instruction import AluWord, Clause, Export, Flow, Illegal, Texture, Vertex, Word
from ctm.sim.golden.r700.reach import reached


class Code:
    """The code of a program. Each address is decoded once, when it is first reached."""

    def __init__(self, units: tuple[tuple[int, ...], ...], information: Information) -> None:
        self._units = units
        self._information = information
        self._words: dict[int, Word | Illegal] = {}
        self._clauses: dict[int, Clause | None] = {}

    def __len__(self) -> int:
        return len(self._units)

    def word(self, address: int) -> Word | Illegal:
        """The CF instruction at an address inside the code."""
        found = self._words.get(address)
        if found is None:
            try:
                found = decode_word(self._units[address], self._information)
            except IllegalError as error:
                found = Illegal(str(error))
            self._words[address] = found
        return found

    def clause(self, address: int) -> Clause | None:
        """The clause that the CF instruction at an address starts; None if it does not lie in the code."""
        if address not in self._clauses:
            word = self.word(address)
            assert isinstance(word, Flow | AluWord)
            self._clauses[address] = self._decode_clause(word)
        return self._clauses[address]

    def _decode_clause(self, word: Flow | AluWord) -> Clause | None:
        if word.target + word.units > len(self._units):
            return None
        if isinstance(word, AluWord):
            return decode_clause(self._units, word)
        texture = word.operation in TEXTURE_CLAUSES
        return decode_fetches(self._units, word.target, word.units, self._information, texture=texture)


@lru_cache(maxsize=64)
def code_of(units: tuple[tuple[int, ...], ...], information: Information) -> Code:
    """The code of a program; those that start again and again are decoded once."""
    return Code(units, information)


@dataclass(frozen=True, kw_only=True)
class Program:
    """A loaded program with its constants."""

    image: Image
    constants: Constants
    stage: DrawStage | None = None
    """Of a draw's program, which it is."""
    primitives: PrimitiveConstants | None = None
    """Of a draw's pixel program, what its constant banks beyond 0 are."""

    @cached_property
    def information(self) -> Information:
        """What its notes say."""
        return information_of(self.image) if self.stage is None else stage_information(self.image, self.stage)

    @cached_property
    def code(self) -> Code:
        """Its code."""
        return code_of(self.image.code, self.information)

    @property
    def temporaries(self) -> int:
        """Registers that exist: general-purpose ones, and after them the clause temporaries."""
        return self.information.gprs + CLAUSE_TEMPORARIES

    @cached_property
    def _reached(self) -> Mapping[int, Word]:
        return reached(self.code, self.information.start)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Outputs that some export may write."""
        found: set[int] = set()
        for word in self._reached.values():
            if isinstance(word, Export) and word.selects and word.base != COMPUTED_DEPTH:
                found |= set(range(word.base, word.base + word.burst))
        return tuple(sorted(found))

    @property
    def uncached_outputs(self) -> tuple[int, ...]:
        """Output 0 of a program that writes memory, output 3 of one with a scratch."""
        information = self.information
        return (MEMORY_OUTPUT,) * information.memory + (SCRATCH_OUTPUT,) * information.scratch

    def takes_uncached(self, buffer: Buffer) -> bool:
        """Whether memory at addresses that the program computes can be such a buffer: floats in rows."""
        return buffer.format is DataFormat.FLOAT32_1 and buffer.tiling is Tiling.LINEAR

    @cached_property
    def cached_inputs(self) -> frozenset[int]:
        """Inputs that some fetch may read."""
        found: set[int] = set()
        for address, word in self._reached.items():
            clause = self.code.clause(address) if isinstance(word, Flow) and word.units else None
            for instruction in clause.instructions if clause is not None else ():
                if isinstance(instruction, Texture | Vertex) and instruction.input is not None:
                    found.add(instruction.input)
        return frozenset(found)

    @property
    def uncached_inputs(self) -> frozenset[int]:
        """None: what it reads past the caches is its memory and its scratch, which are outputs."""
        return frozenset()

    @property
    def conditional_from_program(self) -> bool:
        """Whether the conditional value is the program's; else it is the PE's."""
        return self.information.depth
