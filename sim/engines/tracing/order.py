"""Events of all kinds, one after the other."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from ctm.sim.compiled.fields import Fields


def in_order(events: Mapping[str, Fields]) -> Iterator[tuple[str, Fields]]:
    """All events, each with its kind, in the order of their cycles; those of one in the order of the trace's layout."""
    kinds = list(events)
    rows = [
        (cycle, number, index)
        for number, kind in enumerate(kinds)
        for index, cycle in enumerate(events[kind]["cycle"].tolist())
    ]
    for _, number, index in sorted(rows):
        yield kinds[number], row(events[kinds[number]], index)


def row(fields: Fields, index: int) -> Fields:
    """One event of the arrays of all."""
    return {name: row(value, index) if isinstance(value, dict) else value[index] for name, value in fields.items()}


def bits(number: int, count: int) -> npt.NDArray[np.bool_]:
    """An integer's bits, the lowest first."""
    found: npt.NDArray[np.bool_] = (int(number) >> np.arange(count, dtype=np.uint64).astype(object) & 1).astype(bool)
    return found
