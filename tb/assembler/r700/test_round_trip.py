"""Disassembly assembles to the same: real programs, random words, single bits, random notes."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm.rtl.isa.r700.fetch import MemoryOperation, TextureOperation
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.assembler import disassemble
from ctm.sim.elf import read, write
from ctm.sim.elf.r700.executable import Unit
from ctm.tb.assembler.r700.assembly import assemble
from ctm.tb.assembler.r700.programs import NAMES, load, program
from ctm.tb.lib.some import some

WORD = st.integers(0, 2**32 - 1)
UNIT = st.tuples(WORD, WORD)
END: Unit = (0x00000000, 0x80200000)
"""A NOP that ends the program."""


@pytest.mark.parametrize("name", NAMES)
def test_real_programs_come_back(name: str) -> None:
    executable = load(name)
    text = disassemble(executable)
    assert ".unchecked" not in text
    assert write(assemble(text)) == write(executable)


@pytest.mark.parametrize("name", some(NAMES, 3))
def test_sizes_are_found_out(name: str) -> None:
    """STACK_SIZE is what the compilers say; so is NUM_GPRS, if no register is addressed relatively."""
    executable = load(name)
    text = disassemble(executable)
    found = assemble(re.sub(r"^\.(gprs|stack) .*\n", "", text, flags=re.MULTILINE))
    assert found.stack_size == executable.stack_size
    assert found.gprs == (executable.gprs if "AR.x" not in text else 124)


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(UNIT, min_size=1, max_size=24))
def test_any_words_come_back(code: list[Unit]) -> None:
    executable = program(code)
    assert assemble(disassemble(executable)) == executable


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(UNIT, min_size=1, max_size=8), st.integers(0, 2**22 - 1), st.integers(0, 2**18 - 1))
def test_any_words_of_an_alu_clause_come_back(clause: list[Unit], low: int, high: int) -> None:
    start = (2 | low << 22 & 0xFFFFFFFF, 0xA0000000 | len(clause) - 1 << 18 | high)
    executable = program([start, END, *clause])
    assert assemble(disassemble(executable)) == executable


@settings(max_examples=150)
@given(
    st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=4),
    st.sampled_from((0x80800000, 0x81000000, 0x8D800000)),
)
def test_any_words_of_a_fetch_clause_come_back(clause: list[tuple[Unit, Unit]], word: int) -> None:
    start = (2, word | len(clause) - 1 << 10)
    executable = program([start, END, *(unit for fetch in clause for unit in fetch)])
    assert assemble(disassemble(executable)) == executable


def test_every_single_bit_of_a_control_word_comes_back() -> None:
    for form in (0x80000000, 0x90000000, 0x93800000, 0x94000000, 0xA0000000):
        for bit in range(64):
            word = (1 << bit if bit < 32 else 0, form ^ (1 << bit - 32 if bit >= 32 else 0))
            executable = program([word, END])
            assert assemble(disassemble(executable)) == executable


def test_every_single_bit_of_an_alu_instruction_comes_back() -> None:
    for form in ((0x80000000, 0x00000010), (0x80000000, 0x00028000)):
        for bit in range(64):
            unit = (form[0] ^ (1 << bit if bit < 32 else 0), form[1] ^ (1 << bit - 32 if bit >= 32 else 0))
            executable = program([(2, 0xA0000000 | 1 << 18), END, unit, (0x12345678, 0x9ABCDEF0)])
            assert assemble(disassemble(executable)) == executable


@pytest.mark.slow
def test_every_single_bit_of_a_fetch_comes_back() -> None:
    starts = 0x80800000, 0x81000000
    codes = [operation.value for operation in TextureOperation]
    codes += [TextureOperation.MEM.value | operation.value << 8 for operation in MemoryOperation]
    for code in codes:
        for bit in range(5, 128):
            words = [
                code ^ (1 << bit if bit < 32 else 0),
                *[1 << bit - 32 * at if bit // 32 == at else 0 for at in (1, 2, 3)],
            ]
            # In clauses of both kinds, which decode alike, alternately.
            executable = program([(2, starts[bit % 2]), END, (words[0], words[1]), (words[2], words[3])])
            text = disassemble(executable)
            assert ".unit" not in text
            assert assemble(text) == executable


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {
            "start": st.integers(0, 2),
            "type": st.sampled_from(ProgramType),
            "gprs": st.integers(1, 124),
            "stack_size": st.integers(0, 64),
            "dx10_clamp": st.booleans(),
            "depth": st.booleans(),
            "memory": st.booleans(),
            "scratch": st.booleans(),
            "texture_base": WORD,
            "lds_dwords": st.integers(0, 256).map(lambda rows: 4 * rows),
        }
    )
)
def test_any_note_comes_back(note: dict[str, object]) -> None:
    data = write(program([END, END, END], **note))
    assert write(assemble(disassemble(read(data)))) == data


@pytest.mark.parametrize("seed", range(30))
def test_real_programs_with_wrong_bits_come_back(seed: int) -> None:
    draw = random.Random(seed)
    code = list(load(draw.choice([name for name in NAMES if len(load(name).code) < 200])).code)
    for _ in range(draw.randint(1, 20)):
        at, bit = draw.randrange(len(code)), draw.randrange(64)
        low, high = code[at]
        code[at] = (low ^ (1 << bit if bit < 32 else 0), high ^ (1 << bit - 32 if bit >= 32 else 0))
    executable = program(code)
    assert assemble(disassemble(executable)) == executable


def test_the_text_reads_well() -> None:
    text = disassemble(load("loop_break_sb"))
    assert "PRED_SETGT ____, R0.x, 2.0 UPDATE_EXEC_MASK" in text
    assert "LOOP_BREAK ADDR(L11)" in text and "; ALU clause of word 6" in text
