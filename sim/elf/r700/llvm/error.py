"""The error of an object with a mistake of LLVM."""

from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.sim.elf.error import ElfError


class DefectError(ElfError):
    """LLVM did `problem`, so the program computes nonsense; `word` is its CF instruction."""

    def __init__(self, problem: str, word: int, advice: str) -> None:
        super().__init__(f"CF instruction {word}: LLVM {problem}: {advice}", UNIT_BYTES * word)
        self.problem = problem
        self.word = word
