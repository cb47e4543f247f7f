"""A core's trace as arrays: one for each field, over all events of one kind."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.tb.lib.fields import Fields

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
