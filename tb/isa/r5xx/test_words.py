"""The declarations against tables and words that were taken down by hand."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from amaranth.lib import data
from hypothesis import given
from hypothesis import strategies as st

from ctm.rtl.isa import formats
from ctm.rtl.isa.commands import BY_NAME, BY_WORD, COMMANDS
from ctm.rtl.isa.host import REGISTER_SPACE, REGISTERS
from ctm.rtl.isa.r5xx import instruction, program
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_WORDS
from ctm.rtl.isa.r5xx.opcodes import InstructionType
from ctm.rtl.isa.word import fields, pack, replace, unpack

DATA = Path(__file__).parents[2] / "data" / "r5xx" / "isa"
TYPES = {
    "common": tuple(InstructionType),
    "ALU/OUT": (InstructionType.ALU, InstructionType.OUTPUT),
    "TEX": (InstructionType.TEX,),
    "FC": (InstructionType.FC,),
}


def table(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def test_every_field_of_the_register_reference_is_declared_where_it_says() -> None:
    wanted: dict[tuple[InstructionType, int], set[tuple[str, int, int]]] = {}
    for row in table("fields.tsv"):
        for kind in TYPES[row["instruction_type"]]:
            name = "reserved" if row["field"] == "reserved" else row["field"].lower()
            for prefix in ("alpha_", "rgb_"):
                # The words of one unit leave its name out: US_ALU_ALPHA_INST.ALPHA_OP is `op` of ALPHA_INST.
                if f"_{prefix}inst" in row["register"].lower() and name.startswith(prefix):
                    name = name.removeprefix(prefix)
            lowest = int(row["lsb"])
            wanted.setdefault((kind, int(row["word"])), set()).add((name, lowest, int(row["msb"]) - lowest + 1))
    assert len(wanted) == len(InstructionType) * INSTRUCTION_WORDS
    for (kind, word), expected in wanted.items():
        declared = {
            ("reserved" if name.startswith("reserved") else name, offset, width)
            for name, offset, width in fields(instruction.WORDS[kind][word])
        }
        assert declared == expected, (kind, word)


def test_inline_constants_have_the_values_of_the_register_reference() -> None:
    rows = list(table("inline_constants.tsv"))
    assert len(rows) == 128
    for row in rows:
        code = int(row["code"])
        assert instruction.inline_constant(code) == float(row["value_AMD_text"])
        assert instruction.ADDRESS_INLINE | code == int(row["ADDR_byte"], 16)


@pytest.mark.parametrize(
    ("layout", "values", "word"),
    [
        # OUT | TEX_SEM_WAIT | LAST, all output channels: a driver's constant.
        (instruction.COMMON, {"type": 1, "tex_sem_wait": 1, "last": 1, "rgb_omask": 7, "alpha_omask": 1}, 0x00078105),
        (instruction.COMMON, {"rgb_pred_sel": 5, "rgb_pred_inv": 1, "write_inactive": 1, "nop": 1}, 0x000002E8),
        (instruction.COMMON, {"alpha_pred_sel": 5, "alpha_pred_inv": 1, "alu_result_op": 3}, 0x0BC00000),
        (instruction.COMMON, {"stat_we": 8, "alu_wait": 1, "rgb_wmask": 4, "alpha_wmask": 1}, 0x80006400),
        (instruction.COMMON, {"rgb_clamp": 1, "alpha_clamp": 1, "alu_result_sel": 1}, 0x00380000),
        # src0 = c3, src1 = r2 + aL, src2 = inline code 0x38, srcp = 1 - src0.
        (
            instruction.RGB_ADDR,
            {"addr0": 3, "addr0_const": 1, "addr1": 2, "addr1_rel": 1, "addr2": 0xB8, "srcp_op": 3},
            0xCB880903,
        ),
        # A = src1.bgr, B = -|src2.111|, OMOD /2, target B.
        (
            instruction.RGB_INST,
            {
                "sel_a": 1, "red_swiz_a": 2, "green_swiz_a": 1, "blue_swiz_a": 0, "sel_b": 2, "red_swiz_b": 6,
                "green_swiz_b": 6, "blue_swiz_b": 6, "mod_b": 3, "omod": 4, "target": 1,
            },
            0x33DB4029,
        ),
        # RCP r5 = src2.a, output modifier disabled, conditional value written.
        (
            instruction.ALPHA_INST,
            {"op": 10, "addrd": 5, "sel_a": 2, "swiz_a": 3, "omod": 7, "w_omask": 1},
            0x9C00E05A,
        ),
        # MAD with all C swizzles ZERO: a driver's constant, and the same with the alpha modifier.
        (
            instruction.RGBA_INST,
            {"red_swiz_c": 4, "green_swiz_c": 4, "blue_swiz_c": 4, "alpha_swiz_c": 4},
            0x20490000,
        ),
        (instruction.RGBA_INST, {"rgb_op": 10, "rgb_addrd": 127, "rgb_addrd_rel": 1, "alpha_mod_c": 2}, 0x80000FFA),
        # LOOKUP in input 9, acquiring, unscaled.
        (instruction.TEX_INST, {"tex_id": 9, "inst": 1, "tex_sem_acquire": 1, "unscaled": 1}, 0x0A490000),
        # r1.rgba into r2.rgba: S, T, R, Q in order, then R, G, B, A in order.
        (
            instruction.TEX_ADDR,
            {
                "src_addr": 1, "src_t_swiz": 1, "src_r_swiz": 2, "src_q_swiz": 3, "dst_addr": 2, "dst_g_swiz": 1,
                "dst_b_swiz": 2, "dst_a_swiz": 3,
            },
            0xE402E401,
        ),
        (instruction.TEX_ADDR_DXDY, {"dx_addr": 1, "dy_addr": 2, "dy_addr_rel": 1}, 0x00820001),
        # ENDIF: JUMP_FUNC 0, JUMP_ANY, B_OP0 = DECR by 1.
        (instruction.FC_INST, {"jump_any": 1, "b_pop_cnt": 1, "b_op0": 1}, 0x01010020),
        # BREAKLOOP for all, two branches deep: B_OP1 = DECR by 2, uncovered pixels ignored.
        (
            instruction.FC_INST,
            {"op": 5, "jump_func": 0xFF, "b_pop_cnt": 2, "b_op1": 1, "ignore_uncovered": 1},
            0x1402FF05,
        ),
        (instruction.FC_ADDR, {"bool_addr": 31, "int_addr": 3, "jump_addr": 511, "jump_global": 1}, 0x81FF031F),
        # FLOAT32_4, tiled, 2x2, pitch 64.
        (formats.FORMAT, {"pitch": 16, "tiling": 3, "format": 4}, 0x04030040),
        (program.US_CODE_ADDR, {"start": 5, "end": 0x101}, 0x01010005),
        (program.US_CODE_RANGE, {"size": 511}, 0x01FF0000),
        (program.US_CONFIG, {"zero_times_anything": 1}, 0x00000002),
        (program.US_FC_CTRL, {"full_fc_en": 1}, 0x80000000),
    ],
)  # fmt: skip
def test_words_are_those_worked_out_by_hand(layout: data.StructLayout, values: dict[str, int], word: int) -> None:
    assert f"{pack(layout, **values):08x}" == f"{word:08x}"


COMMAND_WORDS = """
    init_perf_counters C0010200 1, start_perf_counters C0000300 1, stop_perf_counters C0000400 1,
    read_perf_counters C0010500 1, set_cond_val C0000600 1, set_domain C0030700 4, start_program C0000800 1,
    wait_for_idle C0000900 1, set_inst_fmt C0010A00 2, set_inp_fmt C0030B00 4, set_out_fmt C0030C00 4,
    set_cond_out_fmt C0020D00 3, set_constf_fmt C0010E00 2, set_consti_fmt C0010F00 2, set_constb_fmt C0011000 2,
    inv_inst_cache C0001100 1, inv_constf_cache C0001200 1, inv_consti_cache C0001300 1, inv_constb_cache C0001400 1,
    inv_cond_out_cache C0001500 1, inv_inp_cache C0001600 1, flush_out_cache C0001700 1,
    flush_cond_out_cache C0001800 1, set_out_mask C0001900 1, set_cond_out_mask C0001A00 1, set_cond_test C0001B00 1,
    set_cond_loc C0001C00 1
"""


def test_commands_are_those_of_the_manual() -> None:
    rows = [row.split() for row in COMMAND_WORDS.split(",")]
    assert [(command.name, f"{command.word:08X}", str(len(command.parameters))) for command in COMMANDS] == [
        (name, word, count) for name, word, count in rows
    ]
    assert BY_WORD[0xC0000200] is BY_NAME["init_perf_counters"]
    assert BY_WORD[0xC0000500] is BY_NAME["read_perf_counters"]
    assert len(BY_WORD) == len(COMMANDS) + 2


def test_every_layout_is_one_word() -> None:
    layouts = [layout for words in instruction.WORDS.values() for layout in words]
    layouts += [layout for command in COMMANDS for layout in command.parameters.values()]
    layouts += list(program.PROGRAM_INFORMATION.values())
    layouts += [register.layout for register in REGISTERS]
    assert all(sum(width for _, _, width in fields(layout)) == 32 for layout in layouts)


def test_host_registers_do_not_collide() -> None:
    offsets = [register.offset for register in REGISTERS]
    assert len(set(offsets)) == len(offsets)
    assert all(offset % 4 == 0 and offset < REGISTER_SPACE for offset in offsets)


@given(word=st.integers(0, 0xFFFF_FFFF), kind=st.sampled_from(InstructionType), number=st.integers(0, 5))
def test_unpacked_words_pack_to_themselves(word: int, kind: InstructionType, number: int) -> None:
    layout = instruction.WORDS[kind][number]
    assert pack(layout, **unpack(layout, word)) == word


def test_packing_rejects_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match=r"rgb_wmask must be 0\.\.7, not 8"):
        pack(instruction.COMMON, rgb_wmask=8)
    with pytest.raises(KeyError):
        pack(instruction.COMMON, no_such_field=1)
    assert replace(instruction.COMMON, 0x00078105, last=0) == 0x00078005
