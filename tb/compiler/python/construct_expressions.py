"""Elements of random kernels in Python: expressions, and statements of which something depends on a condition."""

import random

INTS, FLOATS, SPECIALS = ("a", "b", "c"), ("x", "y"), ("z", "w")
"""Variables of kernels: whole numbers, small multiples of 1/8, and numbers of any kind."""
COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


class Expressions:
    """Draws expressions and statements; the same seed draws the same."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._count = 0

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _one_of(self, *choices: list[str]) -> list[str]:
        return self._random.choice(choices)

    def _new(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _literal(self) -> str:
        return str(self._random.randrange(-9, 30))

    def _number(self) -> str:
        return self._pick(*[self._literal()] * 8, "(-7 // 2)", "(7 % -3)", "(2 ** 4)", "True")

    def _int(self) -> str:
        sum_ = f"({self._pick(*INTS)} {self._pick('+', '-')} {self._pick(*INTS, self._number())})"
        return self._pick(*INTS, sum_, sum_, "int(u)")

    def _float(self) -> str:
        one, two = self._pick(*FLOATS), self._pick(*FLOATS, f"{self._random.randrange(-16, 16) / 8}", "float(c)", "c")
        return self._pick(one, f"({one} {self._pick('+', '-', '*')} {two})")

    def _condition(self) -> str:
        """A comparison of anything."""
        value = self._pick("i", "f", "s")
        one, two = {
            "i": (self._int(), self._int()),
            "f": (self._float(), self._pick(self._float(), self._pick(*INTS))),
            "s": (self._pick(*SPECIALS), self._pick(*SPECIALS, "x", "1.0", "math.inf", "-math.inf", "1e38", "0")),
        }[value]
        return f"({one} {self._pick(*COMPARISONS)} {two})"

    def _set(self, value: str) -> str:
        """An integer gets a value."""
        return f"{self._pick(*INTS)} = whole({value})"

    def _set_float(self, value: str) -> str:
        return f"{self._pick(*FLOATS)} = tame({value})"

    def _use(self, condition: str) -> list[str]:
        """Something depends on a condition."""
        kind = self._random.randrange(5)
        if kind == 0:
            return [self._set(f"{self._int()} if {condition} else {self._int()}")]
        if kind == 1:
            return [self._set_float(f"{self._float()} if {condition} else {self._float()}")]
        if kind == 2:
            return [self._set(condition)]
        other = ["else:", f"    {self._set_float(self._float())}"] if kind == 3 else []
        return [f"if {condition}:", f"    {self._set(self._int())}", *other]
