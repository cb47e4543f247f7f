"""Automatic bits: NOP, ALU_WAIT, TEX_SEM_WAIT and TEX_SEM_ACQUIRE."""

import pytest

from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.sim.assembler import assemble_listing
from ctm.sim.assembler.r5xx.draft import Draft
from ctm.tb.assembler.r5xx.assembly import assemble

BITS = (("w", "tex_sem_wait"), ("n", "nop"), ("f", "alu_wait"))


def bits(text: str) -> list[str]:
    """Per instruction: w wait for the semaphore, a acquire it, n bubble, f wait for the ALU."""
    found = []
    for words in assemble(text).instructions:
        draft = Draft(InstructionType(words[0] & 3), words)
        letters = "".join(letter for letter, field in BITS if draft.get("common")[field])
        if draft.kind is InstructionType.TEX and draft.get("tex_inst")["tex_sem_acquire"]:
            letters += "a"
        found.append(letters)
    return found


LOOKUPS = "TEX r1 = LOOKUP(i0, r0)\nTEX r2 = LOOKUP(i0, r0)\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        # The last of a group acquires, the first user waits.
        (f"{LOOKUPS}ALU r3 = MOV(r0)\nALU r4 = MOV(r1)\nALU r5 = MOV(r2)\nOUT", ["", "wa", "", "w", "", "w"]),
        # A dependent fetch is a user and begins a group of its own.
        ("TEX r1 = LOOKUP(i0, r0)\nTEX r2 = LOOKUP(i0, r1)\nOUT o0 = MOV(r2)", ["wa", "wa", "w"]),
        # Overwriting a result is use too; a channel that is not read is not.
        ("TEX r1 = LOOKUP(i0, r0)\nALU r1.r = MOV(r0)\nOUT", ["wa", "w", "w"]),
        ("TEX r1 = LOOKUP(i0, r0)\nALU p.r[<0] = MUL(r0, 1)\nALU r3.r = MUL(r0, 1)\nOUT", ["wa", "", "", "w"]),
        # Two groups, the second issued while the first is held.
        (f"{LOOKUPS}ALU r4 = MOV(r1)\nTEX r5 = LOOKUP(i0, r0)\nOUT o0 = MOV(r5)", ["", "wa", "w", "wa", "w"]),
        # Flow control waits, so that nothing is pending after it.
        ("TEX r1 = LOOKUP(i0, r0)\nIF b0\nOUT o0 = MOV(r1)\nENDIF\nOUT", ["wa", "wf", "", "f", "w"]),
        # A relative address may be any temporary.
        ("TEX r9 = LOOKUP(i0, r0)\nALU r3 = MOV(r1[aL])\nOUT", ["wa", "w", "w"]),
        # KILL reads a result; a fetch that writes nothing leaves nothing.
        ("TEX r1 = LOOKUP(i0, r0)\nTEX KILL_LT_0(r1)\nOUT", ["wa", "w", "w"]),
        ("TEX r1._ = LOOKUP(i0, r0)\nOUT o0 = MOV(r1)", ["", "w"]),
        # LAST may end the program.
        ("TEX r1 = LOOKUP(i0, r0)\nOUT o0 = MOV(r0) last\nOUT o0 = MOV(r1)", ["wa", "w", "w"]),
        # Bits that were written stay; an acquire that was written gets its wait.
        (f"TEX r9 = LOOKUP(i0, r0) acquire\n{LOOKUPS}OUT o0 = MOV(r9)", ["wa", "", "wa", "w"]),
    ],
)
def test_semaphore(text: str, wanted: list[str]) -> None:
    assert bits(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ALU r1 = MOV(r0)\nALU r2 = MUL((1 - r1), r0)\nOUT", ["n", "", "w"]),
        ("ALU r1 = MOV(r0)\nALU r2 = MUL((r3 - r1), r0)\nOUT", ["n", "", "w"]),
        ("ALU r1 = MOV(r0)\nALU r2 = MUL((1 - r3), r1)\nOUT", ["", "", "w"]),
        ("ALU r1 = MOV(r0)\nALU r2 = MDH(r1, -1, r1)\nOUT", ["n", "", "w"]),
        ("ALU r1 = MOV(r0)\nALU r2 = MDH(r0, -r1, r0)\nOUT", ["", "", "w"]),
        ("ALU r1 = MOV(r0)\nALU r3 = MOV(r0)\nALU r2 = MUL((1 - r1), r0)\nOUT", ["", "", "", "w"]),
        ("ALU r1[aL] = MOV(r0)\nALU r2 = MUL((1 - r9), r0)\nOUT", ["n", "", "w"]),
        # Across flow control: whichever instruction may have come before.
        ("ALU r1 = MOV(r0)\nIF b0\nALU r2 = MUL((1 - r1), r0)\nENDIF\nOUT", ["n", "f", "", "f", "w"]),
        ("LOOP i0\nALU r2 = MUL((1 - r1), r0)\nALU r1 = MOV(r0)\nENDLOOP\nOUT", ["f", "", "n", "f", "w"]),
        ("CALL s\nALU r2 = MUL((1 - r1), r0)\ne: OUT\n.end e\ns: ALU r1 = MOV(r0)\nRET", ["f", "", "w", "n", "f"]),
    ],
)
def test_bubbles(text: str, wanted: list[str]) -> None:
    assert bits(text) == wanted


def test_uncached_writes_that_acquire_are_waited_for() -> None:
    text = """
    .uncached_writes
    OUT umrt[SAME_IDX_ACQUIRE] = MOV(r0)
    TEX r1 = LOOKUP(i1, r0)
    TEX r2 = LOOKUP_UNCACHED(i0, r0) unscaled
    OUT umrt[SAME_IDX] = MOV(r2)
    """
    assert bits(text) == ["w", "", "wa", "w"]


def test_manual_sets_nothing() -> None:
    text = f".manual\n{LOOKUPS}IF b0\nOUT o0 = MUL((1 - r1), r0)\nENDIF"
    assert bits(text) == [""] * 5


def test_an_override_has_the_last_word() -> None:
    assert bits("TEX r1 = LOOKUP(i0, r0)\nOUT o0 = MOV(r1) {tex_sem_wait=0}") == ["wa", ""]
    word = ".word 0x00000002, 0, 0, 0, 0, 0"
    assert assemble(f"{word}\nOUT").instructions[0] == (2, 0, 0, 0, 0, 0)


def test_lines_of_instructions() -> None:
    text = "; a comment\nALU r1 = MOV(r0)\n\nx:\n  IF b0\nOUT o0.rgb = MOV(r1)\n|| o0.a = MOV(r1)\nENDIF"
    listing = assemble_listing(text)
    assert listing.lines == (2, 5, 6, 8, 8)
