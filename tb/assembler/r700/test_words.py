"""Words that are known from the instruction set's reference, written by hand, and every field of every form."""

import pytest

from ctm.tb.assembler.r700.assembly import assemble

HEAD = ".isa r700\n.manual\n"

CONTROL = [
    ("ALU ADDR(4) CNT(16)", 0x00000004, 0xA03C0000),
    ("ALU ADDR(4) CNT(1) KCACHE0(CB0:0-31)", 0x80000004, 0xA0000000),
    ("TEX ADDR(14) CNT(1)", 0x0000000E, 0x80800000),
    ("LOOP_START_DX10 ADDR(11)", 0x0000000B, 0x83000000),
    ("LOOP_END ADDR(3)", 0x00000003, 0x82800000),
    ("LOOP_BREAK ADDR(10)", 0x0000000A, 0x84800000),
    ("ALU_PUSH_BEFORE ADDR(23) CNT(4)", 0x00000017, 0xA40C0000),
    ("ALU_POP_AFTER ADDR(27) CNT(9)", 0x0000001B, 0xA8200000),
    ("JUMP ADDR(6) POP_CNT(1)", 0x00000006, 0x85000001),
    ("POP ADDR(10) POP_CNT(1)", 0x0000000A, 0x87000001),
    ("EXPORT_DONE PIX0, R0.xyzw END_OF_PROGRAM", 0xC0000000, 0x94200688),
    ("NOP END_OF_PROGRAM", 0x00000000, 0x80200000),
    # By the bit tables: options that compilers do not use.
    ("JUMP ADDR(2) POP_CNT(7) COND(NOT_BOOL) CF_CONST(31) VALID_PIX NO_BARRIER", 0x00000002, 0x054003FF),
    ("CALL ADDR(9) CALL_COUNT(1) WHOLE_QUAD", 0x00000009, 0xC9002000),
    ("TEX ADDR(2) CNT(16)", 0x00000002, 0x80881C00),
    ("VTX_TC ADDR(2) CNT(9)", 0x00000002, 0x81880000),
    ("LOOP_START ADDR(5) CF_CONST(3)", 0x00000005, 0x82000018),
    ("ALU ADDR(2) CNT(1) KCACHE1(CB15:4080-4095) ALT_CONST", 0x3C000002, 0xA203FC01),
    ("ALU ADDR(2) CNT(1) KCACHE0(CB1:16+aL)", 0xC0400002, 0xA0000004),
    ("EXPORT DEPTH, R5.x___ ELEM_SIZE(1)", 0x0002803D, 0x93800FF8),
    ("EXPORT PIX1, R[2+aL].wzyx BURST(2)", 0xC0410001, 0x93820053),
    ("MEM_EXPORT R1.xy__, [16+R2]", 0x0100A010, 0x9D003FFF),
    ("MEM_EXPORT R1.___w, [3] ACK ELEM_SIZE(2) ARRAY_SIZE(16)", 0x4000C003, 0x9D00800F),
    ("MEM_SCRATCH R127.xyzw, [1] BURST(16)", 0xC03F8001, 0x921EFFFF),
    ("WAIT_ACK", 0x00000000, 0x8D000000),
]  # fmt: skip

GROUPS = [
    ("0 z: MUL_IEEE R0.z, R0.x, R0.y", [(0x80800000, 0x40000110)]),
    ("0 x: MUL_IEEE R0.x, R0.x, KC0[3].z", [(0x81106000, 0x00000110)]),
    ("0 t: RECIP_IEEE R0.x, R0.x PRED_SEL_ONE", [(0xE0000000, 0x00003310)]),
    (
        "0 z: MOV ____, 0\n1 y: ADD R0.y, PV.z, R1.x",
        [(0x800000F8, 0x40000C80), (0x800028FE, 0x20000010)],
    ),
    (
        "0 t: RECIP_IEEE ____.x, 0\n1 w: MULADD_IEEE R0.w, PS, 2.5, 0.5",
        [(0x800000F8, 0x00003300), (0x801FA0FF, 0x600280FC), (0x40200000, 0x00000000)],
    ),
    (
        "0 w: MOV ____, 0\n1 x: PRED_SETE_INT ____, PV.w, 0 UPDATE_EXEC_MASK",
        [(0x800000F8, 0x60000C80), (0x801F0CFE, 0x00002104)],
    ),
    (
        "0 w: MOV ____, 0\n1 x: PRED_SETNE_INT ____, PV.w, 0 UPDATE_PRED",
        [(0x800000F8, 0x60000C80), (0x801F0CFE, 0x00002288)],
    ),
    # By the bit tables.
    ("0 y: ADD*4 R[5+AR.z].y, -|R1.x|, |KC1[31].w| CLAMP", [(0x8997F001, 0xB0A00053)]),
    ("0 x: MOV R1.x, R[3+aL].y PRED_SEL_ZERO VEC_210", [(0xD0000603, 0x00340C90)]),
    ("0 x: SETGT_INT _R7.x, -1, 1", [(0x801F40FB, 0x00E01D80)]),
]

FETCHES = [
    ("SAMPLE R1.xyzw, R0.xyzw, t1, s2", (0x00000110, 0xF00D1001, 0x68810000, 0)),
    (
        "LD R[3+aL].x01_, R2.zw__, t255, s31 UNNORM(xw) OFFSET(-8, 7.5, 0.5) LOD_BIAS(-0.125) WHOLE_QUAD",
        (0x0002FF83, 0x6FFEC083, 0xFDAF85F0, 0),
    ),
    ("FETCH R1.xyzw, R0.x, b0", (0x00000040, 0x28CD1001, 0, 0)),
    (
        "FETCH R2.xy__, R[0+aL].y, b7 FORMAT(INT32_1) NUM_FORMAT(INT) SIGNED SRF_MODE OFFSET(65535) MEGA_FETCH(63)",
        (0xFD800740, 0xD35F9002, 0x0008FFFF, 0),
    ),
]


@pytest.mark.parametrize(("text", "low", "high"), CONTROL)
def test_control_words(text: str, low: int, high: int) -> None:
    assert assemble(f"{HEAD}    {text}\n").code == ((low, high),)


@pytest.mark.parametrize(("text", "units"), GROUPS)
def test_groups(text: str, units: list[tuple[int, int]]) -> None:
    assert list(assemble(f"{HEAD}{text}\n").code) == units


@pytest.mark.parametrize(("text", "words"), FETCHES)
def test_fetches(text: str, words: tuple[int, int, int, int]) -> None:
    assert assemble(f"{HEAD}{text}\n").code == (words[:2], words[2:])
