"""What plain numpy says that an output must hold."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Expectation:
    """Values [height, width, channels], and how far each may be off: one number or an array of that shape.

    Tolerance 0 asks for equal bits.
    """

    values: Array
    tolerance: float | Array = 0.0

    def worst_error(self, found: Array) -> float:
        """The largest absolute difference; a NaN on one side only is infinitely far off."""
        return float(self._errors(found).max())

    def holds(self, found: Array) -> bool:
        """Whether `found` has the right shape and is nowhere off by more than the tolerance."""
        if found.shape != self.values.shape:
            return False
        if isinstance(self.tolerance, float) and self.tolerance == 0.0:
            return found.dtype == self.values.dtype and found.tobytes() == self.values.tobytes()
        return bool((self._errors(found) <= self.tolerance).all())

    def _errors(self, found: Array) -> Array:
        # Integers in the bits of floats may be signalling NaNs.
        with np.errstate(invalid="ignore"):
            exact, seen = self.values.astype(np.float64), found.astype(np.float64)
            errors = np.abs(seen - exact)
        same = (exact == seen) | (np.isnan(exact) & np.isnan(seen))
        return np.where(same, 0.0, np.where(np.isnan(errors), np.inf, errors))
