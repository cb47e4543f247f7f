"""What keys of a job take, in the words of TOML: checks with messages that a writer of TOML understands."""

import datetime
import difflib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationInfo

from ctm.rtl.isa.draws import LARGEST_POINT
from ctm.rtl.isa.limits import COORDINATE_LIMIT

PROGRAM = "program"
"""The size of points that the program exports."""
_SHOWN = 40
"""Characters of a value in a message."""
_NAMES: dict[type, str] = {
    bool: "{}", int: "{}", float: "{}", str: "the string {}", list: "an array of {}", dict: "a table",
    datetime.datetime: "the time {}", datetime.date: "the date {}", datetime.time: "the time {}",
}  # fmt: skip
_COUNTS = ("no values", "one value")


def shown(value: object) -> str:
    """A value of TOML in a message, shortly."""
    if isinstance(value, list):
        return f"an array of {_COUNTS[len(value)] if len(value) < len(_COUNTS) else f'{len(value)} values'}"
    if isinstance(value, str):
        text = f'"{value}"'
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    return _NAMES.get(type(value), "{}").format(text)


def array_of(count: int, what: str) -> BeforeValidator:
    """Accept an array of so many items; `what` says which, as in "two numbers [first, last]"."""

    def check(value: object) -> object:
        if not isinstance(value, list | tuple) or len(value) != count:
            raise ValueError(f"takes {what}, not {shown(value)}")
        return value

    return BeforeValidator(check)


def any_array(what: str) -> BeforeValidator:
    """Accept an array of any length."""

    def check(value: object) -> object:
        if not isinstance(value, list | tuple):
            raise ValueError(f"takes {what}, not {shown(value)}")
        return value

    return BeforeValidator(check)


def section(name: str) -> BeforeValidator:
    """Accept a table, which a job has once."""

    def check(value: object) -> object:
        if isinstance(value, list):
            raise ValueError(f"there is only one: write [{name}] instead of [[{name}]]")
        if not isinstance(value, dict | BaseModel | None):
            raise ValueError(f"is a table: write [{name}], and its keys on the lines below, not {shown(value)}")
        return value

    return BeforeValidator(check)


def sections(name: str) -> BeforeValidator:
    """Accept tables, of which a job has any number."""

    def check(value: object) -> object:
        if isinstance(value, dict):
            raise ValueError(f"there may be several: write [[{name}]] instead of [{name}]")
        if not isinstance(value, list | tuple) or not all(isinstance(each, dict | BaseModel) for each in value):
            raise ValueError(f"are tables: write [[{name}]] above the keys of each, not {shown(value)}")
        return value

    return BeforeValidator(check)


def table(what: str) -> BeforeValidator:
    """Accept a table whose keys are indices; `what` is an example."""

    def check(value: object) -> object:
        if not isinstance(value, dict):
            raise ValueError(f"takes a table by index, as {what}, not {shown(value)}")
        return value

    return BeforeValidator(check)


def member(codes: Any, among: Iterable[Any] | None = None) -> BeforeValidator:
    """Accept a member of an enum, or one of some of its members, by its name in files."""
    known = dict(codes.__members__) if among is None else {each.name: each for each in among}

    def convert(value: object) -> object:
        name = value.name if isinstance(value, codes) else value
        if not isinstance(name, str) or name not in known:
            close = difflib.get_close_matches(str(name).upper(), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"must be one of {', '.join(known)}, not {shown(name)}{hint}")
        return known[name]

    return BeforeValidator(convert)


def one_of(names: Iterable[str]) -> AfterValidator:
    """Accept one of some names."""

    def check(value: str) -> str:
        if value not in names:
            raise ValueError(f"must be {' or '.join(names)}, not {shown(value)}")
        return value

    return AfterValidator(check)


def index(limit: int) -> BeforeValidator:
    """Accept a key that is a number below a limit."""

    def convert(value: object) -> int:
        if not isinstance(value, str) or not (value.isascii() and value.isdecimal()) or int(value) >= limit:
            raise ValueError(f"must be a number 0..{limit - 1}")
        return int(value)

    return BeforeValidator(convert)


def float_bits(value: object) -> int:
    """The 32-bit word of a number, or of a hex string that gives the bits."""
    if isinstance(value, str):
        try:
            bits = int(value, 16)
        except ValueError:
            bits = -1
        if not value.lower().startswith("0x") or not 0 <= bits < 1 << 32:
            raise ValueError(f"'{value}' is no hex word such as \"0x3f800000\"")
        return bits
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number or a hex string, not {shown(value)}")
    return int(_float(value).view(np.uint32))


def as_float(value: float) -> float:
    """Reject a number that a float does not hold."""
    _float(value)
    return value


def _float(value: float) -> np.float32:
    try:
        with np.errstate(over="ignore"):
            word = np.float32(value)
        is_too_large = bool(np.isinf(word)) and not math.isinf(value)
    except OverflowError:
        is_too_large = True
    if is_too_large:
        raise ValueError(f"{shown(value)} is too large for a float, which holds 3.4028235e38 at most; infinity is inf")
    return word


def point_size(value: object) -> object:
    """Reject what is no side of a point's square."""
    is_size = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LARGEST_POINT
    if value != PROGRAM and not is_size:
        raise ValueError(f'must be 0..{LARGEST_POINT} pixels, or "{PROGRAM}", not {shown(value)}')
    return value


def below(relation: str) -> AfterValidator:
    """Accept a number that is "less than" the limit of sides, or "less than or equal to" it.

    The limit is the machine's, 4,096, unless the validation's context has another `limit`.
    """

    def check(value: int, info: ValidationInfo) -> int:
        limit = COORDINATE_LIMIT if info.context is None else info.context["limit"]
        if value > limit or (value == limit and relation == "less than"):
            tiles = "; ctm run --split N runs a larger one in tiles" if limit == COORDINATE_LIMIT else ""
            raise ValueError(f"must be {relation} {limit}, not {shown(value)}{tiles}")
        return value

    return AfterValidator(check)


def file_name(name: str) -> str:
    """Reject what names no file."""
    if not name or "\0" in name:
        raise ValueError("must be the name of a file")
    return name
