"""Reads the JSON form of a compiled R700 program: its words and what its note says of them.

The keys are those of tb/data/r700/README.md. Keys that are not listed here are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.rtl.isa.r700.limits import CODE_UNITS, FIRST_CLAUSE_TEMPORARY, STACK_ENTRIES, UNIT_WORDS
from ctm.sim.elf.json_words import ShaderError, indexed, number, read_document, word, words
from ctm.sim.elf.r700.executable import Executable, Unit
from ctm.sim.elf.r700.usage import exports_depth

_RESOURCES = 256


@dataclass(frozen=True, kw_only=True)
class Shader:
    """A program, and what its file says beside it.

    `inputs` are the registers that hold something when it starts, ascending; `float_constants`: row -> the bits of
    x, y, z, w.
    """

    executable: Executable
    inputs: tuple[int, ...]
    float_constants: Mapping[int, tuple[int, ...]]


def read_shader(text: str | bytes) -> Shader:
    """Read a compiled program; it sets the conditional value if some of its exports do.

    Raises
    ------
    ShaderError
        The text is no JSON object, or a key is missing or has a wrong value.
    """
    document = read_document(text)
    code = _code(document)
    # A program that only reads what is there before its start has 0 registers.
    gprs = max(1, number(document, "gprs", FIRST_CLAUSE_TEMPORARY + 1))
    inputs = _inputs(document)
    executable = Executable(
        code=code,
        gprs=max(gprs, *(register + 1 for register in inputs), 1),
        stack_size=number(document, "stack", STACK_ENTRIES + 1),
        dx10_clamp=bool(number(document, "dx10_clamp", 2)),
        depth=exports_depth(code, 0),
        texture_base=number(document, "texture_base", _RESOURCES),
    )
    floats = {
        row: words(values, f"constants.{row}", CHANNELS)
        for row, values in indexed(document, "constants", FLOAT_CONSTANTS).items()
    }
    return Shader(executable=executable, inputs=inputs, float_constants=floats)


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
    found = {word(each, f"inputs[{place}]", FIRST_CLAUSE_TEMPORARY) for place, each in enumerate(listed)}
    return tuple(sorted(found))
