"""R5xx programs as lists of instructions: what is left when some are taken out."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ctm.rtl.isa.r5xx.instruction import COMMON, FC_ADDR
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import replace as replace_fields
from ctm.rtl.isa.word import unpack
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.tb.verify import listing

_TARGET_WORD = 3

assembled = partial(listing.assembled, kind=Executable)
"""The program of a listing; errors as `listing.assembled`."""


def own_instructions(executable: Executable) -> tuple[Instruction, ...]:
    """The instructions from the program's offset on."""
    return executable.instructions[executable.offset :]


def kept(executable: Executable, items: Sequence[int]) -> Executable | None:
    """The program with these instructions only, counted from its offset; jumps go to the next one that is left.

    None if nothing is left between its start and its end.
    """
    own, offset = own_instructions(executable), executable.offset
    start, end = bisect_left(items, executable.start), bisect_right(items, executable.end) - 1
    if not 0 <= start <= end:
        return None
    code = tuple(_moved(own[item], items, offset) for item in items)
    left = executable.instructions[:offset] + code
    return replace(executable, instructions=left, start=start, end=end, lines=None)


def _moved(words: Instruction, items: Sequence[int], offset: int) -> Instruction:
    if unpack(COMMON, words[0])["type"] != InstructionType.FC.value:
        return words
    fields = unpack(FC_ADDR, words[_TARGET_WORD])
    base = offset if fields["jump_global"] else 0
    old = fields["jump_addr"] - base
    if not 0 <= old <= items[-1]:
        # It leaves the program, and is to do so still.
        return words
    target = (bisect_left(items, old) + base) % INSTRUCTION_SLOTS
    moved = replace_fields(FC_ADDR, words[_TARGET_WORD], jump_addr=target)
    return *words[:_TARGET_WORD], moved, *words[_TARGET_WORD + 1 :]
