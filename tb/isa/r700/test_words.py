"""The declarations against tables and words that were taken down by hand."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from amaranth.lib import data, enum

from ctm.rtl.isa.r700 import alu, control_flow, exports, fetch
from ctm.rtl.isa.r700.operations import ILLEGAL, OPERATIONS, Slots
from ctm.rtl.isa.word import fields, pack, unpack

DATA = Path(__file__).parents[2] / "data" / "r700" / "isa"
LAYOUTS: Mapping[str, data.StructLayout] = {
    "CF_DWORD0": control_flow.CF_DWORD0,
    "CF_DWORD1": control_flow.CF_DWORD1,
    "CF_ALU_DWORD0": control_flow.CF_ALU_DWORD0,
    "CF_ALU_DWORD1": control_flow.CF_ALU_DWORD1,
    "CF_ALLOC_EXPORT_DWORD0": exports.EXPORT_DWORD0,
    "CF_ALLOC_EXPORT_DWORD1_BUF": exports.EXPORT_DWORD1_BUF,
    "CF_ALLOC_EXPORT_DWORD1_SWIZ": exports.EXPORT_DWORD1_SWIZ,
    "ALU_DWORD0": alu.ALU_DWORD0,
    "ALU_DWORD1_OP2_V2": alu.ALU_DWORD1_OP2,
    "ALU_DWORD1_OP3": alu.ALU_DWORD1_OP3,
    "VTX_DWORD0": fetch.VTX_DWORD0,
    "VTX_DWORD1_GPR": fetch.VTX_DWORD1,
    "VTX_DWORD2": fetch.VTX_DWORD2,
    "TEX_DWORD0": fetch.TEX_DWORD0,
    "TEX_DWORD1": fetch.TEX_DWORD1,
    "TEX_DWORD2": fetch.TEX_DWORD2,
    "MEM_RD_DWORD0": fetch.MEM_RD_DWORD0,
    "MEM_RD_DWORD1": fetch.MEM_RD_DWORD1,
    "MEM_RD_DWORD2": fetch.MEM_RD_DWORD2,
    "MEM_DSW_DWORD0": fetch.MEM_DSW_DWORD0,
    "MEM_DSW_DWORD1": fetch.MEM_DSW_DWORD1,
    "MEM_DSW_DWORD2": fetch.MEM_DS_DWORD2,
    "MEM_DSR_DWORD0": fetch.MEM_DSR_DWORD0,
    "MEM_DSR_DWORD1": fetch.MEM_DSR_DWORD1,
    "MEM_DSR_DWORD2": fetch.MEM_DS_DWORD2,
}
NOT_DECLARED = {"ALU_LITERAL", "VTX_DWORD1_SEM"}
"""A literal has no fields, and there is no semantic fetch on this machine."""
CODES: Mapping[str, tuple[type[enum.Enum], ...]] = {
    "CF": (control_flow.CfOperation,),
    "CF_ALU": (control_flow.AluClause,),
    "CF_EXPORT": (exports.ExportOperation,),
    "ALU_OP2": (alu.Op2,),
    "ALU_OP3": (alu.Op3,),
    "TEX": (fetch.TextureOperation,),
    "VTX": (fetch.VertexOperation,),
    "MEM_OP": (fetch.MemoryOperation,),
}
SLOTS = {"any": Slots.ANY, "trans only": Slots.TRANS, "vector only": Slots.VECTOR, "reduction": Slots.REDUCTION}


def table(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def test_every_field_is_declared_where_the_table_has_it() -> None:
    wanted: dict[str, set[tuple[str, int, int]]] = {}
    for row in table("encoding.tsv"):
        lowest = int(row["lsb"])
        wanted.setdefault(row["format"], set()).add((row["field"].lower(), lowest, int(row["msb"]) - lowest + 1))
    assert set(wanted) - NOT_DECLARED == set(LAYOUTS)
    for name, layout in LAYOUTS.items():
        declared = {
            ("reserved" if field.startswith("reserved") else field, offset, width)
            for field, offset, width in fields(layout)
        }
        # The table has the five reserved bits of this word as two fields.
        if name == "CF_ALLOC_EXPORT_DWORD1_SWIZ":
            declared = declared - {("reserved", 12, 5)} | {("reserved", 12, 4), ("reserved", 16, 1)}
        assert declared == wanted[name], name


def test_every_opcode_is_declared_with_its_number() -> None:
    wanted: dict[str, dict[str, int]] = {}
    for row in table("opcodes.tsv"):
        assert int(row["number_hex"], 16) == int(row["number_dec"])
        wanted.setdefault(row["class"], {})[row["name"]] = int(row["number_dec"])
    assert set(wanted) == set(CODES)
    for kind, (codes,) in CODES.items():
        assert {code.name: code.value for code in codes} == wanted[kind]


def test_operations_have_the_slots_and_operands_of_the_table() -> None:
    for row in table("opcodes.tsv"):
        if row["class"] not in ("ALU_OP2", "ALU_OP3"):
            continue
        code = CODES[row["class"]][0][row["name"]]
        if code in ILLEGAL:
            assert "64" in row["name"] or "R600 only" in row["slots_or_format"]
            continue
        assert isinstance(code, alu.Op2 | alu.Op3)
        operation = OPERATIONS[code]
        assert operation.operands == int(row["srcs"]), row["name"]
        slots = next(slots for text, slots in SLOTS.items() if row["slots_or_format"].startswith(text))
        # Where two sources disagree, in slot t it is.
        assert operation.slots is slots or row["name"].startswith("MUL_LIT"), row["name"]


def test_operations_are_in_the_order_of_their_codes_and_flags_go_with_names() -> None:
    assert list(OPERATIONS) == [code for codes in (alu.Op2, alu.Op3) for code in codes if code not in ILLEGAL]
    for operation in OPERATIONS.values():
        assert operation.sets_predicate == operation.name.startswith("PRED_SET")
        assert operation.kills == operation.name.startswith("KILL")
        assert operation.sets_address == operation.name.startswith("MOVA")
        assert operation.formula


def alu_word(low: int, high: int) -> dict[str, int]:
    layout = alu.ALU_DWORD1_OP3 if unpack(alu.ENCODING, high)["op3"] else alu.ALU_DWORD1_OP2
    return unpack(alu.ALU_DWORD0, low) | unpack(layout, high)


@pytest.mark.parametrize(
    ("low", "high", "wanted"),
    [
        # MUL_IEEE T0.z = T0.x * T0.y
        (0x80800000, 0x40000110, {"alu_inst": 2, "dst_chan": 2, "src1_chan": 1, "write_mask": 1, "last": 1}),
        # ADD T0.y = PV.z + T1.x
        (0x800028FE, 0x20000010, {"alu_inst": 0, "src0_sel": 254, "src0_chan": 2, "src1_sel": 1, "dst_chan": 1}),
        # MUL_IEEE T0.x = T0.x * KC0[3].z
        (0x81106000, 0x00000110, {"src1_sel": 131, "src1_chan": 2, "dst_chan": 0}),
        # MULADD_IEEE T0.w = PS * literal.x + 0.5
        (0x801FA0FF, 0x600280FC, {"src0_sel": 255, "src1_sel": 253, "src2_sel": 252, "alu_inst": 0x14, "dst_chan": 3}),
        # RECIP_IEEE T0.x = T0.x where the predicate is 1
        (0xE0000000, 0x00003310, {"pred_sel": 3, "alu_inst": 0x66, "write_mask": 1}),
        # PRED_SETE_INT PV.w, 0 to the execute mask; PRED_SETNE_INT PV.w, 0 to the predicate
        (0x801F0CFE, 0x00002104, {"src0_sel": 254, "src0_chan": 3, "src1_sel": 248, "update_execute_mask": 1}),
        (0x801F0CFE, 0x00002288, {"alu_inst": 0x45, "update_pred": 1, "update_execute_mask": 0}),
    ],
)
def test_alu_words_that_a_compiler_made(low: int, high: int, wanted: dict[str, int]) -> None:
    found = alu_word(low, high)
    assert {name: found[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("layout", "values", "word"),
    [
        # ALU, 16 units at 4; ALU_PUSH_BEFORE, 4 units; ALU_POP_AFTER, 9 units.
        (control_flow.CF_ALU_DWORD1, {"count": 15, "cf_inst": 8, "barrier": 1}, 0xA03C0000),
        (control_flow.CF_ALU_DWORD1, {"count": 3, "cf_inst": 9, "barrier": 1}, 0xA40C0000),
        (control_flow.CF_ALU_DWORD1, {"count": 8, "cf_inst": 10, "barrier": 1}, 0xA8200000),
        # ALU at 4 with two lines of constants locked.
        (control_flow.CF_ALU_DWORD0, {"addr": 4, "kcache_mode0": 2}, 0x80000004),
        (control_flow.CF_DWORD1, {"cf_inst": 1, "barrier": 1}, 0x80800000),
        (control_flow.CF_DWORD1, {"cf_inst": 6, "barrier": 1}, 0x83000000),
        (control_flow.CF_DWORD1, {"cf_inst": 5, "barrier": 1}, 0x82800000),
        (control_flow.CF_DWORD1, {"cf_inst": 9, "barrier": 1}, 0x84800000),
        (control_flow.CF_DWORD1, {"cf_inst": 10, "barrier": 1, "pop_count": 1}, 0x85000001),
        (control_flow.CF_DWORD1, {"cf_inst": 14, "barrier": 1, "pop_count": 1}, 0x87000001),
        (control_flow.CF_DWORD1, {"cf_inst": 0, "barrier": 1, "end_of_program": 1}, 0x80200000),
        # EXPORT_DONE to target 0 of a register as it is, the last word.
        (exports.EXPORT_DWORD0, {"elem_size": 3}, 0xC0000000),
        (
            exports.EXPORT_DWORD1_SWIZ,
            {"sel_y": 1, "sel_z": 2, "sel_w": 3, "cf_inst": 0x28, "end_of_program": 1, "barrier": 1},
            0x94200688,
        ),
        # SAMPLE of resource 1 with sampler 2 at normalised T0 into T1.
        (fetch.TEX_DWORD0, {"tex_inst": 16, "resource_id": 1}, 0x00000110),
        (
            fetch.TEX_DWORD1,
            {
                "dst_gpr": 1, "dst_sel_y": 1, "dst_sel_z": 2, "dst_sel_w": 3,
                **{f"coord_type_{component}": 1 for component in "xyzw"},
            },
            0xF00D1001,
        ),
        (fetch.TEX_DWORD2, {"sampler_id": 2, "src_sel_y": 1, "src_sel_z": 2, "src_sel_w": 3}, 0x68810000),
    ],
)  # fmt: skip
def test_words_are_those_that_a_compiler_made(layout: data.StructLayout, values: dict[str, int], word: int) -> None:
    assert f"{pack(layout, **values):08x}" == f"{word:08x}"
