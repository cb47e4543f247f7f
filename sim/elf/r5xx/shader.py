"""Reads the JSON form of a compiled shader: instruction words and state words as hex.

The keys are those of tb/data/r5xx/shaders/README.md. Keys that are not listed here are ignored.
"""

from collections.abc import Mapping

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import derive_notes
from ctm.sim.elf.shader import Shader, ShaderError, indexed, number, word, words

_WORD = 1 << 32


def shader_of(document: Mapping[str, object]) -> Shader:
    """Read a compiled shader; the notes of the executable are derived from its code.

    Raises
    ------
    ShaderError
        A key is missing or has a wrong value.
    """
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
