"""Compiled programs as JSON documents: what one gives, and its values, with errors that name the key."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ctm.sim.elf.executable import Executable


class ShaderError(Exception):
    """A JSON file that is no compiled shader; the message begins with the key that is wrong."""


@dataclass(frozen=True, kw_only=True)
class Shader:
    """A program, and what its file says beside it.

    `inputs` are registers that hold something when the program starts. `float_constants`: index -> the bits of the four
    channels. `int_constants`: index -> word, count in 7:0, first aL in 15:8, signed step in 23:16.
    """

    executable: Executable
    inputs: tuple[int, ...] = ()
    float_constants: Mapping[int, tuple[int, ...]]
    int_constants: Mapping[int, int]


def read_document(text: str | bytes) -> dict[str, object]:
    """The object that a JSON document is.

    Raises
    ------
    ShaderError
        It is no JSON object.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        if not error.doc.strip():
            raise ShaderError("not a JSON document: the file is empty") from None
        is_cut = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string")
        raise ShaderError(f"not a JSON document{', the file is truncated' if is_cut else ''}: {error}") from None
    except RecursionError:
        raise ShaderError("not a JSON document: arrays or objects are too deeply nested") from None
    except ValueError as error:
        raise ShaderError(f"not a JSON document: {error}") from None
    if not isinstance(document, dict):
        raise ShaderError("not a JSON object")
    return document


def word(value: object, key: str, limit: int) -> int:
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


def words(values: object, key: str, count: int) -> tuple[int, ...]:
    """So many 32-bit words."""
    if not isinstance(values, list) or len(values) != count:
        raise ShaderError(f"{key}: must be a list of {count} words")
    return tuple(word(value, f"{key}[{index}]", 1 << 32) for index, value in enumerate(values))


def number(document: Mapping[str, object], key: str, limit: int) -> int:
    """The number of a key that must be there, 0..limit - 1."""
    if key not in document:
        raise ShaderError(f"{key}: is missing")
    return word(document[key], key, limit)


def indexed(document: Mapping[str, object], key: str, limit: int) -> dict[int, object]:
    """An optional object whose keys are indices."""
    values = document.get(key, {})
    if not isinstance(values, dict):
        raise ShaderError(f"{key}: must be an object, index -> value")
    return {word(index, f"{key}.{index}", limit): value for index, value in values.items()}
