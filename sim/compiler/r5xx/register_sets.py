"""Variables that are to be channels of one register."""

from collections.abc import Iterable

from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.compiler.r5xx.operations import PIXEL


class RegisterSets:
    """Sets of at most four variables, each variable in one of them; the pixel's are one from the start."""

    def __init__(self) -> None:
        self._members: dict[str, frozenset[str]] = {}
        self.closed: set[frozenset[str]] = set()
        """Those that no other variable may join: a read of their register waits for a fetch."""
        self.is_alpha: dict[str, bool] = {}
        """Of variables that had better be in alpha, or in another channel."""
        self.joined([PIXEL])

    def of(self, name: str) -> frozenset[str]:
        """The variables of a variable's register, itself included."""
        return self._members.get(name, frozenset((name,)))

    def joined(self, sets: Iterable[Iterable[str]]) -> bool:
        """Put each of these sets into one register; False, and nothing happens, if they do not fit."""
        found: dict[str, frozenset[str]] = {}
        for names in sets:
            together = frozenset(member for name in names for member in found.get(name, self.of(name)))
            joining = {found.get(name, self.of(name)) for name in together}
            if len(together) > CHANNELS or len(joining) > 1 and joining & self.closed:
                return False
            found.update(dict.fromkeys(together, together))
        self._members.update(found)
        return True

    def merged(self, one: str, other: str) -> bool:
        """Let `one` be the same variable as `other`; False, and nothing happens, if they do not fit."""
        before = {self.of(one), self.of(other)}
        together = frozenset().union(*before) - {one}
        if len(together) > CHANNELS or len(before) > 1 and before <= self.closed:
            return False
        if before & self.closed:
            self.close(together)
        self._members.pop(one, None)
        self._members.update(dict.fromkeys(together, together))
        return True

    def close(self, names: Iterable[str]) -> None:
        """Close the register of some variables to all others."""
        self.closed.add(frozenset(names))
