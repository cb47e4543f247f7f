"""The reference of the R700's words, codes and operations, from the declarations."""

from collections.abc import Iterator, Mapping

from amaranth.lib import data

from ctm.rtl.isa import draws
from ctm.rtl.isa.r700 import alu, components, control_flow, exports, fetch, pipeline, program
from ctm.rtl.isa.r700.operations import ILLEGAL, OPERATIONS, Operation
from scripts.reference_tables import bits, codes_tables, commands_tables, layout_table, table

_WORDS = {
    "CF_DWORD0": (control_flow.CF_DWORD0, "first word of a CF instruction that starts no ALU clause and is no export"),
    "CF_DWORD1": (control_flow.CF_DWORD1, "its second word"),
    "CF_ALU_DWORD0": (control_flow.CF_ALU_DWORD0, "first word of a CF instruction that starts an ALU clause"),
    "CF_ALU_DWORD1": (control_flow.CF_ALU_DWORD1, "its second word"),
    "CF_ALLOC_EXPORT_DWORD0": (exports.EXPORT_DWORD0, "first word of an export"),
    "CF_ALLOC_EXPORT_DWORD1_SWIZ": (exports.EXPORT_DWORD1_SWIZ, "second word of EXPORT and EXPORT_DONE"),
    "CF_ALLOC_EXPORT_DWORD1_BUF": (exports.EXPORT_DWORD1_BUF, "second word of all other exports"),
    "ALU_DWORD0": (alu.ALU_DWORD0, "first word of an ALU instruction"),
    "ALU_DWORD1_OP2_V2": (alu.ALU_DWORD1_OP2, "second word, up to two operands"),
    "ALU_DWORD1_OP3": (alu.ALU_DWORD1_OP3, "second word, three operands"),
    "TEX_DWORD0": (fetch.TEX_DWORD0, "first word of an instruction of a TEX clause; the fourth is 0 in all fetches"),
    "TEX_DWORD1": (fetch.TEX_DWORD1, "second word"),
    "TEX_DWORD2": (fetch.TEX_DWORD2, "third word"),
    "VTX_DWORD0": (fetch.VTX_DWORD0, "first word of a vertex fetch"),
    "VTX_DWORD1": (fetch.VTX_DWORD1, "second word"),
    "VTX_DWORD2": (fetch.VTX_DWORD2, "third word"),
    "MEM_RD_DWORD0": (fetch.MEM_RD_DWORD0, "first word of a read of memory"),
    "MEM_RD_DWORD1": (fetch.MEM_RD_DWORD1, "second word"),
    "MEM_RD_DWORD2": (fetch.MEM_RD_DWORD2, "third word"),
    "MEM_DSW_DWORD0": (fetch.MEM_DSW_DWORD0, "first word of a write of the data share"),
    "MEM_DSW_DWORD1": (fetch.MEM_DSW_DWORD1, "second word"),
    "MEM_DSR_DWORD0": (fetch.MEM_DSR_DWORD0, "first word of a read of the data share"),
    "MEM_DSR_DWORD1": (fetch.MEM_DSR_DWORD1, "second word"),
    "MEM_DS_DWORD2": (fetch.MEM_DS_DWORD2, "third word of either"),
}

_CODES = (
    control_flow.CfOperation,
    control_flow.AluClause,
    control_flow.Condition,
    control_flow.KcacheMode,
    exports.ExportOperation,
    exports.ExportType,
    exports.MemoryWrite,
    components.ComponentSelect,
    alu.IndexMode,
    alu.PredicateSelect,
    alu.OutputModifier,
    alu.VectorSwizzle,
    alu.TransSwizzle,
    fetch.TextureOperation,
    fetch.VertexOperation,
    fetch.MemoryOperation,
    fetch.SourceSelect,
    fetch.FetchFormat,
    fetch.FetchType,
    fetch.Multiplex,
    program.ProgramType,
)


def _flags(operation: Operation) -> str:
    flags = {
        "copies bits": operation.copies_bits,
        "sets a predicate": operation.sets_predicate,
        "kills": operation.kills,
        "sets AR": operation.sets_address,
    }
    return ", ".join(name for name, is_set in flags.items() if is_set)


def _operations() -> Iterator[str]:
    yield "## Operations\n"
    yield "[arithmetic.md](arithmetic.md) has the results. Slot t can execute all operations with `any` as slots.\n"
    rows = [
        (
            type(operation.code).__name__.upper(), f"0x{operation.code.value:02X}", operation.name,
            operation.slots.name.lower(), operation.operands, operation.result.name.lower(), operation.formula,
            _flags(operation),
        )
        for operation in OPERATIONS.values()
    ]  # fmt: skip
    yield from table(("form", "code", "name", "slots", "operands", "result", "formula", "flags"), rows)
    yield "Operations with a name that are illegal:\n"
    rows_illegal = [(type(code).__name__.upper(), f"0x{code.value:02X}", code.name) for code in ILLEGAL]
    yield from table(("form", "code", "name"), rows_illegal)


def _selects() -> Iterator[str]:
    yield "## Operands: SRC_SEL\n"
    rows: list[tuple[object, ...]] = [
        ("0..127", "general-purpose register; the last four are clause temporaries"),
        (f"{alu.KCACHE_0}..{alu.KCACHE_1 - 1}", "row of kcache set 0"),
        (f"{alu.KCACHE_1}..{alu.KCACHE_END - 1}", "row of kcache set 1"),
        *((select, f"{name}: 0x{value:08X}") for select, (name, value) in alu.INLINE_CONSTANTS.items()),
        (alu.LITERAL, "literal; the channel selects one of up to four after the instruction group"),
        (alu.PREVIOUS_VECTOR, "PV: result of the previous group in the slot of the channel"),
        (alu.PREVIOUS_SCALAR, "PS: result of the previous group in slot t"),
    ]
    yield from table(("select", "operand"), rows)


def _note(title: str, words: Mapping[str, data.StructLayout]) -> Iterator[str]:
    yield f"## {title}\n"
    for number, (name, layout) in enumerate(words.items()):
        fields = [
            f"{field_name} {bits(field)}" for field_name, field in layout if not field_name.startswith("reserved")
        ]
        yield f"* word {number}: {name}" + (f" ({', '.join(fields)})" if fields else ", 0")
    yield ""


def reference() -> str:
    """The whole document."""
    texts = [
        "# Reference of the R700's words and codes",
        "",
        "Generated from `rtl/isa/r700` by `python -m scripts.make_isa_reference`; do not edit. Commands, formats and "
        "registers are those of [isa.md](isa.md).",
        "",
        "## Words",
        "",
    ]
    for name, (layout, text) in _WORDS.items():
        texts += [f"### {name}\n\n{text[0].upper()}{text[1:]}\n", *layout_table(layout)]
    texts += [*_selects(), *_operations(), "## Codes\n", *codes_tables(_CODES)]
    texts += _note("Program information note", program.PROGRAM_INFORMATION)
    texts += _note("Pipeline note of a draw", pipeline.PIPELINE_INFORMATION)
    texts += ["## Commands of draws", "", "These are beside the commands of [isa.md](isa.md).", ""]
    texts += commands_tables(draws.DRAW_COMMANDS)
    texts += codes_tables((draws.PrimitiveType, draws.IndexFormat, draws.Ring, pipeline.OutputPrimitive))
    return "\n".join(texts).rstrip() + "\n"
