"""Kernels in plain Python, pixel by pixel: slow, and every step can be looked at."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ctm.language import Discarded, uint
from ctm.language.vectors import VECTORS, Vector
from ctm.sim.compiler.python import Constant, Parameter, Picture, Signature, Type
from ctm.sim.kernels.arguments import KINDS, Array, image, numbers

_SCALARS: dict[str, type] = {"bool": bool, "int": int, "uint": uint, "float": float}
Results = dict[tuple[int, int], tuple[Any, ...]]
"""What pixels that are kept give, by (j, i)."""


def interpreted(
    function: Callable[..., Any], pixel_type: Type, parameters: Mapping[str, Parameter], given: Sequence[Any],
    size: tuple[int, int], signature: Signature | None,
) -> Array | tuple[Array, ...]:  # fmt: skip
    """What a kernel's function gives over a domain of a width and a height, in the types that a device gives.

    A kernel that cannot be translated has no signature; the type of each result is then that which holds all pixels.

    Raises
    ------
    TypeError, ValueError
        An argument does not fit, as in `bound`.
    TypeError, ValueError, OverflowError
        A result is none of its type; the message has the pixel.
    """
    arguments = [_argument(name, kind, value) for (name, kind), value in zip(parameters.items(), given, strict=True)]
    width, height = size
    pixel = VECTORS[_SCALARS[pixel_type.scalar], pixel_type.size]
    found: Results = {}
    is_tuple = signature is not None and signature.is_tuple
    for j in range(height):
        for i in range(width):
            try:
                result = function(pixel(i, j), *arguments)
            except Discarded:
                continue
            is_tuple = isinstance(result, tuple) and not isinstance(result, Vector)
            found[j, i] = result if is_tuple else (result,)
    kinds = _common(found) if signature is None else signature.results
    arrays = tuple(_array(size, kind, number, found) for number, kind in enumerate(kinds))
    return arrays if is_tuple else arrays[0]


def _argument(name: str, kind: Parameter, value: Any) -> Any:
    """An argument as plain Python has it: the numbers that a kernel would see."""
    if isinstance(kind, Picture):
        return image(name, kind, value)
    element = kind.type if isinstance(kind, Constant) else kind.element
    make = VECTORS[_SCALARS[element.scalar], element.size] if element.is_vector else _SCALARS[element.scalar]
    items = [make(*row) for row in numbers(name, kind, value).tolist()]
    return items[0] if isinstance(kind, Constant) else items


def _common(found: Results) -> tuple[Type, ...]:
    """The types that hold the results of all pixels."""
    kinds = []
    for values in zip(*found.values(), strict=True):
        components = [component for value in values for component in _components(value)]
        scalar = max((_scalar(component) for component in components), key=list(_SCALARS).index)
        kinds.append(Type(scalar, len(_components(values[0]))))
    return tuple(kinds) or (Type("float"),)


def _scalar(value: Any) -> str:
    """The kind of a number, which may be numpy's."""
    if isinstance(value, uint):
        return "uint"
    return {"b": "bool", "i": "int", "u": "uint"}.get(np.asarray(value).dtype.kind, "float")


def _array(size: tuple[int, int], kind: Type, number: int, found: Results) -> Array:
    """A result of all pixels; it is 0 where one was discarded."""
    width, height = size
    array = np.zeros([height, width, kind.size], KINDS[kind.scalar])
    with np.errstate(over="ignore"):
        for (j, i), values in found.items():
            value = values[number]
            try:
                array[j, i] = _stored(kind, value)
            except (TypeError, ValueError, OverflowError) as error:
                raise type(error)(f"pixel ({i}, {j}) gives {value!r}, which is no {kind} of 32 bits") from None
    return array if kind.is_vector else array[:, :, 0]


def _stored(kind: Type, value: Any) -> list[Any]:
    """The components of a result in its type; TypeError if that would lose something."""
    components = [_SCALARS[kind.scalar](component) for component in _components(value)]
    is_cut = kind.scalar == "int" and any(
        one != other for one, other in zip(components, _components(value), strict=True)
    )
    if len(components) != kind.size or is_cut:
        raise TypeError
    return components


def _components(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Vector) else (value,)
