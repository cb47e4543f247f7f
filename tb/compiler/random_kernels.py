"""Random kernels: structured C of integers and floats with nested conditions, loops, switches, fetches and arrays.

Divisions of floats and functions that are not exact are left out, so every bit of the results is known.
"""

import random

import numpy as np

from ctm.tb.compiler.host import Launch

PRELUDE = """#include <ctm/kernel.h>
static float tame(float x) { return x > -1e6f && x < 1e6f ? x : 1.0f; }
static int whole(float x) { return (int)tame(x); }
"""
_SIZE = 16
_INTS, _FLOATS = ("a", "b", "c", "e"), ("x", "y", "z", "w")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")
_ARRAYS = """    float q[8]; int n[4];
    for (int k = 0; k < 4; k++) n[k] = k * 3;
    for (int k = 0; k < 8; k++) q[k] = x * k;
"""


def launch() -> Launch:
    """What random kernels run on."""
    generator = np.random.default_rng(1)
    shape = _SIZE, _SIZE
    floats = generator.uniform(-4, 4, (2, *shape))
    whole = generator.integers(-50, 50, shape), generator.integers(1, 40, shape)
    plane = np.stack([*floats, *whole], axis=-1).astype(np.float32)
    return Launch(width=_SIZE, height=_SIZE, inputs={0: plane})


class RandomKernel:
    """Writes one kernel; the same seed gives the same text."""

    def __init__(self, seed: int, *, arrays: bool = False) -> None:
        self._random = random.Random(seed)
        self._arrays = arrays
        self._loops = 0
        self._returns = 0

    def text(self, name: str) -> str:
        """The definition of the kernel, without what stands once in a file."""
        body = "".join(self._statement(3, "    ") for _ in range(self._random.randrange(3, 7)))
        arrays, last = (_ARRAYS, " + q[1] + q[2] * 3 + n[1]") if self._arrays else ("", "")
        return (
            f"kernel void {name}(vec2 pixel) {{\n"
            "    vec4 t = texel(0, pixel);\n"
            "    int a = (int)t.z, b = (int)t.w, c = (int)pixel.x, e = (int)pixel.y;\n"
            f"    float x = t.x, y = t.y, z = t.w, w = 0.5f;\n{arrays}{body}"
            f"    output(0, ivec4(a, b, c, e));\n    output(1, vec4(x, y, z, w{last}));\n}}\n"
        )

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _int(self, depth: int) -> str:
        """An expression of type int."""
        draw = self._random
        if depth == 0 or draw.random() < 0.2:
            counter = f"i{draw.randrange(self._loops)}" if self._loops else "c"
            return self._pick(*_INTS, f"({draw.randrange(-9, 99)})", "whole(x)", counter)
        left, right = self._int(depth - 1), self._int(depth - 1)
        forms = {
            f"(int)((uint)({left}) {self._pick('+', '-', '*')} (uint)({right}))": 45,
            f"({left} {self._pick('&', '|', '^')} {right})": 15,
            f"(({left}) >> {draw.randrange(1, 12)})": 8,
            f"(int)((uint)({left}) << {draw.randrange(1, 9)})": 4,
            f"(int)((uint)({left}) >> (({right}) & 31))": 4,
            f"({self._condition(depth - 1)} ? {left} : {right})": 8,
            f"(int)((uint)({left}) / ((uint)({right}) | 1u))": 4,
            f"(int)((uint)({left}) % ((uint)({right}) | 1u))": 3,
            f"(({left}) / ((({right}) & 1023) + 1))": 2,
            f"(({self._pick('short', 'signed char')})({left}) / ((({right}) >> 31) | 1))": 2,
            f"((short)({left}) % {self._pick('3', '5', '7', '10', '16', '100')})": 2,
            f"(int)rotate_left((uint){left}, (uint){right})": 2,
            f"trailing_zeros((uint){left})": 1,
            f"as_int(tame({self._float(depth - 1)}) + 0.0f)": 2,
            f"({self._condition(depth - 1)})": 3,
        }
        return draw.choices(list(forms), list(forms.values()))[0]

    def _float(self, depth: int) -> str:
        """An expression of type float."""
        draw = self._random
        if depth == 0 or draw.random() < 0.2:
            return self._pick(*_FLOATS, "x", f"({draw.uniform(-4, 4):.3f}f)", f"(float)({self._int(0)} & 255)")
        left, right = self._float(depth - 1), self._float(depth - 1)
        forms = {
            f"({left} {self._pick('+', '-', '*')} {right})": 50,
            f"({left} * {right} + {self._float(depth - 1)})": 15,
            f"{self._pick('min', 'max')}({left}, {right})": 7,
            f"({self._condition(depth - 1)} ? {left} : {right})": 8,
            f"{self._pick('floor', 'fract', 'abs', 'trunc', 'ceil', 'rint')}({left})": 6,
            f"(-{left})": 4,
            f"texel(0, {left}, {right}).{self._pick('x', 'y', 'z', 'w')}": 4,
            f"(vec2({left}, {right}) * vec3({right}, x, y).{self._pick('xy', 'zx', 'yy')}).{self._pick('x', 'y')}": 3,
            f"({left} * 0.25f)": 4,
        }
        return draw.choices(list(forms), list(forms.values()))[0]

    def _condition(self, depth: int) -> str:
        draw = self._random
        kind = draw.random()
        if kind < 0.4:
            return f"({self._int(depth)} {self._pick(*_COMPARISONS)} {self._int(depth)})"
        if kind < 0.5:
            return f"((uint){self._int(depth)} {self._pick(*_COMPARISONS[:4])} (uint){self._int(depth)})"
        if kind < 0.8:
            return f"({self._float(depth)} {self._pick(*_COMPARISONS)} {self._float(depth)})"
        if kind < 0.9 and depth:
            return f"({self._condition(depth - 1)} {self._pick('&&', '||')} {self._condition(depth - 1)})"
        return f"(({self._int(depth)} & {self._pick('1', '3', '7')}) == {draw.randrange(2)})"

    def _block(self, depth: int, margin: str, *, in_loop: bool) -> str:
        count = self._random.randrange(1, 5)
        return "".join(self._statement(depth, margin + "    ", in_loop=in_loop) for _ in range(count))

    def _statement(self, depth: int, margin: str, *, in_loop: bool = False) -> str:
        kind = self._random.random()
        if depth and 0.4 <= kind < 0.62:
            return self._if(depth, margin, in_loop)
        if depth and 0.62 <= kind < 0.8 and self._loops < 3:
            return self._loop(depth, margin)
        if 0.8 <= kind < 0.88 and in_loop:
            return f"{margin}if ({self._condition(1)}) {self._pick('break', 'continue')};\n"
        if depth and 0.88 <= kind < 0.92:
            return self._switch(depth, margin)
        if 0.92 <= kind < 0.94 and self._returns < 2:
            self._returns += 1
            end = self._pick("return;", "discard();")
            return f"{margin}if ({self._condition(1)}) {{ {self._last_words()} {end} }}\n"
        return f"{margin}{self._assignment()}\n"

    def _last_words(self) -> str:
        """An output before an end."""
        return f"output(0, ivec4(a, b, c, {self._returns}));"

    def _assignment(self) -> str:
        draw = self._random
        if self._arrays and draw.random() < 0.35:
            index, other = self._int(1), self._int(1)
            return self._pick(
                f"q[{index} & 7] = {self._float(1)};", f"x = q[{index} & 7];", f"z = q[{draw.randrange(8)}] + y;",
                f"q[{draw.randrange(8)}] = {self._float(1)};", f"n[{index} & 3] += {other};", f"e = n[{index} & 3];",
                f"c = n[{draw.randrange(4)}];",
            )  # fmt: skip
        if draw.random() < 0.5:
            return f"{self._pick(*_INTS)} = {self._int(2)};"
        return f"{self._pick(*_FLOATS)} = {self._float(2)};"

    def _if(self, depth: int, margin: str, in_loop: bool) -> str:
        text = f"{margin}if ({self._condition(1)}) {{\n{self._block(depth - 1, margin, in_loop=in_loop)}{margin}}}"
        if self._random.random() < 0.5:
            text += f" else {{\n{self._block(depth - 1, margin, in_loop=in_loop)}{margin}}}"
        return text + "\n"

    def _loop(self, depth: int, margin: str) -> str:
        counter, most, condition = f"i{self._loops}", self._random.randrange(2, 9), self._condition(1)
        self._loops += 1
        body = self._block(depth - 1, margin, in_loop=True)
        self._loops -= 1
        end = self._pick(str(most), "(b & 7)", "(a & 3) + 1")
        return self._pick(
            f"{margin}for (int {counter} = 0; {counter} < {end}; {counter}++) {{\n{body}{margin}}}\n",
            f"{margin}{{ int {counter} = 0; while ({counter}++ < {most} && {condition}) {{\n{body}{margin}}} }}\n",
            f"{margin}{{ int {counter} = 0; do {{\n{body}{margin}}} while (++{counter} < {most} && {condition}); }}\n",
        )

    def _switch(self, depth: int, margin: str) -> str:
        cases = ""
        for number in range(self._random.randrange(2, 5)):
            cases += f"{margin}case {number}:\n{self._block(depth - 1, margin, in_loop=False)}"
            if self._random.random() < 0.8:
                cases += f"{margin}    break;\n"
        return f"{margin}switch ({self._int(1)} & 3) {{\n{cases}{margin}}}\n"


class RandomFloatKernel(RandomKernel):
    """A kernel without integers but those that count, for cores that have none; numbers stay small."""

    def text(self, name: str) -> str:
        """The definition of the kernel, without what stands once in a file."""
        body = "".join(self._statement(3, "    ") for _ in range(self._random.randrange(3, 7)))
        return (
            f"kernel void {name}(vec2 pixel) {{\n"
            "    vec4 t = texel(0, pixel);\n"
            "    int a = (int)t.z, b = (int)t.w;\n"
            f"    float x = t.x, y = t.y, z = t.w, w = 0.5f;\n{body}"
            "    output(0, vec4(x, y, z, w));\n    output(1, vec4(a, b, pixel));\n}\n"
        )

    def _last_words(self) -> str:
        return f"output(0, vec4(x, y, z, {self._returns}));"

    def _assignment(self) -> str:
        if self._random.random() < 0.2:
            return f"{self._pick('a', 'b')} = whole(min({self._float(1)}, 99.0f));"
        return f"{self._pick(*_FLOATS)} = tame({self._float(2)});"

    def _int(self, depth: int) -> str:
        counter = f"i{self._random.randrange(self._loops)}" if self._loops else "b"
        return self._pick(
            "a", "b", str(self._random.randrange(-9, 99)), counter, f"(a {self._pick('+', '-')} {counter})"
        )

    def _float(self, depth: int) -> str:
        if depth == 0 or self._random.random() < 0.2:
            return self._pick(*_FLOATS, "x", f"({self._random.uniform(-4, 4):.3f}f)", f"(float){self._int(0)}")
        left, right = self._float(depth - 1), self._float(depth - 1)
        return self._pick(
            f"({left} {self._pick('+', '-', '*')} {right})", f"({left} * {right} + {self._float(depth - 1)})",
            f"{self._pick('min', 'max')}({left}, {right})", f"({self._condition(depth - 1)} ? {left} : {right})",
            f"{self._pick('floor', 'fract', 'abs', 'trunc', 'ceil')}({left})", f"(-{left})",
            f"texel(0, {left}, {right}).{self._pick('x', 'y', 'z', 'w')}",
            f"(vec2({left}, {right}) * vec3({right}, x, y).{self._pick('xy', 'zx', 'yy')}).{self._pick('x', 'y')}",
        )  # fmt: skip

    def _condition(self, depth: int) -> str:
        kind = self._random.random()
        if kind < 0.3:
            return f"({self._int(0)} {self._pick(*_COMPARISONS)} {self._int(0)})"
        if kind < 0.8 or not depth:
            return f"({self._float(depth)} {self._pick(*_COMPARISONS)} {self._float(depth)})"
        return f"({self._condition(depth - 1)} {self._pick('&&', '||')} {self._condition(depth - 1)})"

    def _loop(self, depth: int, margin: str) -> str:
        text = super()._loop(depth, margin)
        return text.replace("(b & 7)", "7").replace("(a & 3) + 1", "4")

    def _switch(self, depth: int, margin: str) -> str:
        return super()._switch(depth, margin).replace(" & 3) {", ") {", 1)
