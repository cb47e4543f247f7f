"""The domain walk: which processors form which group.

Work is issued in 2x2 quads aligned to even i and j. A group is `lanes / 4` neighbouring quads of one quad row; rows go
upward in j. In a quad the lanes are (i, j), (i+1, j), (i, j+1), (i+1, j+1).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.limits import QUAD

Integers = npt.NDArray[np.signedinteger]


@dataclass(frozen=True, kw_only=True)
class Domain:
    """All pairs i0 <= i <= i1, j0 <= j <= j1. The default is the reset state: the one pair (0, 0)."""

    i0: int = 0
    j0: int = 0
    i1: int = 0
    j1: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is no pair."""
        return self.i0 > self.i1 or self.j0 > self.j1

    def groups(self, lanes: int, most: int) -> Iterator[tuple[Integers, Integers, npt.NDArray[np.bool_]]]:
        """Yield batches of at most `most` groups in order: i, j and coverage of their lanes, flat [groups * lanes]."""
        if self.is_empty:
            return
        left, bottom = self.i0 & ~1, self.j0 & ~1
        quads_per_group = lanes // QUAD
        columns = -(-((self.i1 | 1) - left + 1) // (2 * quads_per_group))
        rows = ((self.j1 | 1) - bottom + 1) // 2
        lane = np.arange(lanes)
        lane_i = 2 * (lane // QUAD) + (lane & 1)
        lane_j = lane >> 1 & 1
        for first in range(0, rows * columns, most):
            group = np.arange(first, min(first + most, rows * columns))
            i = (left + 2 * quads_per_group * (group % columns))[:, None] + lane_i
            j = (bottom + 2 * (group // columns))[:, None] + lane_j
            i, j = i.ravel(), j.ravel()
            yield i, j, (i >= self.i0) & (i <= self.i1) & (j >= self.j0) & (j <= self.j1)
