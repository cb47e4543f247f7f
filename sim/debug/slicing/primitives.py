"""The constants of a strip's primitive, which note what is taken of them and can be changed."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.slicing.cell import PRIMITIVE, Cell
from ctm.sim.golden.dpp.batch import Floats, Integers
from ctm.sim.golden.r700.draws.primitives import PrimitiveConstants

Taken = set[Cell]


class _Rows(np.ndarray):
    """The same row for some wavefronts, [wavefronts, 4], which notes the channels that are taken."""

    taken: Taken | None = None
    where: tuple[int, int] = (0, 0)

    def __getitem__(self, index: Any) -> Any:
        """See `numpy.ndarray`; what it gives is an ordinary array."""
        if self.taken is not None:
            channels = np.arange(self.shape[1])[index[1] if isinstance(index, tuple) else slice(None)]
            self.taken.update(Cell(PRIMITIVE, (*self.where, int(channel))) for channel in np.ravel(channels))
        return self.view(np.ndarray)[index]


class ProbedPrimitives:
    """Those of the wavefront with index `order` in the draw, for any number of its copies; see `PrimitiveConstants`."""

    def __init__(self, original: PrimitiveConstants, order: int) -> None:
        self._original, self._order = original, np.array([order])
        self._changed: dict[tuple[int, int], npt.NDArray[np.float32]] = {}
        self.taken: Taken = set()

    def rows(self, order: Integers, bank: int, row: int) -> Floats:
        """See `PrimitiveConstants.rows`."""
        found = np.repeat(self._row(bank, row)[None], order.size, axis=0).view(_Rows)
        found.taken, found.where = self.taken, (bank, row)
        return found

    def word(self, cell: Cell) -> int:
        """The bits of a channel of a row."""
        bank, row, channel = cell.index
        return int(self._row(bank, row).view(np.uint32)[channel])

    def put(self, cell: Cell, word: int) -> None:
        """Change them."""
        bank, row, channel = cell.index
        changed = self._row(bank, row)
        changed.view(np.uint32)[channel] = word
        self._changed[bank, row] = changed

    def _row(self, bank: int, row: int) -> npt.NDArray[np.float32]:
        kept = self._changed.get((bank, row))
        return (self._original.rows(self._order, bank, row)[0] if kept is None else kept).copy()
