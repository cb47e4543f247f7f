"""Random kernels in Python: nested conditions and loops, tuples, functions, numbers of both kinds, fetches.

Every float is a multiple of 1/8 with few digits, so that Python and a core compute the same, to the last bit.
"""

import random

import numpy as np

SIZE = 8
PRELUDE = """import math
import ctm
from ctm.language import Image, floor, texel, ivec2, unroll

STEPS = 2 * 3
WEIGHTS = (0.5, -1.5, 2.0, 0.25)


def tame(x: float) -> float:
    return floor(x * 8.0) / 8 if -32 < x < 32 else 1.5


def whole(n: int) -> int:
    return n % 401 - 200


def ordered(x: float, y: float):
    if x <= y:
        return x, y
    return y, x
"""
_INTS, _FLOATS = ("a", "b", "c"), ("x", "y", "z")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def picture() -> np.ndarray:
    """What random kernels look up."""
    return (np.random.default_rng(3).integers(-40, 40, (SIZE, SIZE, 4)) / 8).astype(np.float32)


class RandomPythonKernel:
    """Writes one kernel; the same seed gives the same text. `bits` are operations that R5xx cores have not."""

    def __init__(self, seed: int, *, bits: bool) -> None:
        self._random = random.Random(seed)
        self._bits = bits
        self._loops = 0
        self._names = 0

    def text(self, name: str) -> str:
        """The definition of the kernel, without what stands once in a file."""
        # R5xx cores have 512 instructions.
        count = self._random.randrange(3, 7) if self._bits else 2
        lines = [line for _ in range(count) for line in self._statement(2)]
        body = "".join(f"    {line}\n" for line in lines)
        return (
            f"\n\n@ctm.kernel\ndef {name}(pixel: ivec2, picture: Image, scale: float, table: list[int]):\n"
            "    a, b, c = pixel.x - 3, pixel.y * 5, table[1]\n"
            f"    x = texel(picture, pixel).x\n    y = z = scale\n{body}"
            "    return a, x, (b if c > 3 else c), tame(y + z)\n"
        )

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _int(self, depth: int) -> str:
        draw = self._random
        if depth == 0 or draw.random() < 0.2:
            return self._pick(*_INTS, str(draw.randrange(-9, 99)), "STEPS", "table[0]")
        one, two = self._int(depth - 1), self._int(depth - 1)
        forms = {
            f"whole({one} {self._pick('+', '-')} {two})": 40,
            f"whole(whole({one}) * whole({two}))": 12,
            f"({one} // {self._pick('2', '3', '-7', '10')})": 8,
            f"({one} % {self._pick('2', '3', '-7', '10')})": 8,
            f"(whole({one}) // (abs({two}) + 1))": 3,
            f"(whole({one}) % (abs({two}) + 1))": 3,
            f"({one} if {self._condition(depth - 1)} else {two})": 8,
            f"{self._pick('min', 'max')}({one}, {two})": 5,
            f"int(tame({self._float(depth - 1)}))": 5,
            f"math.floor(tame({self._float(depth - 1)}))": 3,
            f"({one} {self._pick('and', 'or')} {two})": 4,
            f"(-{one})": 3,
        }
        if self._bits:
            forms |= {
                f"({one} {self._pick('&', '|', '^')} {two})": 10,
                f"({one} >> {draw.randrange(1, 6)})": 4,
                f"whole(whole({one}) << {draw.randrange(1, 6)})": 3,
                f"(~{one})": 2,
                f"round(tame({self._float(depth - 1)}))": 3,
            }
        return draw.choices(list(forms), list(forms.values()))[0]

    def _float(self, depth: int) -> str:
        draw = self._random
        if depth == 0 or draw.random() < 0.2:
            return self._pick(
                *_FLOATS, f"{draw.randrange(-40, 40) / 8}", f"WEIGHTS[{draw.randrange(4)}]", "float(a % 8)"
            )
        one, two = self._float(depth - 1), self._float(depth - 1)
        forms = {
            f"tame({one} {self._pick('+', '-', '*')} {two})": 50,
            f"tame({one} * {two} + {self._float(depth - 1)})": 15,
            f"tame({one} / {self._pick('2', '-4.0', '8')})": 6,
            f"(tame({one}) // {self._pick('2', '0.5', '-3.0')})": 5,
            f"(tame({one}) % {self._pick('2', '0.5', '-3.0')})": 5,
            f"({one} if {self._condition(depth - 1)} else {two})": 8,
            f"{self._pick('min', 'max')}({one}, {two})": 5,
            f"abs({one})": 3,
            f"tame({one}) ** 2": 3,
            f"texel(picture, {self._int(depth - 1)}, {two}).{self._pick('x', 'y', 'z', 'w')}": 5,
            f"ordered({one}, {two})[{draw.randrange(2)}]": 4,
        }
        return draw.choices(list(forms), list(forms.values()))[0]

    def _condition(self, depth: int) -> str:
        kind = self._random.random()
        if kind < 0.35:
            return f"{self._int(depth)} {self._pick(*_COMPARISONS)} {self._int(depth)}"
        if kind < 0.65:
            return f"{self._float(depth)} {self._pick(*_COMPARISONS)} {self._float(depth)}"
        if kind < 0.8:
            return f"{self._int(0)} {self._pick('<', '<=')} {self._int(depth)} {self._pick('<', '!=')} {self._int(0)}"
        if depth == 0:
            return self._pick("a", "not b", "c % 2")
        joint = self._pick("and", "or")
        return self._pick("not ", "") + f"({self._condition(depth - 1)} {joint} {self._condition(depth - 1)})"

    def _block(self, depth: int, *, in_loop: bool) -> list[str]:
        count = self._random.randrange(1, 4)
        return [f"    {line}" for _ in range(count) for line in self._statement(depth, in_loop=in_loop)]

    def _statement(self, depth: int, *, in_loop: bool = False) -> list[str]:
        kind = self._random.random()
        if depth and 0.45 <= kind < 0.65:
            lines = [f"if {self._condition(1)}:", *self._block(depth - 1, in_loop=in_loop)]
            if self._random.random() < 0.3:
                lines += [f"elif {self._condition(1)}:", *self._block(depth - 1, in_loop=in_loop)]
            return lines + (["else:", *self._block(depth - 1, in_loop=in_loop)] if self._random.random() < 0.5 else [])
        if depth and 0.65 <= kind < 0.82 and self._loops < 2:
            return self._loop(depth)
        if 0.82 <= kind < 0.9 and in_loop:
            return [f"if {self._condition(1)}:", f"    {self._pick('break', 'continue')}"]
        return [self._assignment()]

    def _assignment(self) -> str:
        ints, floats = self._pick(*_INTS), self._pick(*_FLOATS)
        return self._pick(
            f"{ints} = whole({self._int(2)})",
            f"{floats} = tame({self._float(2)})",
            f"{floats} = tame({self._float(2)})",
            f"{floats} += {self._pick('0.5', '-1.25')}",
            f"{ints} %= {self._pick('17', '-5')}",
            f"a, b = b, whole({self._int(1)})",
            f"x, y = ordered({self._float(1)}, {self._float(1)})",
            f"pair = ({floats}, {ints}); {self._pick(*_FLOATS)} = tame(pair[0] * pair[1])",
        )

    def _loop(self, depth: int) -> list[str]:
        self._loops += 1
        self._names += 1
        counter, start = f"i{self._names}", self._random.randrange(-2, 3)
        body = self._block(depth - 1, in_loop=True)
        self._loops -= 1
        kind = self._random.random()
        if kind < 0.4:
            step = self._pick("1", "2", "-1", "-2")
            end = start + (1 if step[0] != "-" else -1) * self._random.randrange(1, 6)
            return [f"for {counter} in range({start}, {end}, {step}):", f"    c = {counter}", *body]
        if kind < 0.55:
            return [f"for {counter} in unroll(range({self._random.randrange(1, 4)})):", f"    a += {counter}", *body]
        if kind < 0.7:
            return [f"for {counter} in range(abs({self._int(0)}) % 5):", f"    b -= {counter}", *body]
        return [f"{counter} = 0", f"while {counter} < STEPS and {self._condition(1)}:", f"    {counter} += 1", *body]
