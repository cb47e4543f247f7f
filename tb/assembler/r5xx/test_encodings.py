"""Instruction words, worked out by hand from the R5xx register reference."""

import pytest

from ctm.tb.assembler.r5xx.assembly import assemble

UNUSED = 0x08020080
"""Three source addresses that are inline constant 0."""

PINNED = {
    "ALU r1.rgb = MAD(r0, c3, -c4.r)": (0x00003800, 0x10440C00, UNUSED, 0x00442220, 0x00000000, 0x00802010),
    "ALU r2.a = RSQ(|r5.g|) * 4 clamp": (0x00104000, 0x08020005, UNUSED, 0x00000000, 0x0804402B, 0x00000000),
    "OUT o2 = MOV(c255)": (0x00078001, 0x080201FF, 0x080201FF, 0x5C440220, 0x5C60C003, 0x00000005),
    "ALU (!p.b) r3[aL].rg, p.rgb[>=0] = ADD(r1, -|c2[aL].grb|)"
    " || (p) p.a[!=0], alu_result.a[<0] = MIN(1.5, (1 - 2*r4)) nop last write_inactive stat_we(5)": (
        0x52A79BE0, 0x080C0801, 0x0802F004, 0xC0DB0220, 0x6078D002, 0x01A05830,
    ),
    "OUT o1.rg = DP4(r1, c1) || o3.a, w = DP()": (
        0x00058001, 0x08040401, 0x08040401, 0x20442220, 0xE068C001, 0x00000002,
    ),
    "TEX (p.r, !p.a) r5[aL].rb = LOOKUP_PROJ(i9, r6.gbar).abgr unscaled acquire ignore_uncovered sem_wait": (
        0x0A402817, 0x0EC90000, 0x1B853906, 0, 0, 0,
    ),
    "TEX r1 = DXDY(i0, r0, r2, r3[aL].rrgb)": (0x00007803, 0x01800000, 0xE401E400, 0x9083E402, 0, 0),
    "TEX KILL_LT_0(r2.ga)": (0x00005003, 0x00800000, 0x0000E402, 0, 0, 0),
    "TEX NOP acquire sem_wait": (0x00000007, 0x02000000, 0, 0, 0, 0),
    "FC (!p.g) JUMP -> 7 jump_func=PREDICATE b_op0=INCR b_op1=DECR b_pop_cnt=3 b_else jump_any a_op=PUSH"
    " ignore_uncovered bool_addr=31 int_addr=17 jump_global alu_wait": (0x0000045A, 0, 0x1603CCB0, 0x8007111F, 0, 0),
    "OUT": (0x00000001, UNUSED, UNUSED, 0, 0, 0),
    ".word 0x3, 2, 0b11, 4, 5, 0xffffffff": (3, 2, 3, 4, 5, 0xFFFFFFFF),
    "OUT sem_wait {op=15, rgb_addr.srcp_op=3}": (
        0x00000005, UNUSED | 0xC0000000, UNUSED, 0, 15, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", PINNED)
def test_pinned_words(text: str) -> None:
    found = assemble(f".manual\n{text}").instructions
    assert [f"{word:08x}" for word in found[0]] == [f"{word:08x}" for word in PINNED[text]]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("ALU r1 = MAD(r0, r2, r3)", "ALU r1.rgb = MAD(r0, r2, r3) || r1.a = MAD(r0, r2, r3)"),
        ("ALU r1.ra = MUL(r0, c0.g)", "ALU r1.r = MAD(r0, c0.g, 0) || r1.a = MAD(r0, c0.g, 0)"),
        ("ALU r1 = ADD(r0.abgr, -r2)", "ALU r1.rgb = MAD(r0.abg, 1, -r2) || r1.a = MAD(r0.r, 1, -r2)"),
        ("ALU r1 = MAD(r0.10h1, .1h00, 0.5)", "ALU r1.rgb = MAD(r0.10h, .1h0, .h) || r1.a = MAD(1, 0, 0.5)"),
        ("ALU r1 = RCP(r0.b) / 2", "ALU r1.rgb = SOP() / 2 || r1.a = RCP(r0.b) / 2"),
        ("ALU r1.rgb = RCP(r0.b) / 2", "ALU r1.rgb = SOP() / 2 || alpha: RCP(r0.b)"),
        ("ALU r1 = DP3(r0, r2) clamp", "ALU r1.rgb = DP3(r0, r2) clamp || r1.a = DP() clamp"),
        ("ALU r1.a = DP3(r0, r2)", "ALU rgb: DP3(r0, r2) || r1.a = DP()"),
        ("ALU r1.g = DP4(r0, r2.bgra)", "ALU r1.g = DP4(r0.rgb, r2.bgr) || alpha: DP(r0, r2)"),
        ("ALU r1.a = MOV(r0)", "ALU r1.a = MAX(r0, r0) exact"),
        ("ALU r1 = MOV(r0) * 2", "ALU r1 = MAX(r0, r0) * 2"),
        ("ALU r1 = MOV(r0) clamp", "ALU r1 = MAX(r0, r0) clamp"),
        ("ALU r1.rgb = MDV(r0, -1)", "ALU r1.rgb = MDV(r0, -.111) rgb_src(r0)"),
        ("ALU r1 = MAD(3, 3, 3)", "ALU r1 = MAD(3.0, 0x3, 0b11)"),
        ("alu R1.RGB = mad(R0, C3, -C4.R)", "ALU r1.rgb = MAD(r0, c3, -c4.r)"),
        ("TEX r1 = LOOKUP(i0, r0.rg)", "TEX r1.rgba = LOOKUP(i0, r0.rgba).rgba"),
        ("TEX (p) r1 = LOOKUP(i0, r0.r).a", "TEX (p, p) r1 = LOOKUP(i0, r0.rrrr).aaaa"),
        ("OUTPUT o0 = MOV(r0)", "OUT o0 = MOV(r0)"),
        (".equ k = c7\n.equ half = k.a\nALU r1 = MUL(r0, half)", "ALU r1 = MUL(r0, c7.a)"),
        (".equ table = c8\nALU r1 = MOV(table[aL])", "ALU r1 = MOV(c8[aL])"),
        ("ALU r1.rgb = MUL(r0, r0)\n || r2.a = RCP(r0) ; the other half", "ALU r1.rgb = MUL(r0, r0) || r2.a = RCP(r0)"),
    ],
)
def test_two_spellings_of_the_same(text: str, same: str) -> None:
    assert assemble(f".manual\n{text}").instructions == assemble(f".manual\n{same}").instructions


def test_uncached_writes_name_their_kind() -> None:
    executable = assemble(".manual\n.uncached_writes\nOUT umrt[PER_PROCESSOR_IDX] = MOV(r1)")
    assert executable.instructions[0][0] == 0x00078001
    assert executable.instructions[0][3] >> 29 & 3 == 2
    assert executable.uncached_writes and executable.notes.outputs == (0,)


@pytest.mark.parametrize(
    ("text", "rgb", "alpha"),
    [
        # One slot serves every operand that reads the same.
        ("ALU r1 = MAD(r0, r0, r0)", (0x00, 0x80, 0x80), (0x00, 0x80, 0x80)),
        # The two units have sources of their own.
        ("ALU r1.rgb = MAD(r1, r2, r3) || r1.a = MAD(r4, r5, r6)", (1, 2, 3), (4, 5, 6)),
        # A register whose colour and alpha one operand reads has the same slot in both: r2 is moved to slot 1.
        ("ALU r1.rgb = MAD(r1, r2.rga, 0) || r1.a = MOV(r3)", (1, 2, 0x80), (3, 2, 0x80)),
        # A presubtract takes slots 0 and 1.
        ("ALU r1.rgb = MAD(r1, (r3 - r2), 0)", (2, 3, 1), (0x80, 0x80, 0x80)),
        # Alpha letters of an RGB operand are read from the alpha address.
        ("ALU r1.rgb = MUL(r1.a, 2.0)", (0xC0, 0x80, 0x80), (1, 0x80, 0x80)),
    ],
)
def test_sources_find_their_slots(text: str, rgb: tuple[int, ...], alpha: tuple[int, ...]) -> None:
    text = text.replace("MOV(r3)", "MUL(r3, 1)")
    words = assemble(f".manual\n{text}").instructions[0]
    for word, wanted in zip(words[1:3], (rgb, alpha), strict=True):
        assert tuple(word >> 10 * slot & 0xFF for slot in range(3)) == wanted
