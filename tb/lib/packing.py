"""Layouts as integers, row by row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.hdl import Shape
from amaranth.lib import data

Integers = npt.NDArray[np.uint64]
Fields = Mapping[str, Any]


def pack(layout: Any, fields: Fields) -> Integers:
    """uint64 words of a layout of up to 64 bits; a nested layout's fields are a mapping of their own."""
    layout = data.Layout.cast(layout)
    total: Any = np.uint64(0)
    names = {name for name, _ in layout}
    if names != set(fields):
        raise ValueError(f"the fields are {sorted(names)}, not {sorted(fields)}")
    for name, field in layout:
        value = fields[name]
        if isinstance(value, Mapping):
            value = pack(field.shape, value)
        width = Shape.cast(field.shape).width
        mask = np.uint64((1 << width) - 1)
        total = total | (np.asarray(value).astype(np.uint64) & mask) << np.uint64(field.offset)
    return np.asarray(total)


def unpack(layout: Any, words: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """The fields of words, of up to 32 bits each, as unsigned integers; a nested layout's field is its bits."""
    words = np.asarray(words).astype(np.uint64)
    return {
        str(name): (words >> np.uint64(field.offset) & np.uint64((1 << Shape.cast(field.shape).width) - 1)).astype(
            np.uint32
        )
        for name, field in data.Layout.cast(layout)
    }
