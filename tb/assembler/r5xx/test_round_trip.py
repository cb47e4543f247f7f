"""Disassembly assembles to the same: real programs, random words, random executables."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS
from ctm.sim.assembler import disassemble
from ctm.sim.elf import Notes, read, read_shader, write
from ctm.sim.elf.r5xx.executable import Executable
from ctm.tb.assembler.r5xx.assembly import assemble
from ctm.tb.elf.r5xx.programs import SHADERS

WORD = st.integers(0, 2**32 - 1)


def instruction(kind: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Six uniformly random words of one type."""
    return st.tuples(WORD.map(lambda word: word & ~3 | kind), *[WORD] * 5)


INSTRUCTION = st.one_of([instruction(kind) for kind in range(4)])
SLOT = st.integers(0, INSTRUCTION_SLOTS - 1)


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_real_programs_come_back_without_overrides(path) -> None:
    executable = read_shader(path.read_bytes()).executable
    text = disassemble(executable)
    assert "{" not in text and ".word" not in text and "FC " not in text
    assert write(assemble(text)) == write(executable)


@settings(max_examples=60)
@given(st.lists(INSTRUCTION, min_size=1, max_size=4), st.booleans())
def test_any_words_come_back(instructions: list[tuple[int, ...]], uncached_writes: bool) -> None:
    executable = Executable(
        instructions=tuple(instructions), end=len(instructions) - 1, uncached_writes=uncached_writes
    )
    found = assemble(disassemble(executable))
    assert found.instructions == executable.instructions


@pytest.mark.slow
def test_every_single_bit_comes_back() -> None:
    """One instruction per type and bit, in programs that fit the slots."""
    instructions = [
        tuple(kind if word == 0 and bit < 2 else (1 << bit if index == word else 0) | (kind if index == 0 else 0)
              for index in range(6))
        for kind in range(4)
        for word in range(6)
        for bit in range(2 if word == 0 else 0, 32)
    ]  # fmt: skip
    for at in range(0, len(instructions), 256):
        some = tuple(instructions[at : at + 256])
        executable = Executable(instructions=some, end=len(some) - 1)
        assert assemble(disassemble(executable)).instructions == some


@settings(max_examples=40)
@given(
    st.builds(
        Executable,
        instructions=st.lists(INSTRUCTION, min_size=1, max_size=2).map(tuple),
        start=SLOT,
        end=SLOT,
        offset=SLOT,
        highest_temporary=st.integers(0, 127),
        fg_depth_src=WORD,
        us_config=WORD,
        us_fc_ctrl=WORD,
        us_w_fmt=WORD,
        uncached_writes=st.booleans(),
        notes=st.builds(
            Notes,
            inputs=st.lists(st.integers(0, 15), max_size=3).map(tuple),
            outputs=st.lists(st.integers(0, 3), max_size=3).map(tuple),
            conditional_output=st.booleans(),
            float_constants=st.lists(st.integers(0, 255), max_size=3).map(tuple),
            int_constants=st.lists(st.integers(0, 31), max_size=3).map(tuple),
            early_exit=st.booleans(),
        ),
    )
)
def test_any_executable_comes_back(executable: Executable) -> None:
    data = write(executable)
    assert write(assemble(disassemble(read(data)))) == data


def test_compiled_code_keeps_its_structure() -> None:
    """The flow control of a real program reads as statements."""
    path = next(path for path in SHADERS if path.stem == "loop_break_noopt")
    text = disassemble(read_shader(path.read_bytes()).executable)
    assert json.loads(path.read_bytes())["glsl"].count("for(") == 1
    words = [line.split(";")[0].split()[0] for line in text.splitlines() if line.startswith(" ")]
    assert words.count("LOOP") == words.count("ENDLOOP") == 1
    assert words.count("IF") == words.count("ENDIF") > 0
