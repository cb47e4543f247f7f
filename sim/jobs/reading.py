"""Reading a job file: TOML, its shape, and messages that name the key and its line."""

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ctm.rtl.isa.limits import COORDINATE_LIMIT
from ctm.sim.files import read_text
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.location import line_of
from ctm.sim.jobs.schema import (
    Conditional,
    Constants,
    Domain,
    Draw,
    Input,
    Job,
    Masks,
    Output,
    Pass,
    PixelRegister,
    Program,
    StreamOutput,
    VertexBuffer,
)
from ctm.sim.jobs.takes import shown

Key = tuple[str | int, ...]
"""Where a value of a job stands, such as ``("inputs", 0, "file")``."""

_Model = TypeVar("_Model", bound=BaseModel)
_SECTIONS: dict[str, type[BaseModel]] = {
    "program": Program,
    "registers": PixelRegister,
    "domain": Domain,
    "passes": Pass,
    "inputs": Input,
    "outputs": Output,
    "constants": Constants,
    "conditional": Conditional,
    "masks": Masks,
    "draw": Draw,
    "buffers": VertexBuffer,
    "streams": StreamOutput,
}

_TOML = ".toml"
_PROGRAMS = (".s", ".c", ".py", ".elf", ".json")
"""Suffixes of files that a job names as its program."""


class _NumberError(Exception):
    """A number that Python could only read as infinity; its text is how it is written."""


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number) and not text.endswith("inf"):
        raise _NumberError(text)
    return number


class TomlText:
    """The text of a TOML file, which knows where its keys stand; messages call it `noun`."""

    def __init__(self, path: Path, noun: str) -> None:
        self.path, self._noun = path, noun
        try:
            self.text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            if isinstance(error, UnicodeDecodeError) and path.suffix.lower() not in ("", _TOML):
                raise self._no_toml() from None
            raise JobError(path, f"cannot read the {noun}: {_reason(error)}") from None

    def error(self, key: Key, message: str) -> JobError:
        """An error about what stands at a key."""
        name = key_name(key)
        return JobError(self.path, f"{name}: {message}" if name else message, line_of(self.text, key))

    @property
    def _is_program(self) -> bool:
        return self.path.suffix.lower() in _PROGRAMS

    def _no_toml(self) -> JobError:
        """The file is of another kind; of a program the message says how a job names it."""
        is_program = self._noun == "job" and self._is_program
        use = f'; a job names this program: [program] file = "{self.path.name}"' if is_program else ""
        return JobError(self.path, f"it is no {self._noun}, which is a TOML file{use}")

    def shaped(
        self,
        model: type[_Model],
        sections: Mapping[str, type[BaseModel]],
        context: Mapping[str, int] | None = None,
    ) -> _Model:
        """The file as a model, whose sections are those of `sections` by their names; `context` is of its checks.

        Raises
        ------
        JobError
            The file is no TOML, or is not shaped as the model.
        """
        try:
            values = tomllib.loads(self.text, parse_float=_number)
        except RecursionError:
            raise JobError(self.path, "arrays or tables are too deeply nested") from None
        except _NumberError as error:
            lines = enumerate(self.text.splitlines(), start=1)
            line = next((number for number, text in lines if str(error) in text.partition("#")[0]), None)
            raise JobError(self.path, f"{error} is too large for a number; infinity is inf", line) from None
        except tomllib.TOMLDecodeError as error:
            if self._is_program:
                raise self._no_toml() from None
            message, _, position = str(error).partition(" (at ")
            # A line, or the end of the document.
            line = int(found[1]) if (found := re.match(r"line (\d+)", position)) else len(self.text.splitlines())
            # The parser prints keys as Python has them: ('constants', 'float').
            message = re.sub(r"\(('[^()]*'),?\)", lambda found: found[1].replace("'", "").replace(", ", "."), message)
            raise JobError(self.path, message, line) from None
        except ValueError:
            raise JobError(self.path, "a number has too many digits") from None
        try:
            return model.model_validate(values, context=context)
        except ValidationError as error:
            # A key that is unknown explains another that is missing.
            first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
            key = tuple(name for name in first["loc"] if name not in ("table", "[key]"))
            raise self.error(key, message_of(first, model, sections)) from None


class JobText(TomlText):
    """A job file's text."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "job")

    def parse(self, limit: int = COORDINATE_LIMIT) -> Job:
        """The job, whose domains and buffers have sides up to a limit; errors as `shaped`."""
        return self.shaped(Job, _SECTIONS, {"limit": limit})


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"


def key_name(key: Key) -> str:
    """``inputs[0].file`` of ``("inputs", 0, "file")``."""
    names = [f"[{name}]" if isinstance(name, int) else f".{name}" for name in key]
    return "".join(names).lstrip(".")


_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "model_type": "a table",
    "dict_type": "a table",
    "tuple_type": "an array",
    "too_short": "an array that is not empty",
    "greater_than_equal": "greater than or equal to {ge}",
    "less_than_equal": "less than or equal to {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
}
"""What a value must be, by the schema's kinds of errors; those of values that have a form are the schema's own."""


def message_of(error: Any, model: type[BaseModel], sections: Mapping[str, type[BaseModel]]) -> str:
    """What is wrong with a value, from one of pydantic's errors about a model; see `TomlText.shaped`."""
    kind, key = error["type"], error["loc"]
    if kind == "extra_forbidden":
        names = [name for name in key[:-1] if isinstance(name, str)]
        known = _known(sections[names[-1]] if names else model)
        close = difflib.get_close_matches(str(key[-1]), known, n=1)
        return "unknown key; " + (f"did you mean '{close[0]}'?" if close else f"there is {', '.join(known)}")
    if kind == "missing":
        return "is missing"
    if kind in _WANTED:
        return f"must be {_WANTED[kind].format_map(error.get('ctx', {}))}, not {shown(error['input'])}"
    return str(error["msg"]).removeprefix("Value error, ")


def _known(section: type[BaseModel]) -> list[str]:
    """Names of the keys that a section has."""
    return [field.alias or name for name, field in section.model_fields.items()]
