"""Kernels in plain Python, pixel by pixel: slow, and every step can be looked at."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ctm.language import Discarded, uint
from ctm.language.vectors import VECTORS, Vector
from ctm.sim.compiler.python import Constant, Parameter, Picture, Type
from ctm.sim.kernels.arguments import KINDS, Array, check_count, image, numbers

_SCALARS: dict[str, type] = {"bool": bool, "int": int, "uint": uint, "float": float}


def interpreted(
    function: Callable[..., Any], place: Type, parameters: Mapping[str, Parameter], given: Sequence[Any],
    size: tuple[int, int],
) -> Array | tuple[Array, ...]:  # fmt: skip
    """What a kernel's function gives over a domain of a width and a height; errors as `bound`.

    Its results have the types that they have at the first pixel.
    """
    check_count(parameters, given)
    arguments = [_argument(name, kind, value) for (name, kind), value in zip(parameters.items(), given, strict=True)]
    width, height = size
    pixel = VECTORS[_SCALARS[place.scalar], place.size]
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    is_tuple = False
    for j in range(height):
        for i in range(width):
            try:
                result = function(pixel(i, j), *arguments)
            except Discarded:
                continue
            is_tuple = isinstance(result, tuple) and not isinstance(result, Vector)
            found[j, i] = result if is_tuple else (result,)
    first = next(iter(found.values()), (0.0,))
    arrays = tuple(_array(size, {at: each[number] for at, each in found.items()}) for number in range(len(first)))
    return arrays if is_tuple else arrays[0]


def _argument(name: str, kind: Parameter, value: Any) -> Any:
    """An argument as plain Python has it: the numbers that a kernel would see."""
    if isinstance(kind, Picture):
        return image(name, kind, value)
    element = kind.type if isinstance(kind, Constant) else kind.element
    make = VECTORS[_SCALARS[element.scalar], element.size] if element.is_vector else _SCALARS[element.scalar]
    items = [make(*row) for row in numbers(name, kind, value).tolist()]
    return items[0] if isinstance(kind, Constant) else items


def _array(size: tuple[int, int], values: Mapping[tuple[int, int], Any]) -> Array:
    width, height = size
    first = next(iter(values.values()), 0.0)
    components = [first.size] if isinstance(first, Vector) else []
    scalar = first.scalar if isinstance(first, Vector) else type(first)
    array = np.zeros([height, width, *components], KINDS[scalar.__name__])
    for at, value in values.items():
        array[at] = value
    return array
