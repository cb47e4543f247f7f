"""Comparing a unit's results with the golden model's, and saying where they first differ."""

import numpy as np

from ctm.tb.fp.cases import Batch
from ctm.tb.lib.words import Words, show


def check(actual: Batch, expected: Batch, operands: Batch) -> None:
    """Fail at the first row where an output differs, showing the operands there."""
    assert actual.keys() == expected.keys()
    for name, right in expected.items():
        result, wanted = (_rows(array) for array in (actual[name], right))
        assert result.shape == wanted.shape
        wrong = np.flatnonzero((result != wanted).any(axis=1))
        if wrong.size:
            row = int(wrong[0])
            given = ", ".join(f"{port} = {_show(array, row)}" for port, array in operands.items())
            raise AssertionError(
                f"{wrong.size} of {len(wanted)} differ, first at {row}: {given} gives {name} = {_show(result, row)}, "
                f"expected {_show(wanted, row)}"
            )


def _rows(array: Words) -> Words:
    return array.reshape(len(array), -1).astype(np.uint64)


def _show(array: Words, row: int) -> str:
    values = np.atleast_1d(array[row])
    return " ".join(show(int(value)) if 0xFFFF < int(value) < 1 << 32 else hex(int(value)) for value in values)
