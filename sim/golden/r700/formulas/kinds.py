"""What the formulas of each kind of operation are: callables that also take `clean`."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.fp.words import Floats, Mask

Value = Callable[..., Floats]
"""f(*operands): the result."""
Predicate = Callable[..., tuple[Floats, Mask]]
"""f(*operands): the result, and whether the condition holds."""
Reduction = Callable[..., tuple[Floats, Floats, Floats, Floats]]
"""f(first, second): results of slots x, y, z, w from their first operands, and their second ones if there are any."""
Index = Callable[[Floats], npt.NDArray[np.int64]]
"""f(operand): what the address register takes."""
