"""Whatever the text: it assembles, or is rejected with locations in it."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm.sim.assembler import AssemblyError, assemble, disassemble
from ctm.sim.assembler.listing import MOST_ERRORS
from ctm.sim.assembler.r700.names import ALU_CODES, CONTROL_CODES, FETCH_CODES
from ctm.tb.assembler.r700.programs import NAMES, load
from ctm.tb.lib.seeds import seeds

SOURCE = """.isa r700
.dx10_clamp
.equ count = R7
begin:
    0  x: MUL_IEEE*2 R1.x, -|R0.x|, C2.y CLAMP
       t: RECIP_IEEE R1.y, R0.y
    1  ?: ADD count.x, PV.x, PS
    LOOP i1
        IF PRED_SETGT R[1+aL].x, 0.5
            DOT4 R2.x, R1.xyzw, C3
            SAMPLE R3.xyz_, R2.xy__, t1, s0 OFFSET(1, -0.5)
        ELSE
            BREAK IF PRED_SETE_INT count.x, 7
            .pack
            MULADD R4.x, R1.x, 2.5, R3.x
            MOV R4.y, LIT(1.0) PRED_SEL_ONE
            .endpack
        ENDIF
        CONTINUE IF !b3
    ENDLOOP
    JUMP ADDR(end) POP_CNT(0) COND(FALSE)
    CALL sub
    FETCH R5.xyzw, R1.x, b0 FORMAT(INT32_4)
end:
    EXPORT_DONE PIX0, R4.xyz1 BURST(2)
    SUB sub
    ALU_PUSH_BEFORE KCACHE0(CB0:0-31)
    MOV R6.x, KC0[20].x {src0_neg=1}
    POP POP_CNT(1)
    ENDSUB
"""
TOKENS = (
    "", "(", ")", "|", "R0", ".x", ",", "-", "9", "\n", "=", "MUL", "[", "]", ":", "}", "{", "?:", "x:", "t:",
    ".pack\n", ".endpack\n", ".manual\n", "IF ", "ENDIF\n", "LOOP\n", "SUB a\n", "ALU\n", "TEX\n", "PV", "KC0", "C",
    "1.5", "end", ".unchecked\n", ".literals 1, 2\n", ".unit 1, 2\n", "ADDR(", "+", "aL", "1_INT", "LIT",
)  # fmt: skip


def check(text: str) -> None:
    """The text assembles, or is rejected with locations in it."""
    try:
        assemble(text, language="r700")
    except AssemblyError as error:
        lines = text.split("\n")
        for found in error.errors:
            assert found.message
            assert 1 <= found.line <= len(lines)
            assert 1 <= found.column <= len(lines[found.line - 1]) + 1


def test_the_source_assembles() -> None:
    assert assemble(SOURCE).kind == "r700"


@settings(max_examples=200)
@given(st.data())
def test_mutated_sources_assemble_or_are_rejected(data: st.DataObject) -> None:
    text = SOURCE
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.integers(0, 12))
        text = text[:at] + data.draw(st.sampled_from(TOKENS)) + text[at + size :]
    check(text)


@settings(max_examples=200)
@given(st.data())
def test_lines_in_any_order_assemble_or_are_rejected(data: st.DataObject) -> None:
    lines = SOURCE.splitlines()
    check("\n".join(data.draw(st.lists(st.sampled_from(lines), max_size=40))))


WORDS = [
    *ALU_CODES,
    *CONTROL_CODES,
    *FETCH_CODES,
    *TOKENS,
    " ",
    " ",
    " ",
    "\n",
    ".x",
    ".xyzw",
    "R1.x",
    "____",
    "PIX0",
    "0",
]


@settings(max_examples=150)
@given(st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join))
def test_random_words_assemble_or_are_rejected(text: str) -> None:
    check(text)


@settings(max_examples=200)
@given(st.text() | st.text(alphabet="RCxyzwt0123456789 ADMULPV.,()|=-*;:{}[]<>!?\n\t\x00é"))
def test_random_text_assembles_or_is_rejected(text: str) -> None:
    check(text)


@pytest.mark.parametrize("seed", seeds(20, of=40))
def test_mutated_listings_assemble_or_are_rejected(seed: int) -> None:
    draw = random.Random(seed)
    text = disassemble(load(draw.choice([name for name in NAMES if len(load(name).code) < 120])))
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice(TOKENS) + text[at + draw.randint(0, 8) :]
    check(text)


@pytest.mark.parametrize("line", ["MOV R0.x, R1.x", "EXPORT PIX0, R1.xyzw", "no such line", "LOOP", "\N{SECTION SIGN}"])
def test_a_text_that_is_much_too_long_is_told_at_once(line: str) -> None:
    start = time.monotonic()
    with pytest.raises(AssemblyError) as caught:
        assemble(".isa r700\n" + f"{line}\n" * 100_000)
    assert len(caught.value.errors) <= MOST_ERRORS
    assert time.monotonic() - start < 30
