"""Writes docs/isa.md, the tables of every word, and docs/ctm.h, the host's registers, from the declarations."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from amaranth.lib import data, enum

from ctm.rtl.isa import executable, formats
from ctm.rtl.isa.commands import COMMANDS
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, REGISTERS
from ctm.rtl.isa.r5xx import instruction, opcodes, program
from ctm.rtl.isa.status import STATUS_TEXT, Status
from ctm.sim.report.header import c_header

DOCS = Path(__file__).parents[1] / "docs"

_WORDS = {
    "COMMON": (instruction.COMMON, "word 0, all types: US_CMN_INST"),
    "RGB_ADDR": (instruction.RGB_ADDR, "word 1, ALU and OUTPUT: US_ALU_RGB_ADDR"),
    "ALPHA_ADDR": (instruction.ALPHA_ADDR, "word 2, ALU and OUTPUT: US_ALU_ALPHA_ADDR"),
    "RGB_INST": (instruction.RGB_INST, "word 3, ALU and OUTPUT: US_ALU_RGB_INST"),
    "ALPHA_INST": (instruction.ALPHA_INST, "word 4, ALU and OUTPUT: US_ALU_ALPHA_INST"),
    "RGBA_INST": (instruction.RGBA_INST, "word 5, ALU and OUTPUT: US_ALU_RGBA_INST"),
    "TEX_INST": (instruction.TEX_INST, "word 1, TEX: US_TEX_INST"),
    "TEX_ADDR": (instruction.TEX_ADDR, "word 2, TEX: US_TEX_ADDR"),
    "TEX_ADDR_DXDY": (instruction.TEX_ADDR_DXDY, "word 3, TEX: US_TEX_ADDR_DXDY"),
    "FC_INST": (instruction.FC_INST, "word 2, FC: US_FC_INST"),
    "FC_ADDR": (instruction.FC_ADDR, "word 3, FC: US_FC_ADDR"),
}

_CODES = (
    opcodes.InstructionType,
    opcodes.RgbOperation,
    opcodes.AlphaOperation,
    opcodes.Presubtract,
    opcodes.Select,
    opcodes.Swizzle,
    opcodes.InputModifier,
    opcodes.OutputModifier,
    opcodes.ZeroTest,
    opcodes.PredicateSelect,
    opcodes.UmrtTarget,
    opcodes.TextureOperation,
    opcodes.Channel,
    opcodes.FlowOperation,
    opcodes.AddressOperation,
    opcodes.BranchOperation,
    opcodes.JumpFunction,
    formats.DataFormat,
    formats.Tiling,
    ConditionalTest,
    ConditionalLocation,
    executable.NoteType,
)


def _table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    columns = list(header)
    yield "| " + " | ".join(columns) + " |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield "| " + " | ".join(str(cell) for cell in row) + " |"
    yield ""


def _bits(field: data.Field) -> str:
    low, high = field.offset, field.offset + field.width - 1
    return str(low) if field.width == 1 else f"{high}:{low}"


def _codes(shape: object) -> str:
    return f"`{shape.__name__}`" if isinstance(shape, type) and issubclass(shape, enum.Enum) else ""


def _layout(layout: data.StructLayout) -> Iterator[str]:
    rows = [(_bits(field), name, _codes(field.shape)) for name, field in layout]
    yield from _table(("bits", "field", "codes"), rows)


def _commands() -> Iterator[str]:
    yield "## Commands\n\nA command word is followed by its parameters, one word each.\n"
    rows = []
    for command in COMMANDS:
        words = " or ".join(f"`{word:08X}`" for word in command.words)
        rows.append(
            (words, command.name, command.unit, ", ".join(command.parameters), "yes" if command.pipelined else "no")
        )
    yield from _table(("word", "command", "unit", "parameters", "pipelined"), rows)
    yield "### Parameters\n"
    layouts = {name: layout for command in COMMANDS for name, layout in command.parameters.items()}
    rows = []
    for name, layout in layouts.items():
        fields = [
            f"{field_name} {_bits(field)}" for field_name, field in layout if not field_name.startswith("reserved")
        ]
        rows.append((name, ", ".join(fields) or "ignored"))
    yield from _table(("parameter", "fields"), rows)


def _instructions() -> Iterator[str]:
    yield "## Instruction words\n"
    for name, (layout, text) in _WORDS.items():
        yield f"### {name}\n\n{text[0].upper()}{text[1:]}\n"
        yield from _layout(layout)
    yield "## Codes\n"
    for codes in _CODES:
        summary = (codes.__doc__ or "").splitlines()[0]
        yield f"### {codes.__name__}\n\n{summary}\n"
        yield from _table(("code", "name"), ((member.value, member.name) for member in codes))


def _inline_constants() -> Iterator[str]:
    yield "## Inline constants\n\nRow: upper four bits of the code; column: lower three.\n"
    rows = [
        (f"{upper:X}_", *(f"{instruction.inline_constant(upper << 3 | lower):g}" for lower in range(8)))
        for upper in range(16)
    ]
    yield from _table(("", *map(str, range(8))), rows)


def _executables() -> Iterator[str]:
    yield "## Program information note\n"
    for place, (name, layout) in enumerate(program.PROGRAM_INFORMATION.items()):
        fields = [
            f"{field_name} {_bits(field)}" for field_name, field in layout if not field_name.startswith("reserved")
        ]
        yield f"* word {place}: {name}" + (f" ({', '.join(fields)})" if fields else ", 0")
    yield ""


def _host() -> Iterator[str]:
    yield "## Host registers\n"
    rows = []
    for register in REGISTERS:
        fields = [
            f"{name} {_bits(field)}" for name, field in register.layout if not name.startswith(("reserved", "unused"))
        ]
        rows.append((f"0x{register.offset:03X}", register.name, register.access, ", ".join(fields), register.text))
    yield from _table(("offset", "register", "access", "fields", "meaning"), rows)
    yield "## Host counters\n"
    yield "Read only, 32 bits; they wrap, and a reset makes them 0.\n"
    counters = enumerate(COUNTERS.items())
    rows = [(f"0x{COUNTERS_OFFSET + 4 * place:03X}", name, text) for place, (name, text) in counters]
    yield from _table(("offset", "counter", "counts"), rows)
    yield "## Status codes\n"
    yield from _table(
        ("code", "name", "meaning"), ((status.value, status.name, STATUS_TEXT[status]) for status in Status)
    )


def reference() -> str:
    """The whole document."""
    parts = [
        "# Reference of words and codes",
        "",
        "Generated from `rtl/isa` by `python -m scripts.make_isa_reference`; do not edit.",
        "",
        *_commands(),
        *_instructions(),
        *_inline_constants(),
        *_executables(),
        *_host(),
    ]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    (DOCS / "isa.md").write_text(reference(), encoding="utf-8")
    (DOCS / "ctm.h").write_text(c_header(), encoding="utf-8")
