"""Writes docs/isa.md and docs/isa-r700.md, the tables of every word, and docs/ctm.h, from the declarations."""

from collections.abc import Iterator
from pathlib import Path

from ctm.rtl.isa import executable, formats
from ctm.rtl.isa.commands import COMMANDS
from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.host import COUNTERS, COUNTERS_OFFSET, DRAW_COUNTERS, DRAW_COUNTERS_OFFSET, REGISTERS
from ctm.rtl.isa.r5xx import instruction, opcodes, program
from ctm.rtl.isa.status import STATUS_TEXT, Status
from ctm.sim.report.header import c_header
from scripts import r700_reference
from scripts.reference_tables import bits, codes_tables, commands_tables, layout_table, table

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


def _commands() -> Iterator[str]:
    yield "## Commands\n\nA command word is followed by its parameters, one word each.\n"
    yield from commands_tables(COMMANDS)


def _instructions() -> Iterator[str]:
    yield "## Instruction words\n"
    for name, (layout, text) in _WORDS.items():
        yield f"### {name}\n\n{text[0].upper()}{text[1:]}\n"
        yield from layout_table(layout)
    yield "## Codes\n"
    yield from codes_tables(_CODES)


def _inline_constants() -> Iterator[str]:
    yield "## Inline constants\n\nRow: upper four bits of the code; column: lower three.\n"
    rows = [
        (f"{upper:X}_", *(f"{instruction.inline_constant(upper << 3 | lower):g}" for lower in range(8)))
        for upper in range(16)
    ]
    yield from table(("", *map(str, range(8))), rows)


def _executables() -> Iterator[str]:
    yield "## Program information note\n"
    for number, (name, layout) in enumerate(program.PROGRAM_INFORMATION.items()):
        fields = [
            f"{field_name} {bits(field)}" for field_name, field in layout if not field_name.startswith("reserved")
        ]
        yield f"* word {number}: {name}" + (f" ({', '.join(fields)})" if fields else ", 0")
    yield ""


def _host() -> Iterator[str]:
    yield "## Host registers\n"
    rows = []
    for register in REGISTERS:
        fields = [
            f"{name} {bits(field)}" for name, field in register.layout if not name.startswith(("reserved", "unused"))
        ]
        rows.append((f"0x{register.offset:03X}", register.name, register.access, ", ".join(fields), register.text))
    yield from table(("offset", "register", "access", "fields", "meaning"), rows)
    yield "## Host counters\n"
    yield (
        "Read only, 32 bits; they wrap, and a reset makes them 0. Every engine counts GROUPS, ISSUED_ALU, ISSUED_TEX "
        "and ISSUED_FC, and the sum of the LANES counters as `lane_instructions`. Of buffers that end without an error "
        "these are the same on all engines, for any memory latency and number of wave slots.\n\nOf R700, "
        "ISSUED_FC are CF instructions and ISSUED_TEX fetch instructions. All other counters depend on time, on caches "
        "and on the order in which cores work. After an error all counters may differ, because other wavefronts may "
        "be in flight then.\n"
    )
    counters = enumerate(COUNTERS.items())
    counts = [(f"0x{COUNTERS_OFFSET + 4 * number:03X}", name, text) for number, (name, text) in counters]
    yield from table(("offset", "counter", "counts"), counts)
    yield "Counters of draws, likewise, of hardware that draws; on other hardware they read 0.\n"
    of_draws = enumerate(DRAW_COUNTERS.items())
    counts = [(f"0x{DRAW_COUNTERS_OFFSET + 4 * number:03X}", name, text) for number, (name, text) in of_draws]
    yield from table(("offset", "counter", "counts"), counts)
    yield "## Status codes\n"
    yield from table(
        ("code", "name", "meaning"), ((status.value, status.name, STATUS_TEXT[status]) for status in Status)
    )


def reference() -> str:
    """The whole document."""
    texts = [
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
    return "\n".join(texts).rstrip() + "\n"


if __name__ == "__main__":
    (DOCS / "isa.md").write_text(reference(), encoding="utf-8")
    (DOCS / "isa-r700.md").write_text(r700_reference.reference(), encoding="utf-8")
    (DOCS / "ctm.h").write_text(c_header(), encoding="utf-8")
