"""What an expression of a kernel is: a value of some type in C, several of them, or something that is only named."""

import math
from ctypes import c_float
from dataclasses import dataclass
from typing import NamedTuple

from ctm.language.vectors import VECTORS, uint
from ctm.sim.compiler.python.error import Problem

Number = int | float


class Type(NamedTuple):
    """A number or a vector: bool, int, uint or float, and how many components."""

    scalar: str
    size: int = 1

    def __str__(self) -> str:
        """As it is written in Python."""
        return self.scalar if self.size == 1 else f"{_PREFIXES[self.scalar]}{self.size}"

    @property
    def c(self) -> str:
        """As it is written in C, where a bool is an int; Problem if no type of C holds it."""
        if self == EITHER:
            raise Problem("an int or a uint, by its value: write int(...), uint(...) or float(...) around it")
        return "int" if self == BOOL else str(self)

    @property
    def is_vector(self) -> bool:
        """Whether it has components."""
        return self.size > 1

    @property
    def is_whole(self) -> bool:
        """Whether it is a whole number, or truth."""
        return self.scalar != "float"

    def of(self, size: int) -> "Type":
        """The same kind with another number of components."""
        return Type(self.scalar, size)


_PREFIXES = {"float": "vec", "int": "ivec", "uint": "uvec"}
BOOL, INT, UINT, EITHER, FLOAT = (Type(name) for name in ("bool", "int", "uint", "int or uint", "float"))
TYPES: dict[object, Type] = {
    bool: BOOL, int: INT, float: FLOAT, uint: UINT,
    **{kind: Type(scalar.__name__, size) for (scalar, size), kind in VECTORS.items()},
}  # fmt: skip
"""By the classes that stand for them in Python."""
ORDER = ("bool", "int", "uint", "int or uint", "float")
"""Kinds of numbers; of two operands' kinds the later one is the result's."""


@dataclass(frozen=True)
class Value:
    """An expression in C; `constant` is its value where that is known.

    Type EITHER: `alternatives` are a condition, the value where it holds, and the other; the text is the bits.
    """

    text: str
    type: Type
    constant: Number | None = None
    alternatives: "tuple[str, Value, Value] | None" = None


@dataclass(frozen=True)
class Items:
    """Several things, as in a tuple."""

    items: tuple["Thing", ...]


@dataclass(frozen=True)
class Picture:
    """A parameter that is an image, by the number of its input."""

    number: int
    type: Type


@dataclass(frozen=True)
class Constant:
    """A parameter that is a number or a vector, by the number of its constant."""

    number: int
    type: Type


@dataclass(frozen=True)
class Table:
    """A parameter that is a list: element k is constant `first` + k * `stride`."""

    first: int
    stride: int
    element: Type


@dataclass(frozen=True)
class Row:
    """A list of the kernel's own, an array in C; or a tuple of the file's with its `values`.

    `is_function`: an item of it is not `text[k]` but `text(k)`.
    """

    text: str
    element: Type
    length: int
    values: tuple[Number, ...] = ()
    is_function: bool = False


@dataclass(frozen=True)
class Word:
    """A function, a type or a module, which can only be called or have its attributes taken."""

    object: object


class Arguments(NamedTuple):
    """What a function is called with: arguments by their order, and by the names of parameters."""

    ordered: "list[Thing]"
    named: "dict[str, Thing]"


Thing = Value | Items | Picture | Table | Row | Word


def length_of(whole: Thing) -> int | None:
    """How many items something has that can be indexed; None if that is nothing, or is not known."""
    match whole:
        case Row():
            return whole.length
        case Items():
            return len(whole.items)
        case Value(type=kind) if kind.is_vector:
            return kind.size
    return None


def known(number: Number) -> Value:
    """A number that is known.

    Raises
    ------
    ValueError
        A whole number has more than 32 bits.
    """
    if isinstance(number, bool):
        return Value(str(int(number)), BOOL, number)
    if isinstance(number, float):
        return Value(_float(number), FLOAT, number)
    if not -(1 << 31) <= number < 1 << 32:
        raise ValueError(f"{number} has more than 32 bits: write a float, or a smaller number")
    if isinstance(number, uint) or number >= 1 << 31:
        return Value(f"{int(number)}u", UINT, number)
    # The smallest one would be a number that is too large, with a sign.
    text = f"({number})" if number < 0 else str(number)
    return Value(text if number > -(1 << 31) else "(-2147483647 - 1)", INT, number)


def _float(number: float) -> str:
    rounded = c_float(number).value
    if math.isnan(rounded):
        return '__builtin_nanf("")'
    if math.isinf(rounded):
        return f"({'-' if rounded < 0 else ''}__builtin_inff())"
    text = f"{rounded!r}f"
    return f"({text})" if text.startswith("-") else text


def as_float(value: Value) -> Value:
    """A number as a float."""
    return Value(converted(value, FLOAT), FLOAT) if value.constant is None else known(float(value.constant))


def converted(value: Value, wanted: Type) -> str:
    """The text of a value as another type of as many components, or of one that is put in each."""
    if value.alternatives is not None:
        condition, one, two = value.alternatives
        return f"({condition} ? {converted(one, wanted)} : {converted(two, wanted)})"
    if value.type == wanted or (value.type, wanted) == (BOOL, INT):
        return value.text
    if (value.type.scalar, wanted.scalar) == (FLOAT.scalar, UINT.scalar):
        text = f"ctm_uint({value.text})"
        return f"{wanted}({text})" if value.type.size < wanted.size else text
    if value.type.is_vector:
        return f"__builtin_convertvector({value.text}, {wanted.c})"
    scalar = wanted.of(1)
    text = known(float(value.constant)).text if value.constant is not None and scalar == FLOAT else ""
    if not text:
        text = value.text if value.type.scalar == scalar.scalar else f"({scalar.c})({value.text})"
    return f"{wanted}({text})" if wanted.is_vector else text


def widest(types: list[Type]) -> Type | None:
    """The type of what is computed of these; None if there is none, as of vectors of different sizes."""
    sizes = {each.size for each in types if each.is_vector}
    if len(sizes) > 1:
        return None
    return Type(max((each.scalar for each in types), key=ORDER.index), *sizes)


def wider_number(one: Type, other: Type) -> Type:
    """The number that holds both, a float or an int; the first one where none does."""
    kind = widest([one, other])
    return kind if kind == FLOAT or (kind == INT and one == BOOL) else one
