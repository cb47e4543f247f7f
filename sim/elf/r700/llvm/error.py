"""The error of an object with a mistake of LLVM."""

from ctm.rtl.isa.r700.limits import UNIT_BYTES
from ctm.sim.elf.error import ElfError


class DefectError(ElfError):
    """LLVM did `problem`, so the program computes nonsense; `word` is its CF instruction.

    `flags` says how to compile it otherwise, `change` what to write otherwise; "" if that does not help.
    """

    def __init__(self, problem: str, word: int, *, flags: str = "", change: str = "") -> None:
        advice = ", or ".join(filter(None, (flags, change)))
        super().__init__(f"CF instruction {word}: LLVM {problem}: {advice}", UNIT_BYTES * word)
        self.problem = problem
        self.word = word
        self.change = change
