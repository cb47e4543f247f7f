"""A path through a unit that is allowed, and reasons that many of them have."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from ctm.tb.border.units import Pair

ACCEPTED = "a granted request is accepted in the cycle in which the other side accepts it"
CONSTANT = "it is constant while the unit works"
GRANT = "the grant follows from the requests of this cycle"
RETURNED = "responses are returned in their cycle, for the same reason"


@dataclass(frozen=True)
class Allowed:
    """Pairs of ports of a unit between which there may be a path; `*` in a port's name stands for anything.

    `unit` is the name of its class, `reason` what the path is for.
    """

    unit: str
    input: str
    output: str
    reason: str

    def covers(self, pair: Pair) -> bool:
        """Whether a pair is one of these."""
        return pair.unit == self.unit and fnmatchcase(pair.input, self.input) and fnmatchcase(pair.output, self.output)
