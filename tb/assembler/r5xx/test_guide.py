"""The examples of the user guide assemble, and what it says of single messages and names is so."""

import re
from pathlib import Path

import pytest

from ctm.rtl.isa.r5xx.opcodes import AlphaOperation, RgbOperation, TextureOperation
from ctm.sim.assembler import AssemblyError, assemble, disassemble
from ctm.sim.assembler.r5xx.parser.directives import DIRECTIVES
from ctm.sim.assembler.r5xx.parser.flow import SETTINGS, Statement
from ctm.sim.assembler.r5xx.parser.options import COMMON_FLAGS
from ctm.sim.assembler.r5xx.parser.texture import TEXTURE_FLAGS

GUIDE = (Path(__file__).parents[3] / "docs" / "assembler.md").read_text()
EXAMPLES = re.findall(r"```asm\n(.*?)```", GUIDE, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_assemble_and_come_back(example: str) -> None:
    executable = assemble(example)
    assert assemble(disassemble(executable)) == executable


def test_the_guide_names_everything() -> None:
    names = {operation.name for kind in (RgbOperation, AlphaOperation, TextureOperation) for operation in kind}
    names |= {statement.value.upper() for statement in Statement}
    names |= {*COMMON_FLAGS, *TEXTURE_FLAGS, *SETTINGS, *DIRECTIVES, ".equ", ".word"}
    assert [name for name in names if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", GUIDE)] == []


def test_the_error_of_the_guide() -> None:
    location, line, caret = re.findall(r"```\n(saxpy.*?)```", GUIDE, re.DOTALL)[0].splitlines()
    with pytest.raises(AssemblyError) as caught:
        assemble("\n" * 4 + line, name="saxpy.s")
    assert str(caught.value).splitlines() == [location, line, caret]
