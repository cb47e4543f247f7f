"""Errors name the location, the mistake and its remedy, all of them in one go."""

import pytest

from ctm.sim.assembler import AssemblyError
from ctm.tb.assembler.r700.assembly import assemble

HEAD = ".isa r700\n"


def errors(text: str) -> list[tuple[int, int, str]]:
    """The errors of a text after its first line, which is line 0."""
    with pytest.raises(AssemblyError) as caught:
        assemble(HEAD + text)
    return [(error.line - 1, error.column, error.message) for error in caught.value.errors]


TWO_READS = "0 x: ADD R1.x, R1.x, R3.y VEC_012\ny: ADD R1.y, R2.x, R4.z VEC_012"


UNKNOWN = "expected an instruction (x: ADD, SAMPLE, EXPORT, IF, JUMP, ...), not"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("FOO", 1, 1, f"{UNKNOWN} 'FOO'"),
        ("MULL R1.x, R1.x, R1.x", 1, 1, f"{UNKNOWN} 'MULL'; did you mean MUL?"),
        (".pack\nEXPRT_DONE PIX0, R0\n.endpack", 2, 1, f"{UNKNOWN} 'EXPRT_DONE'; did you mean EXPORT_DONE?"),
        ("ADD R1.x, R0.x", 1, 1, "ADD takes 2 operands, not 1"),
        ("ADD R1, R0.x, R1.x", 1, 7, "expected the component of the destination, .x .y .z or .w, not ','"),
        ("ADD R128.x, R0.x, R1.x", 1, 5, "there is no R128; a register is R0 to R127"),
        ("MOV R1.x, C256.x", 1, 11, "there is no C256; a constant is C0 to C255"),
        ("MOV R1.x, CB1[0].x", 1, 11, "expected a constant, C0 to C255, not 'CB1'"),
        ("MOV R1.x, C5[3].x", 1, 13, "expected the component of the operand, .x .y .z or .w, not '['"),
        ("MOV R1.x, R0.xy", 1, 13, "expected the component of the operand, .x .y .z or .w, not '.xy'"),
        ("MOV R[3+AR.x].x, R[2+AR.y].y", 1, 16, "the operands of an instruction have one index together, such as AR.x"),
        ("MULADD ____, R0.x, R1.x, R2.x", 1, 8, "MULADD always writes its result: it needs a register"),
        ("MULADD R1.x, |R0.x|, R1.x, R2.x", 1, 14, "an operation of three operands has no absolute values"),
        ("ADD*3 R1.x, R0.x, R1.x", 1, 4,
         "an output modifier is *2, *4 or /2, after an operation of up to two operands"),
        ("MOV R1.x, 1e39", 1, 11, "1e39 is too large for a float"),
        ("MOV R1.x, 0x100000000", 1, 11, "0x100000000 does not fit 32 bits"),
        ("0 x: MOV R1.y, 0", 1, 10, "slot x writes component x only: use slot y or t for .y"),
        ("x: y: MOV R1.x, 0", 1, 1, "a slot stands before its instruction; no label can be x"),
        ("MOV R1.x, 0 CLAMP CLAMP", 1, 19, "CLAMP was written before"),
        ("MOV R1.x, 0 {last=2}", 1, 19, "the field last must be a whole number of 0..1, not 2"),
        ("SAMPLE R1.xyzw, R0.xy, t0 OFFSET(0.25)", 1, 34, "an offset is a multiple of 0.5 of -8 to 7.5"),
        ("SAMPLE R1.xyzw, R[0+AR.x].xy, t0", 1, 17,
         "a fetch or an export can be relative to aL only, as in R[3+aL]"),
        ("EXPORT FOO, R1.xyzw", 1, 8, "expected what is exported, as in PIX0, DEPTH, POS60 or PARAM0, not 'FOO'"),
        ("MEM_EXPORT R1.yx, [0]", 1, 14, "the components that are written stand in their positions, as in .xy_w"),
        ("MEM_EXPORT R1.xy, [0] ARRAY_SIZE(0)", 1, 34, "the elements of the area must be 1 or more"),
        ("MEM_EXPORT R1.xy, [0]", 1, 1, "this MEM_EXPORT needs the directive .memory"),
        ("RD_SCRATCH R1.xy, [0]", 1, 1, "this RD_SCRATCH needs the directive .scratch"),
        ("LOCAL_DS_WRITE R1.xy", 1, 1,
         "this LOCAL_DS_WRITE needs the directive .lds with its dwords, as in .lds 64"),
        ("EXPORT DEPTH, R1.x", 1, 1, "this EXPORT needs the directive .depth"),
        ("ALU\nEXPORT PIX0, R1.x", 1, 1, "this word has no clause: write its instructions below it"),
        ("ALU ADDR(3)\nMOV R1.x, 0", 1, 1,
         "a clause has an address only with .manual: write its instructions below this word"),
        ("JUMP ADDR(nowhere)", 1, 11, "there is no label nowhere"),
        ("JUMP", 1, 1, "JUMP needs a target, as in ADDR(label)"),
        ("JUMP ADDR(0) POP_CNT(8)", 1, 22, "the entries that are popped must be a whole number of 0..7, not 8"),
        ("ALU KCACHE0(CB0:1-16)\nMOV R1.x, 0", 1, 17,
         "a clause locks one or two whole lines, as in CB0:0-15, CB0:16-47 or CB0:16+aL"),
        ("ALU KCACHE0(CB0:0-15) KCACHE1(CB0:16-31)\nMOV R1.x, C77.x", 2, 1,
         "no kcache set is left for a constant of this group: its clause locks others with KCACHE0 and KCACHE1"),
        ("IF", 1, 1, "the ALU clause in front sets no execute mask: write the condition, as in IF PRED_SETGT R0.x, 0"),
        ("IF ADD R0.x, 1.0", 1, 4, "a condition is a PRED_SET operation, as in IF PRED_SETGT R0.x, 0, or b0 to b31"),
        ("IF b32", 1, 4, "there is no b32; a boolean constant is b0 to b31"),
        ("IF b0\nMOV R1.x, 0", 1, 1, "this IF has no ENDIF"),
        ("IF b0\nELSE\nELSE\nENDIF", 3, 1, "a second ELSE for one IF"),
        ("LOOP\nIF b0\nENDLOOP\nENDIF", 3, 1, "ENDLOOP without LOOP inside the IF above"),
        ("BREAK", 1, 1, "BREAK outside of a loop"),
        ("CALL foo", 1, 6, "there is no subroutine foo"),
        ("SUB a\nSUB b", 2, 1, "SUB inside SUB"),
        ("IF PRED_SETE R0.x, 0\nRETURN\nENDIF", 2, 1,
         "RETURN inside IF: it would find that block's entry on the stack"),
        ("SUB a\nCALL a\nENDSUB\nCALL a", 2, 1,
         "the stack gets too deep: does a subroutine call itself? If it does not really, write .stack"),
        (".gprs 125", 1, 7, ".gprs is 1 to 124"),
        (".gprs 3\n.gprs 4", 2, 1, ".gprs was written before"),
        (".lds 3", 1, 6, ".lds is 0 to 1024, a multiple of 4"),
        (".type gs", 1, 7, "expected a program type, not 'gs'; there are: ps, cs"),
        (".unit 1, 2", 1, 1, ".unit needs .manual, which lays out everything as it is written"),
        (".literals 1, 2", 1, 1, ".literals stands after the instructions of a group, once"),
        ("MOV R1.x, 0\n.literals 1, 2", 1, 1, "the group's operands name 0 words of literals, so there cannot be 2"),
        ("MOV R1.x, 2.5\n.literals 1, 2", 1, 11, "0x40200000 is not among the group's .literals"),
        (".equ R1 = 3", 1, 6, "R1 is a register"),
        (".manual\nMOV R1.x, C2.x", 2, 11, "with .manual a constant is named by its set, as in KC0[2]"),
        (".manual\nIF b0", 2, 1, "with .manual IF is written as CF instructions, as in JUMP ADDR(label) POP_CNT(1)"),
        (".manual\nALU ADDR(5)", 2, 1,
         "a clause of 0 units or instructions stands there, not 1 to 128; write CNT(...)"),
        (".start 9\nNOP", 1, 8, "the code has 1 units, so it cannot start at 9"),
        ("a: a: NOP", 1, 4, "the label a was defined before"),
        ("NOP $", 1, 5, "the character '$' means nothing here"),
        ("", 0, 1, "there are no instructions"),
        (".manual\n.pack\n.endpack", 0, 1, "there are no instructions"),
        ("TEX CNT(2)\nSAMPLE R1.xyzw, R0.xy, t0", 1, 1, "a clause is counted, but with .manual: leave CNT out"),
    ],
)  # fmt: skip
def test_messages(text: str, line: int, column: int, message: str) -> None:
    assert errors(text) == [(line, column, message)]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO_READS, 2,
         "R1.x and R2.x cannot both be read in cycle 0: a cycle reads one register of each component; choose other "
         "bank swizzles, or another group"),
        ("0 x: ADD R1.x, R1.x, R2.x\ny: ADD R1.y, R3.x, R4.x", 2,
         "R1.x, R2.x, R3.x, R4.x cannot all be read: a group reads component x of 3 registers at most; move one to "
         "another group"),
        ("0 x: MOV R1.x, C0.x\ny: MOV R1.y, C1.x\nz: MOV R1.z, C1.z", 3,
         "a group can read 2 halves (xy or zw) of constants; here are C0.x, C1.x, C1.z: move one to another group, "
         "or copy it to a register"),
        ("0 x: MOV R1.x, 0\nt: MULADD R2.x, 1.0, 0.5, 1", 2, "slot t can have 2 constants, not 3: 1.0, 0.5, 1_INT"),
        ("0 x: MOV R1.x, 0\nt: MULADD R2.x, 1.0, 0.5, R3.x SCL_210", 2,
         "R3.x would be read in cycle 0, which the constants of slot t take: use another bank swizzle than SCL_210"),
        ("0 x: MOV R1.x, 2.5\ny: ADD R1.y, 3.5, 4.5\nz: ADD R1.z, 5.5, 6.5", 3,
         "a group has at most 4 words of literals: move one to another group"),
        ("0 x: PRED_SETE ____, 0, 0\ny: PRED_SETE ____, 0, 1", 2,
         "a group has one PRED_SET at most: move this one to another group"),
        ("0 x: PRED_SETE ____, 0, 0\ny: KILLE ____, 0, 1", 2,
         "PRED_SET and KILL cannot be in one group: move one to another"),
        ("0 x: MOVA_INT ____, R1.x\ny: MOV R1.y, R[2+AR.x].y", 2,
         "MOVA_INT cannot be in a group with a relative operand: move one to another"),
        ("0 x: SIN R1.x, R0.x", 1, "SIN is for slot t only"),
        ("0 t: MOVA_INT ____, R0.x", 1, "MOVA_INT is for the vector slots only, here x"),
        ("0 t: ADD R1.x, R0.x, 1.0", 1,
         "ADD would go to slot x, which is free: an operation that any slot can do is in t only if the slot of its "
         "component is taken"),
        ("0 x: ADD R1.x, 0, 1.0\nx: ADD R1.x, 0, 1.0", 2,
         "slot x is taken by ADD: begin another group with a number, as in 1 x: ..."),
        ("0 x: ADD R1.x, 0, 0\n?: ADD R2.x, 0, 1\n?: ADD R3.x, 0, 1", 3, "no slot is left for ADD: use another group"),
        ("0 x: DOT4 R1.x, R0.x, R0.x\ny: DOT4 R1.y, R0.x, R0.x", 1, "DOT4 must be in all of the slots x, y, z and w"),
        ("0 x: MOV R1.x, 0 SCL_210", 1,
         "the bank swizzles of slot x are VEC_012, VEC_021, VEC_120, VEC_102, VEC_201, VEC_210"),
        ("0 x: MOV R1.x, 0 {bank_swizzle=7}", 1,
         "a bank swizzle of this slot is one of VEC_012, VEC_021, VEC_120, VEC_102, VEC_201, VEC_210"),
        ("MOV R1.x, PV.x", 1, "PV.x is not known here: no group of this clause is before this one"),
        ("0 y: MOV R1.y, 0\n1 x: MOV R1.x, PV.x", 2, "PV.x is not known here: the group before has nothing in slot x"),
        ("MOV R1.x, 0\na: MOV R1.x, PV.x", 2, "PV.x is not known here: no group of this clause is before this one"),
        ("ADD_INT R1.x, R0.x, R1.x CLAMP", 1,
         "the result of ADD_INT is no float: it can have neither CLAMP nor *2, *4, /2"),
        ("MOV R1.x, 0 UPDATE_PRED", 1,
         "MOV sets no predicate: only PRED_SET operations can have UPDATE_EXEC_MASK or UPDATE_PRED"),
        ("MOV R1.x, R[2+GLOBAL].x", 1, "this machine has no index GLOBAL: use AR.x, AR.y, AR.z, AR.w or aL"),
        ("MOV R1.x, CFILE[3].x", 1, "this machine has no constant file: write C0 to C255"),
        ("MOV R1.x, SEL[200].x", 1, "the select 200 is reserved"),
        ("ADD_64 R1.x, 0, 0", 1, "this machine has no operation ADD_64"),
        ("MOV R1.x, PV.x {src0_sel=255}", 1, "PS is not known here: no group of this clause is before this one"),
    ],
)  # fmt: skip
def test_illegal_groups(text: str, line: int, message: str) -> None:
    assert [(line, message)] == [(found, said) for found, _, said in errors(text)]
    if "literals" not in message:
        # It can be assembled all the same.
        assert assemble(f"{HEAD}.unchecked\n{text}\n").code


def test_the_message_points_to_the_location() -> None:
    with pytest.raises(AssemblyError) as caught:
        assemble(f"{HEAD}\tMOV R1.x, C300.x ; text\n", name="my.s")
    assert str(caught.value) == (
        "my.s:2:12: there is no C300; a constant is C0 to C255\n\tMOV R1.x, C300.x ; text\n\t          ^"
    )


def test_every_line_is_reported() -> None:
    text = "FOO\nNOP\nADD R1.x\n.bogus\n$\nSAMPLE R200.x, R0.x, t0\nMOV R1.x, CFILE[1].x\n"
    assert [line for line, _, _ in errors(text)] == [1, 3, 4, 5, 6, 7]


def test_a_wrong_line_is_not_blamed_on_the_next() -> None:
    assert errors("0 x: FOO R1.x, 0\n1 x: MOV R1.x, PV.x") == [
        (1, 6, "there is no ALU operation FOO"),
    ]


def test_a_cut_says_what_is_needed_after_it() -> None:
    (found,) = errors("0 x: MOV R1.x, 0\n" + "0 x: MOV R1.x, PV.x\n" * 130)
    assert found[0] == 129
    assert found[2] == (
        "the clause is too long, or locks too many lines of constants, and cannot be cut before this group: "
        "PV or PS is read here; write the value to a register, or set it again"
    )
