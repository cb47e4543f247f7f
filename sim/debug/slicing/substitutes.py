"""Other words for a cell, among which are those that take the special cases of operations."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.slicing.cell import Cell, array_of, words
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.constants import IntConstant

_CORNERS = (
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x40490FDB, 0xC1200000, 0x7F800000, 0xFF800000, 0x7FC00000,
    0x7F7FFFFF, 0x00800000, 0x00000001, 0xFFFFFFFF, 0x7FFFFFFF, 0x00000007, 0x4B000001,
)  # fmt: skip
"""Of floats and of integers."""
_SIGN = 0x80000000
_NUMBERS = (0, 1, 2, -1)
"""Of branch counters and address registers: small ones, which no program is stopped for."""
_MOST = 16
"""Words that are taken of other cells, and of code."""


def _pools(count: int) -> dict[str, npt.NDArray[Any]]:
    """Random masks, numbers and words, of which a third are corners."""
    random = np.random.default_rng(0)
    corners, any_words = random.choice(_CORNERS, count), random.integers(0, 1 << 32, count)
    return {
        "bool": random.integers(0, 2, count).astype(bool),
        "number": random.choice(_NUMBERS, count),
        "word": np.where(random.integers(0, 3, count) == 0, corners, any_words),
    }


_POOLS = _pools(9973)
"""Drawn once: drawing a few words costs as much as an instruction. A prime number of them, so that draws differ."""


class Substitutes:
    """Those for the cells of a wavefront's state, and for what it takes from outside.

    Comparisons for equality find their other operand: the words of other cells, and `literals` of the code.
    """

    def __init__(self, state: Batch[Any], literals: Sequence[int]) -> None:
        self._state = state
        self._literals = list(literals)[:_MOST]
        # The same ones each time: an explanation must not change.
        self._random = np.random.default_rng(len(literals))
        self._drawn = 0

    def of(self, cell: Cell, others: Sequence[Cell]) -> list[Any]:
        """Each once, without the word that is there; comparisons may be with words of `others`."""
        array, _ = array_of(self._state, cell)
        now = words(self._state, cell)[0]
        if array.dtype == bool:
            return [not now]
        if array.dtype.kind == "i":
            found = {*_NUMBERS, int(now) + 1, int(now) - 1}
        else:
            found = {*_CORNERS, *self._literals, int(now) ^ _SIGN, int(now) ^ 1, *self._random_words(4)}
            found |= set(self._words_of(cell, others))
        return sorted(found - {int(now)})

    def is_mask(self, cell: Cell) -> bool:
        """Whether it is a bit."""
        return bool(array_of(self._state, cell)[0].dtype == bool)

    def any_of(self, cell: Cell, count: int) -> npt.NDArray[Any]:
        """Any `count` words, far fewer than a pool has; the one that is there perhaps among them."""
        array, _ = array_of(self._state, cell)
        pool = _POOLS["bool" if array.dtype == bool else "number" if array.dtype.kind == "i" else "word"]
        self._drawn = (self._drawn + count) % (len(pool) - count)
        return pool[self._drawn : self._drawn + count]

    def outside(self, word: Any) -> Iterator[Any]:
        """Of a constant or of bytes of memory, without the one that is there."""
        return (other for other in self._near(word) if other != word)

    def _near(self, word: Any) -> Iterator[Any]:
        if isinstance(word, bool):
            yield not word
        elif isinstance(word, IntConstant):
            yield replace(word, count=word.count + 1)
            yield replace(word, count=max(0, word.count - 1))
            yield replace(word, start=word.start ^ 1)
            yield replace(word, step=word.step + 1)
        elif isinstance(word, bytes):
            yield bytes(each ^ 0xFF for each in word)
            for pattern in (0x00, 0xFF, 0x3F, 0x7F):
                yield bytes([pattern]) * len(word)
            yield self._random.bytes(len(word))
        else:
            yield from {*_CORNERS, *self._literals, word ^ _SIGN, word ^ 1, *self._random_words(2)}

    def _words_of(self, cell: Cell, others: Sequence[Cell]) -> Iterator[int]:
        chosen = [other for other in others if other != cell and other.lane == cell.lane]
        chosen = [other for other in chosen if array_of(self._state, other)[0].dtype in (np.float32, np.uint32)]
        for other in chosen[:_MOST]:
            word = int(words(self._state, other)[0])
            yield from (word, word ^ _SIGN)

    def _random_words(self, count: int) -> list[int]:
        return [int(word) for word in self._random.integers(0, 1 << 32, count)]
