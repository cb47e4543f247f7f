"""What the formulas of each kind of operation are. All operands and results are words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.engines.fast.vector.transcendental import Transcendental


@dataclass(frozen=True)
class Unit:
    """What computes."""

    lanes: Lanes
    transcendental: Transcendental

    def bits(self, condition: Value, one: float) -> Value:
        """The words of the float `one` where a condition holds, else 0."""
        return self.lanes.choose(condition, self.lanes.words(self.lanes.single(one)), self.lanes.none)


Formula = Callable[..., Value]
"""f(unit, *operands): the result."""
Predicate = Callable[..., tuple[Value, Value]]
"""f(unit, *operands): the result, and the bits of the lanes in which the condition holds."""
Reduction = Callable[[Unit, Sequence[Value], Sequence[Value]], Sequence[Value]]
"""f(unit, first, second): results of slots x, y, z, w from their first operands, and their second if they have any."""
