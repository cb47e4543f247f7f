"""Errors name the location and the mistake, all of them in one go, whatever the text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctm.sim.assembler import AssemblyError
from ctm.sim.assembler.listing import MOST_ERRORS
from ctm.tb.assembler.r5xx.assembly import assemble


def errors(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(AssemblyError) as caught:
        assemble(text)
    return [(error.line, error.column, error.message) for error in caught.value.errors]


def test_the_message_points_to_the_location() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble("OUT\n\tALU r1 = MAD(r0, 3.3, 0) ; text\nOUT", name="my.s")
    error = caught.value
    assert (error.file, error.line, error.column) == ("my.s", 2, 19)
    assert str(error) == (
        "my.s:2:19: 3.3 is no inline constant: use the nearest, 3.25, or a float constant\n"
        "\tALU r1 = MAD(r0, 3.3, 0) ; text\n"
        "\t                 ^"
    )


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("FOO", 1, "expected an instruction (ALU, OUT, TEX, FC, IF, ...), not 'FOO'"),
        ("ENDLOP", 1, "expected an instruction (ALU, OUT, TEX, FC, IF, ...), not 'ENDLOP'; did you mean ENDLOOP?"),
        ("ALU r1 = MAD(r0, r1)", 5, "MAD takes 3 operands, not 2"),
        ("ALU r1 = FOO(r0)", 5, "there is no operation FOO"),
        ("ALU r1.a = SOP()", 5, "the alpha unit has no operation SOP"),
        ("ALU r1.rgb = SOP()", 5, "SOP copies a transcendental operation of the alpha unit; there is none"),
        ("ALU r1.a = DP()", 5, "DP copies a dot product of the RGB unit; there is none"),
        ("ALU r1 = MOV(r0) || r1.a = MOV(r0)", 21, "a second half for the alpha unit"),
        ("ALU MOV(r0)", 12, "this half writes nothing that tells its unit: begin it with rgb: or alpha:"),
        ("ALU r1 = MAD(r0, r1, r2) exact", 5, "exact is for MIN, MAX, CND and CMP only"),
        ("ALU r1 = MAD(r0, r1, r2) * 3", 28, "an output modifier is *2, *4, *8, /2, /4, /8 or exact"),
        ("ALU r128 = MOV(r0)", 5, "there is no r128; a temporary is r0 to r127"),
        ("ALU r1 = MOV(c256)", 14, "there is no c256; a constant is c0 to c255"),
        ("ALU r1 = MOV(r0.rg)", 16, "a swizzle has one letter for all channels, three for r, g, b or four"),
        ("ALU r1 = MOV(r0.rgb)", 14, "this swizzle needs one letter or 4"),
        ("ALU r1.a = MOV(r0.rgb)", 16, "this swizzle needs one letter"),
        ("ALU r1.gr = MOV(r0)", 7, "a write mask has letters of r, g, b, a in this order, or is ._ for none"),
        ("ALU rgb: r1.a = MOV(r0)", 10, "the rgb unit has no channel a"),
        ("ALU r1, r2 = MOV(r0)", 9, "a half writes one of each kind of destination"),
        ("ALU o0 = MOV(r0)", 5, "an ALU instruction cannot write an output: that is OUT"),
        ("ALU w = MOV(r0)", 5, "an ALU instruction cannot write the conditional value: that is OUT"),
        ("OUT alu_result.r[<0] = MOV(r0)", 5, "an OUT instruction cannot write the ALU result: that is ALU"),
        ("OUT umrt[SAME_IDX] = MOV(r0)", 5, "an uncached write needs the directive .uncached_writes"),
        ("ALU p.r[<1] = MOV(r0)", 10, "the zero of the test must be a whole number of 0..0, not 1"),
        ("ALU r1.rgb = MAD(r0, r1, c0) || r1.a = MOV(c1.r)", 44,
         "this needs 4 RGB sources (r0, r1, c0, c1); an instruction has 3"),
        ("ALU r1.rgb = MAD(r0.rga, r1.rga, c0.rga) || r1.a = MUL(r3, r0)", 56,
         "this needs 4 alpha sources (r0, r1, c0, r3); an instruction has 3"),
        ("ALU r1.rgb = MUL((1 - r0), (1 - 2*r0))", 28, "the rgb unit has another presubtract already"),
        ("ALU r1 = MUL(r0, (2 - 3*r0))", 24, "a presubtract is (1 - 2*a), (1 - a), (b - a) or (b + a)"),
        ("ALU r1 = MOV(r0) rgb_src(r1, r2, r3)", 14, "r0 is not among the RGB sources that are given"),
        ("ALU r1 = MOV(src0)", 14, "a source by number needs rgb_src(...), which says what it is"),
        ("ALU r1.rgb = MDH(r0, -1, r1)", 26, "A and C of MDH and MDV are the same source"),
        ("ALU r1.rgb = DP4(r0, c0.rgb)", 22, "DP4 takes four letters, or has its fourth from the alpha half"),
        ("ALU r1 = RCP(r0)", 14, "RCP takes one channel: say which, as in r0.r"),
        ("ALU r1 = MOV(r0) nop nop", 22, "nop was written before"),
        ("ALU r1 = MOV(r0[2])", 17, "expected aL, not '2'; write r3[aL] for temporary 3 + aL"),
        ("TEX r1 = LOOKUP(i16, r0)", 17, "there is no i16; an input is i0 to i15"),
        ("TEX r1 = LOOKUP(i0, c0)", 21, "expected a temporary, r0 to r127, not 'c0'"),
        ("TEX LOOKUP(i0, r0)", 11, "LOOKUP needs a destination, as in r1 = LOOKUP(i0, r0)"),
        ("TEX r1 = LOOKUP(i0, r0.1)", 23, "a swizzle of TEX has one to four of the letters r, g, b, a"),
        ("FC JUMP -> 512", 12, "an address is 0..511, not 512"),
        ("FC JUMP -> nowhere", 12, "there is no label nowhere"),
        ("FC JUMP jump_func=256", 19, "the field jump_func must be a whole number of 0..255, not 256"),
        ("IF p", 4, "a condition is one predicate bit: p.r, p.g, p.b or p.a"),
        ("IF b32", 4, "there is no b32; a boolean constant is b0 to b31"),
        ("IF alu_result", 1, "this IF has no ENDIF"),
        ("LOOP i0", 1, "this LOOP has no ENDLOOP"),
        ("ELSE", 1, "ELSE without IF"),
        ("BREAK", 1, "BREAK outside of a loop"),
        ("OUT {addr0=3}", 6, "several words have a field addr0: write rgb_addr.addr0 or alpha_addr.addr0"),
        ("OUT {nothing=3}", 6, "this type of instruction has no field nothing"),
        ("OUT {nop=2}", 10, "the field nop must be a whole number of 0..1, not 2"),
        ("OUT r0", 7, "expected '=', not the end of the line"),
        ("OUT o0 = MOV(r0) )", 18, "expected the end of the statement, not ')'"),
        (".word 1, 2, 3", 14, "expected ',', not the end of the line"),
        (".bogus", 1, "there is no directive .bogus"),
        (".equ r1 = c0", 6, "r1 is a register"),
        (".flow_control half", 15, "expected full or partial, not 'half'; there are: full, partial"),
        ("a: a: OUT", 4, "the label a was defined before"),
        ("OUT $", 5, "the character '$' means nothing here"),
        ("OUT stat_we(2x)", 13, "a number runs into letters"),
        ("", 1, "there are no instructions"),
        (".offset 3\nOUT", 1, "there is no instruction at the code offset 3"),
    ],
)  # fmt: skip
def test_messages(text: str, column: int, message: str) -> None:
    assert errors(text) == [(1, column, message)]


def test_every_line_is_reported() -> None:
    text = "FOO\nOUT\nALU r1 = BAR(r0)\n.bogus\n$\nTEX r1 = LOOKUP(i0, r200)\n"
    assert [line for line, _, _ in errors(text)] == [1, 3, 4, 5, 6]


def test_blocks_do_not_cross() -> None:
    assert errors("LOOP i0\nIF b0\nENDLOOP\nENDIF") == [(3, 1, "ENDLOOP without LOOP inside the IF above")]
    assert errors("IF b0\nELSE\nELSE\nENDIF") == [(3, 1, "a second ELSE for one IF")]


def test_a_program_has_512_instructions() -> None:
    assert len(assemble("OUT\n" * 512).instructions) == 512
    assert errors("OUT\n" * 513) == [(513, 1, "a program has at most 512 instructions")]


SOURCE = """
.zero_times_anything
.equ k = c3
start: TEX r1.rgb = LOOKUP(i0, r0.rg) unscaled
  LOOP i1
  ALU (!p.r) r2.rgb, p.g[<0] = MAD(-|r1.rg1|, k, 2.5) * 2 clamp || alu_result.a[>=0] = RCP((1 - 2*r1).r)
  IF !alu_result
  BREAK IF p.r
  ENDIF
  ENDLOOP
  OUT o1, w = MOV(r2[aL]) last {stat_we=3}
"""


TOKENS = ("", "(", ")", "|", "r0", ".rgb", ",", "-", "9", "\n", "=", "MAD", "[aL]", ":", "}")


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_mutated_sources_assemble_or_are_rejected(data: st.DataObject) -> None:
    text = SOURCE
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        size = data.draw(st.integers(0, 12))
        inserted = data.draw(st.sampled_from(TOKENS))
        text = text[:at] + inserted + text[at + size :]
    try:
        assemble(text)
    except AssemblyError as error:
        lines = text.split("\n")
        for found in error.errors:
            assert 1 <= found.line <= len(lines)
            assert 1 <= found.column <= len(lines[found.line - 1]) + 1


@pytest.mark.slow
@settings(max_examples=200)
@given(st.text() | st.text(alphabet="rgbcoapALU MADTEX.,()|=-*;:{}[]<>!019\n\t\x00é"))
def test_random_text_assembles_or_is_rejected(text: str) -> None:
    try:
        assemble(text)
    except AssemblyError as error:
        assert error.errors


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ALU r0 = MOV(r1)", "a program has at most 512 instructions"),
        (".word 1, 2, 3, 4, 5, 6", "a program has at most 512 instructions"),
        ("no such line", "a program has at most 512 instructions"),
        ("\N{SECTION SIGN}", "the character '\N{SECTION SIGN}' means nothing here"),
    ],
)
def test_a_text_that_is_much_too_long_is_told_at_once(line: str, message: str) -> None:
    start = time.monotonic()
    found = errors(f"{line}\n" * 200_000)
    assert message in found[0][2]
    assert len(found) <= MOST_ERRORS
    assert time.monotonic() - start < 30
