"""Arrays that hold intermediate values, reused from call to call, and the blocks that keep them in the cache.

Every thread has its own arrays, so threads may compute at once. An array is valid until its thread takes the same
name again: names begin with the module that uses them, and each has one type.
"""

import math
import threading
from collections.abc import Iterator
from types import EllipsisType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.fp.words import Floats

BLOCK = 65536
"""Elements worked on at once: large against the cost of a call, small enough for the caches."""

Index = tuple[int | slice | EllipsisType, ...]

Element = TypeVar("Element", bound=np.generic)

_thread = threading.local()


def take(name: str, shape: tuple[int, ...], dtype: type[Element]) -> npt.NDArray[Element]:
    """An array of `shape` with arbitrary contents."""
    size = math.prod(shape)
    arrays: dict[str, npt.NDArray[Any]] = _thread.__dict__
    array = arrays.get(name)
    if array is None or array.size < size:
        array = arrays[name] = np.empty(max(size, BLOCK), dtype)
    return array[:size].reshape(shape)


def spread(x: Floats, shape: tuple[int, ...]) -> Floats:
    """`x` broadcast to `shape`, to be cut into blocks with it."""
    return x if x.shape == shape else np.broadcast_to(x, shape)


def blocks(shape: tuple[int, ...]) -> Iterator[Index]:
    """Indices that cut an array of `shape` into blocks of at most BLOCK elements along its last axis."""
    elements = math.prod(shape)
    if elements <= BLOCK:
        if elements:
            yield (...,)
        return
    for row in np.ndindex(shape[:-1]):
        for start in range(0, shape[-1], BLOCK):
            yield (*row, slice(start, start + BLOCK))
