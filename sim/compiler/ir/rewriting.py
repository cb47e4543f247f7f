"""Replaces instructions of a function by others, in the text of its IR."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from ctm.sim.compiler.ir.module import Block, Function, Instruction

_NAMED = re.compile(r"%-c\.(\d+)")


class Replacement:
    """The instructions that replace one; they belong to the same line of the source."""

    def __init__(self, replaced: Instruction, numbers: Iterator[int]) -> None:
        self.replaced = replaced
        self.instructions: list[Instruction] = []
        self._numbers = numbers

    def value(self, text: str) -> str:
        """Add an instruction; the name of its result."""
        name = f"%-c.{next(self._numbers)}"
        self.instructions.append(Instruction(name, text, self.replaced.debug_location))
        return name

    def effect(self, text: str) -> None:
        """Add an instruction without a result."""
        self.instructions.append(Instruction("", text, self.replaced.debug_location))

    def result(self, text: str) -> None:
        """Add the instruction that has the result of the one that is replaced."""
        self.instructions.append(Instruction(self.replaced.result, text, self.replaced.debug_location))

    def keep(self, text: str | None = None) -> None:
        """Add the replaced instruction itself, with another text if one is given."""
        self.instructions.append(self.replaced if text is None else replace(self.replaced, text=text))


Rule = Callable[[Replacement], bool]
"""Fills a replacement, and says whether it did."""


def numbers_for(function: Function) -> Iterator[int]:
    """Numbers for names that a function does not have yet."""
    there = (_NAMED.fullmatch(each.result) for each in function.instructions)
    return count(max((int(found[1]) + 1 for found in there if found), default=0))


def rewrite(function: Function, rules: Sequence[Rule], numbers: Iterator[int] | None = None) -> Function:
    """A function in which the first rule that fits an instruction has replaced it."""
    numbers = numbers or numbers_for(function)
    blocks = []
    for block in function.blocks:
        instructions = []
        for instruction in block.instructions:
            replacement = Replacement(instruction, numbers)
            if not any(rule(replacement) for rule in rules):
                replacement.instructions = [instruction]
            instructions += replacement.instructions
        blocks.append(Block(block.label, instructions))
    return Function(function.head, blocks)
