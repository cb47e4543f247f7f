"""Reads the JSON form of a compiled shader: instruction words and state words as hex.

The keys are those of tb/data/r5xx/shaders/README.md. Keys that are not listed here are ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.sim.elf.json_words import ShaderError, indexed, number, read_document, word, words
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import derive_notes

_WORD = 1 << 32


@dataclass(frozen=True, kw_only=True)
class Shader:
    """A program and the constants that its file gives values to.

    `float_constants`: index -> the bits of r, g, b, a. `int_constants`: index -> word, count in 7:0, first aL in 15:8,
    signed step in 23:16.
    """

    executable: Executable
    float_constants: Mapping[int, tuple[int, ...]]
    int_constants: Mapping[int, int]


def read_shader(text: str | bytes) -> Shader:
    """Read a compiled shader; the notes of the executable are derived from its code.

    Raises
    ------
    ShaderError
        The text is no JSON object, or a key is missing or has a wrong value.
    """
    document = read_document(text)
    instructions = _instructions(document)
    executable = Executable(
        instructions=instructions,
        start=number(document, "start", INSTRUCTION_SLOTS),
        end=number(document, "end", INSTRUCTION_SLOTS),
        highest_temporary=number(document, "highest_temporary", TEMPORARIES),
        us_config=number(document, "US_CONFIG", _WORD),
        us_fc_ctrl=number(document, "US_FC_CTRL", _WORD),
        us_w_fmt=number(document, "US_W_FMT", _WORD),
        fg_depth_src=number(document, "FG_DEPTH_SRC", _WORD),
        notes=derive_notes(instructions),
    )
    floats = {
        index: words(values, f"float_constants.{index}", CHANNELS)
        for index, values in indexed(document, "float_constants", FLOAT_CONSTANTS).items()
    }
    ints = {
        index: word(value, f"int_constants.{index}", _WORD)
        for index, value in indexed(document, "int_constants", INT_CONSTANTS).items()
    }
    return Shader(executable=executable, float_constants=floats, int_constants=ints)


def _instructions(document: Mapping[str, object]) -> tuple[Instruction, ...]:
    listed = document.get("instructions")
    if not isinstance(listed, list) or not 1 <= len(listed) <= INSTRUCTION_SLOTS:
        raise ShaderError(f"instructions: must be a list of 1 to {INSTRUCTION_SLOTS} instructions")
    return tuple(words(each, f"instructions[{slot}]", INSTRUCTION_WORDS) for slot, each in enumerate(listed))
