"""The constants that each wavefront of a draw's pixel program has of its own: those of its primitive."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.dpp.batch import Floats, Integers

RECORD_BANK, PROVOKING_BANK = 4, 5
"""The banks in front of them are the parameters of vertices 0, 1 and 2."""


@dataclass(frozen=True)
class PrimitiveConstants:
    """Banks 1 to 5, by the indices of wavefronts in the draw.

    `parameters` [vertices, rows, 4]; `shape` [wavefronts]: the shape of each; of shapes `corners` [shapes, 3],
    `provoking` [shapes] and `record` [shapes, rows, 4]. A row that is not there is 0.
    """

    parameters: Floats
    shape: Integers
    corners: Integers
    provoking: Integers
    record: Floats
    order: Integers
    """Indices of the wavefronts in the draw, ascending."""

    def rows(self, order: Integers, bank: int, row: int) -> Floats:
        """A row of a bank for each of the wavefronts `order`, [wavefronts, 4]."""
        shape = self.shape[np.searchsorted(self.order, order)]
        if bank == RECORD_BANK:
            return _row(self.record, shape, row)
        vertex = self.provoking[shape] if bank == PROVOKING_BANK else self.corners[shape, bank - 1]
        return _row(self.parameters, vertex, row)


def _row(values: Floats, chosen: npt.NDArray[np.signedinteger], row: int) -> Floats:
    if row >= values.shape[1]:
        return np.zeros((chosen.size, values.shape[2]), np.float32)
    found: Floats = values[chosen, row]
    return found
