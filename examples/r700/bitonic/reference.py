"""Keys of the bitonic sort, its passes, and its result by numpy."""

from collections.abc import Iterator

from ctm.examples.bitonic import reference
from ctm.examples.bitonic.reference import KEYS

inputs = reference.inputs
"""Keys in no order, float32 [64, 64]."""
expected = reference.expected
"""The keys in order, row after row, float32 [64, 64, 1]: keys are moved, so every bit is the same."""


def passes() -> Iterator[tuple[int, int]]:
    """Distance and block of each pass in order, as the job file has them in constant 0."""
    block = 2
    while block <= KEYS:
        distance = block // 2
        while distance:
            yield distance, block
            distance //= 2
        block *= 2
