"""Reading a job file: TOML, its shape, and messages that name the key and its line."""

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

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
    Program,
    StreamOutput,
    VertexBuffer,
)
from ctm.sim.jobs.takes import shown

Key = tuple[str | int, ...]
"""Where a value of a job stands, such as ``("inputs", 0, "file")``."""

_SECTIONS: dict[str, type[BaseModel]] = {
    "program": Program,
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


class JobText:
    """A job file's text, which knows where its keys stand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = read_text(path)
        except (OSError, UnicodeDecodeError) as error:
            raise JobError(path, f"cannot read the job: {_reason(error)}") from None

    def error(self, key: Key, message: str) -> JobError:
        """An error about what stands at a key."""
        name = key_name(key)
        return JobError(self.path, f"{name}: {message}" if name else message, line_of(self.text, key))

    def parse(self) -> Job:
        """The job.

        Raises
        ------
        JobError
            The file is no TOML, or is not shaped as a job.
        """
        try:
            values = tomllib.loads(self.text)
        except RecursionError:
            raise JobError(self.path, "arrays or tables are too deeply nested") from None
        except tomllib.TOMLDecodeError as error:
            message, _, place = str(error).partition(" (at line ")
            line = place.split(",")[0]
            # The parser shows keys as Python has them: ('constants', 'float').
            message = re.sub(r"\(('[^()]*'),?\)", lambda found: found[1].replace("'", "").replace(", ", "."), message)
            raise JobError(self.path, message, int(line) if line.isdecimal() else None) from None
        except ValueError:
            raise JobError(self.path, "a number has too many digits") from None
        try:
            return Job.model_validate(values)
        except ValidationError as error:
            # A key that is unknown explains another that is missing.
            first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
            key = tuple(part for part in first["loc"] if part not in ("table", "[key]"))
            raise self.error(key, _message(first)) from None


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"


def key_name(key: Key) -> str:
    """``inputs[0].file`` of ``("inputs", 0, "file")``."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in key]
    return "".join(parts).lstrip(".")


_WANTED = {
    "string_type": "a string",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "model_type": "a table",
    "greater_than_equal": "greater than or equal to {ge}",
    "less_than_equal": "less than or equal to {le}",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
}
"""What a value must be, by the schema's kinds of errors; those of values that have a form are the schema's own."""


def _message(error: Any) -> str:
    kind, key = error["type"], error["loc"]
    if kind == "extra_forbidden":
        known = _known(key[:-1])
        close = difflib.get_close_matches(str(key[-1]), known, n=1)
        return "unknown key; " + (f"did you mean '{close[0]}'?" if close else f"there is {', '.join(known)}")
    if kind == "missing":
        return "is missing"
    if kind in _WANTED:
        return f"must be {_WANTED[kind].format_map(error.get('ctx', {}))}, not {shown(error['input'])}"
    return str(error["msg"]).removeprefix("Value error, ")


def _known(section: Key) -> list[str]:
    """Names of the keys that a section of the schema has."""
    names = [part for part in section if isinstance(part, str)]
    model = _SECTIONS[names[-1]] if names else Job
    return [field.alias or name for name, field in model.model_fields.items()]
