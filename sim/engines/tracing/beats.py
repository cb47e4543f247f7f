"""A core's trace as arrays: one for each field, over all events of one kind."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.compiled.fields import Fields

_OF_LANES = ("words", "enable")


def whole(fields: Fields) -> Fields:
    """Events of whole wavefronts, each in the cycle of its last beat, from events of beats.

    Beats of a context come in their order; an event without some of them is dropped. Events without beats are
    kept.
    """
    if "beat" not in fields:
        return fields
    beats = int(fields["beat"].max(initial=0)) + 1
    begun: dict[int, list[int]] = {}
    complete = []
    for index, (bank, beat) in enumerate(zip(fields["context"].tolist(), fields["beat"].tolist(), strict=True)):
        if beat == 0:
            begun[bank] = []
        if bank in begun and len(begun[bank]) == beat:
            begun[bank].append(index)
            if beat == beats - 1:
                complete.append(begun.pop(bank))
    rows = np.array(complete, np.int64).reshape(-1, beats)
    return {
        name: _joined(values[rows]) if name in _OF_LANES else values[rows[:, -1]]
        for name, values in fields.items()
        if name != "beat"
    }


def enables(event: Fields) -> npt.NDArray[np.bool_]:
    """Which words an event of R5xx cores writes, [channels, lanes]."""
    enabled = event["enable"][None, :].astype(np.int64) >> np.arange(CHANNELS)[:, None] & 1
    found: npt.NDArray[np.bool_] = enabled.astype(bool)
    return found


def _joined(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Of [event, beat, lane, ...] the beats' lanes along one axis."""
    events, beats, lanes = values.shape[:3]
    return values.reshape(events, beats * lanes, *values.shape[3:])
