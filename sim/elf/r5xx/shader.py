"""Reads the JSON form of a compiled shader: instruction words and state words as hex.

The keys are those of tb/data/r5xx/shaders/README.md. Keys that are not listed here are ignored.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS, INT_CONSTANTS, TEMPORARIES
from ctm.rtl.isa.r5xx.limits import INSTRUCTION_SLOTS, INSTRUCTION_WORDS
from ctm.sim.elf.r5xx.executable import Executable, Instruction
from ctm.sim.elf.r5xx.notes import derive_notes

_WORD = 1 << 32


class ShaderError(Exception):
    """A JSON file that is no compiled shader; the message begins with the key that is wrong."""


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
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ShaderError(f"not a JSON document: {error}") from None
    if not isinstance(document, dict):
        raise ShaderError("not a JSON object")
    instructions = _instructions(document)
    executable = Executable(
        instructions=instructions,
        start=_number(document, "start", INSTRUCTION_SLOTS),
        end=_number(document, "end", INSTRUCTION_SLOTS),
        highest_temporary=_number(document, "highest_temporary", TEMPORARIES),
        us_config=_number(document, "US_CONFIG", _WORD),
        us_fc_ctrl=_number(document, "US_FC_CTRL", _WORD),
        us_w_fmt=_number(document, "US_W_FMT", _WORD),
        fg_depth_src=_number(document, "FG_DEPTH_SRC", _WORD),
        notes=derive_notes(instructions),
    )
    floats = {
        index: _words(values, f"float_constants.{index}", CHANNELS)
        for index, values in _indexed(document, "float_constants", FLOAT_CONSTANTS).items()
    }
    ints = {
        index: _word(value, f"int_constants.{index}", _WORD)
        for index, value in _indexed(document, "int_constants", INT_CONSTANTS).items()
    }
    return Shader(executable=executable, float_constants=floats, int_constants=ints)


def _word(value: object, key: str, limit: int) -> int:
    """A number, or a string of one in Python's notation, of 0..limit - 1."""
    number = value
    if isinstance(value, str):
        try:
            number = int(value, 0)
        except ValueError:
            raise ShaderError(f"{key}: {value!r} is no number") from None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ShaderError(f"{key}: {json.dumps(value)} is no number")
    if not 0 <= number < limit:
        raise ShaderError(f"{key}: {number} is not 0..{limit - 1}")
    return number


def _words(values: object, key: str, count: int) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) != count:
        raise ShaderError(f"{key}: must be a list of {count} words")
    return tuple(_word(value, f"{key}[{index}]", _WORD) for index, value in enumerate(values))


def _number(document: Mapping[str, object], key: str, limit: int) -> int:
    if key not in document:
        raise ShaderError(f"{key}: is missing")
    return _word(document[key], key, limit)


def _instructions(document: Mapping[str, object]) -> tuple[Instruction, ...]:
    listed = document.get("instructions")
    if not isinstance(listed, list) or not 1 <= len(listed) <= INSTRUCTION_SLOTS:
        raise ShaderError(f"instructions: must be a list of 1 to {INSTRUCTION_SLOTS} instructions")
    return tuple(_words(words, f"instructions[{slot}]", INSTRUCTION_WORDS) for slot, words in enumerate(listed))


def _indexed(document: Mapping[str, object], key: str, limit: int) -> dict[int, object]:
    """An optional object whose keys are indices."""
    values = document.get(key, {})
    if not isinstance(values, dict):
        raise ShaderError(f"{key}: must be an object, index -> value")
    return {_word(index, f"{key}.{index}", limit): value for index, value in values.items()}
