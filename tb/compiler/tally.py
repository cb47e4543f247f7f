"""How often random kernels are right, and how often each of their constructs is refused."""

from collections import Counter

_LEAST_SHARE, _MOST_REFUSED = 0.03, 0.2


class Tally:
    """What became of kernels: how many are right, and of each construct how many have it and are refused."""

    def __init__(self) -> None:
        self.count = self.right = 0
        self.uses: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()

    def add(self, constructs: set[str], *, is_right: bool) -> None:
        """Count a kernel that is right or refused."""
        self.count += 1
        self.right += is_right
        self.uses.update(constructs)
        self.refused.update(() if is_right else constructs)

    def check(self) -> None:
        """Every construct is in enough kernels, and few of those are refused."""
        for name, uses in self.uses.items():
            assert uses >= _LEAST_SHARE * self.count, (name, uses)
            assert self.refused[name] <= _MOST_REFUSED * uses, (name, self.refused[name], uses)
