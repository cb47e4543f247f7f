"""The examples of the user guide assemble, and what it says of single messages and names is so."""

import re
from pathlib import Path

import pytest

from rtl.isa.opcodes import AlphaOperation, RgbOperation, TextureOperation
from sim.assembler import AssemblyError, assemble, disassemble
from sim.assembler.directives import DIRECTIVES
from sim.assembler.flow import SETTINGS, Statement
from sim.assembler.options import COMMON_FLAGS
from sim.assembler.texture import TEXTURE_FLAGS

GUIDE = (Path(__file__).parents[2] / "docs" / "assembler.md").read_text()
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
    place, line, caret = re.search(r"```\n(saxpy.*?)```", GUIDE, re.DOTALL)[1].splitlines()
    with pytest.raises(AssemblyError) as caught:
        assemble("\n" * 4 + line, name="saxpy.s")
    assert str(caught.value).splitlines() == [place, line, caret]
