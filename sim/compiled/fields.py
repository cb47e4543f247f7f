"""Packed values of a layout as arrays: one for each field, over all of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
from amaranth.lib import data

from ctm.sim.compiled.operands import element_type

Words = npt.NDArray[np.uint32]
Fields = dict[str, Any]
"""Arrays by the names of fields; nested structures are nested dictionaries."""

_WORD_BITS = 32


def decode(layout: data.StructLayout, words: Words) -> Fields:
    """The fields of n packed values, `words` [n, m] with the lowest first.

    A field is an array [n] of the smallest unsigned type that holds it, an array field [n, length], nested ones
    [n, outer, inner]; an array of structures is a structure of such arrays.
    """
    return {str(name): _decode(field.shape, field.offset, field.width, words) for name, field in layout}


def _decode(shape: Any, offset: int, width: int, words: Words) -> Any:
    if isinstance(shape, data.StructLayout):
        return {str(name): _decode(field.shape, offset + field.offset, field.width, words) for name, field in shape}
    if isinstance(shape, data.ArrayLayout):
        # Elements lie without gaps.
        size = width // shape.length
        return _stack([_decode(shape.elem_shape, offset + size * k, size, words) for k in range(shape.length)])
    return _bits(offset, width, words)


def _stack(elements: list[Any]) -> Any:
    """The elements of an array, along the axis after that of the events."""
    if isinstance(elements[0], dict):
        return {name: _stack([element[name] for element in elements]) for name in elements[0]}
    return np.stack(elements, axis=1)


def _bits(offset: int, width: int, words: Words) -> npt.NDArray[Any]:
    """Bits [offset, offset + width), at most 64."""
    result = np.zeros(len(words), np.uint64)
    done = 0
    while done < width:
        word, shift = divmod(offset + done, _WORD_BITS)
        taken = min(width - done, _WORD_BITS - shift)
        field = words[:, word] >> np.uint32(shift) & np.uint32((1 << taken) - 1)
        result |= field.astype(np.uint64) << np.uint64(done)
        done += taken
    return result.astype(element_type(width))
