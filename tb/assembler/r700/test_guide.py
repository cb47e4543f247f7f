"""The examples of the user guide assemble, and what it says of single messages and names is so."""

import re
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS, IndexMode, TransSwizzle, VectorSwizzle
from ctm.rtl.isa.r700.control_flow import AluClause, CfOperation, Condition
from ctm.rtl.isa.r700.exports import ExportOperation
from ctm.rtl.isa.r700.fetch import MemoryOperation, Multiplex, TextureOperation
from ctm.sim.assembler import AssemblyError, assemble, disassemble
from ctm.sim.assembler.error import Position
from ctm.sim.assembler.r700.form import CONTROL_FORMS, Draft
from ctm.sim.assembler.r700.names import CONTROL_CODES
from ctm.sim.assembler.r700.parser import control, fetch_options, source
from ctm.sim.assembler.r700.parser.directives import DIRECTIVES
from ctm.sim.assembler.r700.syntax import Keyword, Word
from ctm.tb.assembler.r700.running import HEIGHT, WIDTH, run

GUIDE = (Path(__file__).parents[3] / "docs" / "assembler-r700.md").read_text()
EXAMPLES = re.findall(r"```asm\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_assemble_and_come_back(example: str) -> None:
    executable = assemble(example)
    assert executable.kind == "r700"
    assert assemble(disassemble(executable)) == executable


def test_the_disassembly_of_the_guide_is_one() -> None:
    (listing,) = [example for example in EXAMPLES if ".manual\n.type" in example]
    assert disassemble(assemble(listing)) == listing


def test_the_guide_names_everything() -> None:
    codes = (
        VectorSwizzle,
        TransSwizzle,
        IndexMode,
        AluClause,
        CfOperation,
        Condition,
        ExportOperation,
        MemoryOperation,
    )
    names = {member.name for enum in (*codes, Multiplex, TextureOperation) for member in enum}
    names -= {"MEM", "AR_X", "AR_Y", "AR_Z", "AR_W", "MEM_STREAM1", "MEM_STREAM2", "LOOP"}
    names |= {name for name, _ in INLINE_CONSTANTS.values()}
    names |= {keyword.name for keyword in Keyword}
    names |= {*DIRECTIVES, source.UNIT, source.LITERALS, source.PACK, source.ENDPACK, source.CHECKED, source.UNCHECKED}
    names |= {option.upper() for option in options()}
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", GUIDE)] == []


def options() -> set[str]:
    """All that can follow an instruction that is none of ALU."""
    found: set[str] = set()
    for form, code in CONTROL_CODES.values():
        assert form in CONTROL_FORMS
        draft = Draft(form)
        draft.set("cf_inst", code)
        found |= control.options_of(Word(Position(1, 1), draft)).keys()
    makers = (
        fetch_options.texture_options, fetch_options.vertex_options, fetch_options.memory_options,
        fetch_options.share_write_options, fetch_options.share_read_options,
    )  # fmt: skip
    return found.union(*(maker(draft) for maker in makers))


def test_the_error_of_the_guide() -> None:
    location, line, caret = re.findall(r"```\n(blend.*?)```", GUIDE, re.DOTALL)[0].splitlines()
    with pytest.raises(AssemblyError) as caught:
        assemble(f".isa r700\n\n\n\n0 x: ADD R1.x, R1.x, R3.y VEC_012\n{line}", name="blend.s")
    assert str(caught.value).splitlines() == [location, line, caret]


def test_the_first_example_computes_what_it_says() -> None:
    found = run(EXAMPLES[0], {0: (0.5, 0.25, 0.0, 0.0), 1: (64.0, 0.0, 0.0, 0.0)})
    for j, i in np.ndindex(HEIGHT, WIDTH):
        z, c, count = 0j, complex(i / 8 - 0.5, j / 8 - 0.25), 0
        while True:
            escaped = abs(z) ** 2 > 4
            z, count = z * z + c, count + 1
            if escaped or count >= 64:
                break
        assert found[j, i, 0] == count
        assert found[j, i, 1] == (1 if count >= 64 else np.float32(1) / np.float32(count))
