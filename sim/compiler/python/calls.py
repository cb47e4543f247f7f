"""Calls of the functions that kernels have, by the functions themselves: Python's own, those of math and the words."""

import builtins
import math
from collections.abc import Callable, Mapping
from typing import Any

from ctm import language
from ctm.sim.compiler.python.error import Problem
from ctm.sim.compiler.python.signedness import extreme, mixes_signs
from ctm.sim.compiler.python.values import (
    BOOL,
    EITHER,
    FLOAT,
    INT,
    TYPES,
    UINT,
    Items,
    Picture,
    Thing,
    Type,
    Value,
    converted,
    known,
    length_of,
    widest,
)

_Maker = Callable[[list[Value]], Value]


def call(word: Any, arguments: list[Thing]) -> Value:
    """A call of a word.

    Raises
    ------
    Problem
        There is no such function, or it takes other arguments.
    """
    name = getattr(word, "__name__", str(word))
    if word in (language.texel, language.texture):
        return _fetch(name, arguments)
    length = length_of(arguments[0]) if word is len and len(arguments) == 1 else None
    if length is not None:
        return known(length)
    if word is print:
        raise Problem("print(): cores have no text; call the kernel in plain Python to see its values")
    if word is len:
        raise Problem("len() takes a list that is made in the kernel; give the length of another as an int")
    maker = _VECTORS.get(word) or _FUNCTIONS.get(word)
    if maker is None:
        raise Problem(f"{name}() is not a function of kernels: docs/kernels.md has those that there are")
    values = [each for each in arguments if isinstance(each, Value)]
    if len(values) < len(arguments):
        raise Problem(f"{name}() takes numbers and vectors")
    if values and word not in _VECTORS:
        numbers = [each.constant for each in values if each.constant is not None]
        if len(numbers) == len(values):
            return _folded(word, name, numbers)
    try:
        return maker(values)
    except _Mismatch as error:
        given = ", ".join(str(each.type) for each in values) or "nothing"
        raise Problem(f"{name}() takes {error}, not ({given})") from None


class _Mismatch(Exception):  # noqa: N818 - `call` makes a problem of it
    """What a function takes instead."""


def _folded(word: Any, name: str, numbers: list[Any]) -> Value:
    try:
        return known(word(*numbers))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise Problem(f"{name}({', '.join(map(str, numbers))}): {error}") from None


def _fetch(name: str, arguments: list[Thing]) -> Value:
    picture, *coordinates = arguments or [Items(())]
    types = [each.type for each in coordinates if isinstance(each, Value)]
    is_coordinates = types in ([Type("float", 2)], [Type("int", 2)]) or (
        len(types) == 2 and not any(each.is_vector for each in types)
    )
    if not isinstance(picture, Picture) or not is_coordinates or len(types) < len(coordinates):
        raise Problem(f"{name}() takes an image, and its coordinates as a vec2, an ivec2, or x and y")
    wanted = Type("float", types[0].size)
    texts = ", ".join(converted(each, wanted) for each in coordinates if isinstance(each, Value))
    found = f"{name}({picture.number}, {texts})"
    kind = picture.type.scalar
    return Value(found if kind == "float" else f"as_{kind}({found})", picture.type)


def _same(name: str, count: int = 1, *, kinds: str = "float") -> _Maker:
    """A function of numbers, or of vectors of float, that gives the same, all made the widest of these."""

    def make(values: list[Value]) -> Value:
        found = widest([each.type for each in values]) if len(values) == count else None
        if found is not None and "float" == kinds and not found.is_vector:
            found = FLOAT
        if found == BOOL:
            found = INT
        if found is None or found.scalar not in kinds or (found.is_vector and found.is_whole):
            how_many = "one number or vector" if count == 1 else f"{count} numbers or vectors"
            raise _Mismatch(f"{how_many} of {kinds.replace(' ', ' or ')}")
        texts = [converted(each, found) for each in values]
        return Value(f"{name}({', '.join(texts)})", found)

    return make


def _extreme(name: str) -> _Maker:
    """min() or max() of two or more numbers, from the left as in Python, which matters where one is NaN."""

    def make(values: list[Value]) -> Value:
        if len(values) < 2 or any(each.type.is_vector or each.type == EITHER for each in values):
            raise _Mismatch("two or more numbers of int or uint or float")
        found, *others = values
        for each in others:
            kind = widest([found.type, each.type, INT])
            assert kind is not None
            found = extreme(name, kind, found, each)
        return found

    return make


def _clamp(values: list[Value]) -> Value:
    is_mixed = len(values) == 3 and not any(each.type.is_vector for each in values) and mixes_signs(values)
    if not is_mixed:
        return _same("clamp", 3, kinds="int uint float")(values)
    x, low, high = values
    return _extreme("min")([_extreme("max")([x, low]), high])


def _fixed(name: str, wanted: tuple[Type, ...], result: Type) -> _Maker:
    """A function of scalars of these types."""

    def make(values: list[Value]) -> Value:
        fits = len(values) == len(wanted) and not any(each.type.is_vector for each in values)
        are_right = fits and all(
            each.type == kind or kind == FLOAT or (kind.is_whole and each.type.is_whole)
            for each, kind in zip(values, wanted, strict=True)
        )
        if not are_right:
            raise _Mismatch(f"({', '.join(map(str, wanted))})")
        texts = [converted(each, kind) for each, kind in zip(values, wanted, strict=True)]
        return Value(name.format(*texts) if "{" in name else f"{name}({', '.join(texts)})", result)

    return make


def _geometry(name: str, count: int, *, is_vector: bool, sizes: tuple[int, ...] = (2, 3, 4)) -> _Maker:
    """A function of one or two vectors of floats."""

    def make(values: list[Value]) -> Value:
        types = {each.type for each in values}
        if len(values) != count or types - {Type("float", size) for size in sizes} or len(types) != 1:
            kinds = " or ".join(f"vec{size}" for size in sizes)
            raise _Mismatch(f"{'two of' if count > 1 else 'a'} {kinds}")
        text = f"{name}({', '.join(each.text for each in values)})"
        return Value(text, values[0].type if is_vector else FLOAT)

    return make


def _mix(values: list[Value]) -> Value:
    ends = widest([each.type for each in values[:2]])
    if len(values) != 3 or ends is None or values[2].type.is_vector or (ends.is_vector and ends.is_whole):
        raise _Mismatch("two numbers or vectors of float and a number")
    ends = Type("float", ends.size)
    texts = [converted(values[0], ends), converted(values[1], ends), converted(values[2], FLOAT)]
    return Value(f"mix({', '.join(texts)})", ends)


def _bits(kind: str) -> _Maker:
    def make(values: list[Value]) -> Value:
        if len(values) != 1 or (values[0].type.scalar == "float") == (kind == "float"):
            raise _Mismatch("a whole number or a vector of them" if kind == "float" else "a float or a vector of them")
        value = Value(converted(values[0], INT), INT) if values[0].type == BOOL else values[0]
        return Value(f"as_{kind}({value.text})", Type(kind, value.type.size))

    return make


def _number(kind: Type) -> _Maker:
    """int(), float() and uint() of a number."""

    def make(values: list[Value]) -> Value:
        if len(values) != 1 or values[0].type.is_vector:
            raise _Mismatch("one number")
        value = values[0]
        return Value(f"({converted(value, kind)})" if value.type != kind else value.text, kind)

    return make


def _truth(values: list[Value]) -> Value:
    if len(values) != 1 or values[0].type.is_vector:
        raise _Mismatch("one number")
    return Value(f"({values[0].text} != 0)", BOOL)


def _high(values: list[Value]) -> Value:
    kinds = {each.type for each in values}
    if len(values) != 2 or kinds not in ({INT}, {UINT}):
        raise _Mismatch("two of int, or two of uint")
    return Value(f"multiply_high({values[0].text}, {values[1].text})", values[0].type)


def _vector(kind: Type) -> _Maker:
    """A type's name as a function: of scalars and shorter vectors, or of another kind of vector."""

    def make(values: list[Value]) -> Value:
        sizes = [each.type.size for each in values]
        if len(values) == 1 and sizes[0] in (1, kind.size):
            return Value(converted(values[0], kind), kind)
        if sum(sizes) != kind.size:
            raise _Mismatch(f"{kind.size} components")
        texts = (converted(each, kind.of(each.type.size)) for each in values)
        return Value(f"{kind}({', '.join(texts)})", kind)

    return make


_VECTORS: Mapping[Any, _Maker] = {word: _vector(kind) for word, kind in TYPES.items() if kind.is_vector}
_OF_BITS = ("bit_count", "leading_zeros", "trailing_zeros")
_FLOATS = ("floor", "ceil", "trunc", "rint", "fract", "sqrt", "sin", "cos", "exp2", "log2", "exp", "log")
_FUNCTIONS: Mapping[Any, _Maker] = {
    **{getattr(language, name): _same(name) for name in _FLOATS},
    **{getattr(math, name): _same(name) for name in ("sqrt", "sin", "cos", "exp2", "log2", "exp", "log")},
    **{getattr(math, name): _fixed(f"(int){name}({{}})", (FLOAT,), INT) for name in ("floor", "ceil", "trunc")},
    math.fabs: _same("abs"),
    builtins.abs: _same("abs", kinds="int float"),
    builtins.min: _extreme("min"),
    builtins.max: _extreme("max"),
    builtins.round: _fixed("(int)rint({})", (FLOAT,), INT),
    builtins.int: _number(INT),
    builtins.float: _number(FLOAT),
    builtins.bool: _truth,
    language.uint: _number(UINT),
    language.clamp: _clamp,
    language.inversesqrt: _fixed("inversesqrt", (FLOAT,), FLOAT),
    language.sign: _fixed("sign", (FLOAT,), FLOAT),
    language.mod: _fixed("ctm_remainder", (FLOAT, FLOAT), FLOAT),
    language.step: _fixed("step", (FLOAT, FLOAT), FLOAT),
    language.smoothstep: _fixed("smoothstep", (FLOAT, FLOAT, FLOAT), FLOAT),
    language.mix: _mix,
    language.dot: _geometry("dot", 2, is_vector=False),
    language.length: _geometry("length", 1, is_vector=False),
    language.distance: _geometry("distance", 2, is_vector=False),
    language.normalize: _geometry("normalize", 1, is_vector=True),
    language.cross: _geometry("cross", 2, is_vector=True, sizes=(3,)),
    language.rotate_left: _fixed("rotate_left", (UINT, UINT), UINT),
    language.rotate_right: _fixed("rotate_right", (UINT, UINT), UINT),
    **{getattr(language, name): _fixed(name, (UINT,), INT) for name in _OF_BITS},
    language.multiply_high: _high,
    **{getattr(language, f"as_{kind}"): _bits(kind) for kind in ("float", "int", "uint")},
}
