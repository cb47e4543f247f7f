"""Reads the JSON form of a compiled R700 program: its words and what its note says of them.

The keys are those of tb/data/r700/README.md. Keys that are not listed here are ignored.
"""

from collections.abc import Mapping

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r700.limits import CODE_UNITS, FIRST_CLAUSE_TEMPORARY, STACK_ENTRIES, UNIT_WORDS
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.usage import usage
from ctm.sim.elf.shader import Shader, ShaderError, indexed, number, word, words

_RESOURCES = 256


def shader_of(document: Mapping[str, object]) -> Shader:
    """Read a compiled program; it sets the conditional value if some of its exports do.

    Raises
    ------
    ShaderError
        A key is missing or has a wrong value.
    """
    code = _code(document)
    # A program without registers of its own has one all the same.
    gprs = max(1, number(document, "gprs", FIRST_CLAUSE_TEMPORARY + 1))
    inputs = _inputs(document)
    texture_base = number(document, "texture_base", _RESOURCES)
    executable = Executable(
        code=code,
        gprs=max(gprs, *(register + 1 for register in inputs), 1),
        stack_size=number(document, "stack", STACK_ENTRIES + 1),
        dx10_clamp=bool(number(document, "dx10_clamp", 2)),
        depth=usage(code, 0, texture_base).depth,
        texture_base=texture_base,
    )
    floats = {
        row: words(values, f"constants.{row}", CHANNELS)
        for row, values in indexed(document, "constants", FLOAT_CONSTANTS).items()
    }
    return Shader(executable=executable, inputs=inputs, float_constants=floats, int_constants={})


def _code(document: Mapping[str, object]) -> tuple[Unit, ...]:
    listed = document.get("dwords")
    most = UNIT_WORDS * CODE_UNITS
    if not isinstance(listed, list) or not 2 <= len(listed) <= most or len(listed) % UNIT_WORDS:
        raise ShaderError(f"dwords: must be a list of 2 to {most} words, an even number")
    found = words(listed, "dwords", len(listed))
    return tuple(found[at : at + UNIT_WORDS] for at in range(0, len(found), UNIT_WORDS))


def _inputs(document: Mapping[str, object]) -> tuple[int, ...]:
    listed = document.get("inputs", [])
    if not isinstance(listed, list):
        raise ShaderError("inputs: must be a list of registers")
    found = {word(each, f"inputs[{index}]", FIRST_CLAUSE_TEMPORARY) for index, each in enumerate(listed)}
    return tuple(sorted(found))
