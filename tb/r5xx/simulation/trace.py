"""A core's trace as arrays: one for each field, over all events of one kind."""

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
    """The elements of an array along the axis behind the events'."""
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
        part = words[:, word] >> np.uint32(shift) & np.uint32((1 << taken) - 1)
        result |= part.astype(np.uint64) << np.uint64(done)
        done += taken
    return result.astype(element_type(width))


_OF_LANES = ("words", "enable")


def whole(fields: Fields) -> Fields:
    """Events of whole groups, each in the cycle of its last turn, from events of turns.

    Turns of a row come in their order; an event of which some are missing is left out. Events without turns stay.
    """
    if "turn" not in fields:
        return fields
    turns = int(fields["turn"].max(initial=0)) + 1
    begun: dict[int, list[int]] = {}
    complete = []
    for index, (row, turn) in enumerate(zip(fields["row"].tolist(), fields["turn"].tolist(), strict=True)):
        if turn == 0:
            begun[row] = []
        if row in begun and len(begun[row]) == turn:
            begun[row].append(index)
            if turn == turns - 1:
                complete.append(begun.pop(row))
    places = np.array(complete, np.int64).reshape(-1, turns)
    return {
        name: _joined(values[places]) if name in _OF_LANES else values[places[:, -1]]
        for name, values in fields.items()
        if name != "turn"
    }


def _joined(parts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Of [event, turn, lane, ...] the turns' lanes along one axis."""
    events, turns, lanes = parts.shape[:3]
    return parts.reshape(events, turns * lanes, *parts.shape[3:])
