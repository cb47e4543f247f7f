"""How often random kernels are right, and how often each of their constructs is unsupported."""

from collections import Counter

_LEAST_SHARE, _MOST_REJECTED = 0.03, 0.2


class Tally:
    """Counts of kernels: those that are right, and of each construct those that have it and those that are rejected."""

    def __init__(self) -> None:
        self.count = self.right = 0
        self.uses: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()

    def add(self, constructs: set[str], *, is_right: bool) -> None:
        """Count a kernel that is right or rejected."""
        self.count += 1
        self.right += is_right
        self.uses.update(constructs)
        self.rejected.update(() if is_right else constructs)

    def check(self) -> None:
        """Every construct is in enough kernels, and few of those are rejected."""
        for name, uses in self.uses.items():
            assert uses >= _LEAST_SHARE * self.count, (name, uses)
            assert self.rejected[name] <= _MOST_REJECTED * uses, (name, self.rejected[name], uses)
