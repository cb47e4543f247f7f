"""Random kernels in C of what compilers for floats and for LLVM's back ends have got wrong elsewhere, by construct.

Integers stay below 2^24 and floats are small multiples of 1/8, so that every core and the host compute the same. What
goes beyond that on purpose (NaN, infinities, the largest numbers) is compared, chosen or rounded, and tamed.
"""

import random
from collections.abc import Callable

import numpy as np

from ctm.tb.compiler.host import Launch

SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -0.5, 3.4028235e38, -3.4028235e38, 1.1754944e-38)
SIZE = len(SPECIAL)
PRELUDE = """#include <ctm/kernel.h>
static float tame(float x) { return x > -32 && x < 32 ? floor(x * 8) / 8 : 1.5f; }
static int whole(int n) { return n % 1013; }
static int kept(int n, int limit) { if (n > limit) discard(); return n - limit; }
static float known(float x) { if (!(x == x)) { discard(); return 0.5f; } return x; }
struct pair { int n; float x; };
static struct pair turned(struct pair p) { return (struct pair){(int)tame(p.x), (float)p.n}; }
"""
_INTS, _FLOATS, _SPECIALS = ("a", "b", "c"), ("x", "y"), ("z", "w")
_MASKS = ("1", "3", "7", "15", "255", "4095", "-1", "-2", "-8", "-256", "4", "6", "0x55", "~5", "0x7ff0")
_COMPARISONS = ("<", ">", "<=", ">=", "==", "!=")


def launch() -> Launch:
    """What these kernels run on: input 0 has floats and integers, input 1 all pairs of special values."""
    generator = np.random.default_rng(5)
    shape = SIZE, SIZE
    floats = generator.integers(-40, 40, (2, *shape)) / 8
    integers = generator.integers(-300, 300, (2, *shape))
    special = np.meshgrid(SPECIAL, SPECIAL)
    planes = [np.stack(each, axis=-1).astype(np.float32) for each in ((*floats, *integers), (*special, *special))]
    return Launch(width=SIZE, height=SIZE, inputs=dict(enumerate(planes)))


class ConstructKernel:
    """Writes one kernel; the same seed gives the same text. `is_whole` is for cores that have integers and addresses.

    After `text` the names of the constructs in it are in `constructs`.
    """

    def __init__(self, seed: int, *, is_whole: bool) -> None:
        self.constructs: set[str] = set()
        self._random = random.Random(seed)
        self._is_whole = is_whole
        self._names = 0
        self._makers: dict[str, Callable[[], str]] = {
            "range": self._range, "pair of equalities": self._equalities, "truth as number": self._truth,
            "special value": self._special, "int and uint": self._unsigned, "mask": self._mask, "shift": self._shift,
            "array with values": self._array, "discard in function": self._discard, "struct": self._struct,
            "loop": self._loop, "switch": self._switch, "quotient": self._quotient,
        }  # fmt: skip
        if is_whole:
            self._makers |= {"product that wraps": self._wrapping, "checksum": self._checksum, "table": self._table}

    def text(self, name: str) -> str:
        """The definition of the kernel, without what stands once in a file."""
        body = "".join(f"    {self._statement()}\n" for _ in range(self._random.randrange(3, 6)))
        return (
            f"kernel void {name}(ivec2 p) {{\n    vec4 t = texel(0, p), s = texel(1, p);\n"
            "    int a = (int)t.z, b = (int)t.w, c = p.x - 3;\n    uint u = (uint)p.y, v = (uint)(p.x * 5);\n"
            f"    float x = t.x, y = t.y, z = s.x, w = s.y;\n{body}"
            "    output(0, vec4((float)a, (float)b, (float)c, (float)(u + v)));\n    output(1, vec4(x, y, z, w));\n}\n"
        )

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _number(self) -> str:
        return str(self._random.randrange(-9, 30))

    def _int(self) -> str:
        return self._pick(*_INTS, f"({self._pick(*_INTS)} {self._pick('+', '-')} {self._pick(*_INTS, self._number())})")

    def _float(self) -> str:
        one, two = self._pick(*_FLOATS), self._pick(*_FLOATS, f"{self._random.randrange(-16, 16) / 8}f", "(float)c")
        return self._pick(one, f"({one} {self._pick('+', '-', '*')} {two})")

    def _condition(self) -> str:
        """A comparison of anything."""
        value = self._pick("i", "f", "s")
        one, two = {
            "i": (self._int(), self._int()),
            "f": (self._float(), self._float()),
            "s": (self._pick(*_SPECIALS), self._pick(*_SPECIALS, "x", "1.0f")),
        }[value]
        return f"({one} {self._pick(*_COMPARISONS)} {two})"

    def _set(self, value: str) -> str:
        """An integer gets a value."""
        return f"{self._pick(*_INTS)} = whole({value});"

    def _use(self, condition: str) -> str:
        """Something depends on a condition."""
        return self._pick(
            self._set(f"{condition} ? {self._int()} : {self._int()}"),
            f"if ({condition}) {self._set(self._int())}",
            f"if ({condition}) {{ {self._set(self._int())} }} else {{ x = tame({self._float()}); }}",
            f"y = tame({condition} ? {self._float()} : {self._float()});",
        )

    def _statement(self) -> str:
        name = self._pick(*self._makers)
        self.constructs.add(name)
        return self._makers[name]()

    def _range(self) -> str:
        """In or out of a range, negated or not."""
        value = self._pick(self._int(), self._float())
        low, high = sorted(self._random.sample(range(-9, 30), 2))
        inside = f"{low} {self._pick('<', '<=')} {value} && {value} {self._pick('<', '<=')} {high}"
        outside = f"{value} {self._pick('<', '<=')} {low} || {value} {self._pick('>', '>=')} {high}"
        return self._use(f"({self._pick(inside, f'!({inside})', outside, f'!({outside})')})")

    def _equalities(self) -> str:
        value, numbers = self._int(), self._random.sample(range(-4, 8), self._random.randrange(2, 5))
        unequal = " && ".join(f"{value} != {number}" for number in numbers)
        equal = " || ".join(f"{value} == {number}" for number in numbers)
        return self._use(f"({self._pick(unequal, equal, f'!({equal})')})")

    def _truth(self) -> str:
        one, two = self._condition(), self._condition()
        kind = self._random.random()
        if kind < 0.2:
            return f"y = tame({self._float()} * {self._pick(one, f'-{one}', f'(float)-{one}')});"
        if kind < 0.35:
            vectors = f"(ivec2(a, {self._number()}) {self._pick(*_COMPARISONS)} ivec2({self._int()}, b))"
            return self._set(f"{vectors}.{self._pick('x', 'y')} + {vectors}.x * 2")
        return self._set(self._pick(
            f"{one} - {two}", f"-{one}", f"{one} - 1", f"{one} * {self._number()} + {two}", f"({one} & {two})",
            f"({one} | {two})", f"({one} ^ {two})", f"{one} == {two}", f"~{one}", f"{self._int()} << {one}",
            f"!{one} + {two}", f"{one} ? -1 : 0", f"{self._int()} & {one}",
        ))  # fmt: skip

    def _special(self) -> str:
        one, two = self._pick(*_SPECIALS), self._pick(*_SPECIALS, "x", "1.0f", "-__builtin_inff()")
        if self._random.random() < 0.5:
            both = f"{one} {self._pick('<', '<=')} {two} || {one} {self._pick('>', '>=')} {two}"
            return self._use(self._pick(
                self._condition(), f"!{self._condition()}", f"({both})", f"!({both})", f"({one} != {one})", f"!{one}",
                f"(abs({one}) < __builtin_inff())", f"__builtin_isnormal({one})", f"({one} == {two})",
            ))  # fmt: skip
        function = self._pick("floor", "ceil", "trunc", "abs", "sign", "-", "fract")
        value = self._pick(
            f"{function}({one})", f"{self._pick('min', 'max')}({one}, {two})", f"clamp({one}, {two}, 2.0f)",
            f"({one} {self._pick(*_COMPARISONS)} {two} ? {one} : {two})",
        )  # fmt: skip
        return self._pick(f"{self._pick(*_SPECIALS)} = {value};", f"x = tame({value});")

    def _unsigned(self) -> str:
        one = f"(uint){self._int()}"
        return self._pick(
            self._use(f"({one} {self._pick(*_COMPARISONS)} {self._pick('u', 'v', '5u', '(uint)b', '4294967290u')})"),
            self._set(f"(int)({self._pick('min', 'max')}({one}, u) & 1023u)"),
            self._set(f"({self._condition()} ? {self._int()} : (int)u)"),
            f"u = ({self._pick('u', 'v')} {self._pick('+', '*')} {self._pick('u', '3u', 'v')}) % 509u;",
            self._set("(int)(u - v)"),
            f"x = tame((float)({self._pick('u', 'v')} >> {self._random.randrange(4)}));",
            f"v = (uint)whole({self._int()}) & {self._pick('7u', '255u')};",
        )

    def _mask(self) -> str:
        value, mask = self._int(), self._pick(*_MASKS)
        cast = self._pick("signed char", "unsigned char", "short", "unsigned short", "_Bool")
        return self._set(self._pick(
            f"({value} & {mask})", f"({value} | {mask})", f"({value} ^ {mask})", f"~{value}", f"({cast}){value}",
            f"(({value} & {mask}) == {self._random.randrange(2)})",
        ))  # fmt: skip

    def _shift(self) -> str:
        count = self._random.randrange(32)
        return self._set(self._pick(
            f"({self._int()} >> {count})", f"(int)((uint){self._int()} >> {self._random.randrange(12, 32)})",
            f"(({self._int()} & 15) << {count % 10})", f"(1 << (({self._int()}) & 7))", f"({self._int()} >> (b & 15))",
            f"(int)(v >> {count})",
        ))  # fmt: skip

    def _array(self) -> str:
        self._names += 1
        name, size = f"q{self._names}", self._random.randrange(2, 5)
        values = ", ".join(self._number() for _ in range(self._random.randrange(1, size + 1)))
        index = f"({self._int()} & 1)" if self._is_whole else str(self._random.randrange(size))
        loop = ("" if self._is_whole else '_Pragma("unroll") ') + f"for (int k = 0; k < {size}; k++)"
        kind = self._pick("int", "float")
        change = f"{name}[{index}] += {self._pick('3', 'c', f'{name}[0]')};"
        return f"{{ {kind} {name}[{size}] = {{{values}}}; {change} {loop} a = whole(a * 3 + (int){name}[k]); }}"

    def _table(self) -> str:
        self._names += 1
        values = ", ".join(self._number() for _ in range(5))
        name = f"q{self._names}"
        return f"{{ static const int {name}[5] = {{{values}}}; {self._set(f'{name}[(b & 3)] + {name}[c & 1]')} }}"

    def _wrapping(self) -> str:
        value, factor = self._int(), self._pick("1103515245", "123456789", "65537")
        return self._set(self._pick(
            f"(({value} * {factor} + 12345) & 0x7fffffff) >> {self._random.randrange(8, 24)}",
            f"(({value} * 46337) * ({value} * 46337) & 0x7fffffff) % 1009",
            f"({value} * {factor} < 0 ? 3 : 4)", f"({value} + 2147483647 > {value} ? 5 : 6)",
        ))  # fmt: skip

    def _checksum(self) -> str:
        polynomial, rounds = self._pick("0xEDB88320u", "0xA001u", "0x8Cu"), self._pick("8", "16", "32")
        return (
            f"for (int k = 0; k < {rounds}; k++) u = u & 1 ? (u >> 1) ^ {polynomial} : u >> 1; "
            "a = (int)(u & 511u); u &= 15u;"
        )

    def _discard(self) -> str:
        return self._pick(
            self._set(f"kept({self._int()}, {self._random.randrange(200, 900)})"),
            f"x = tame(known({self._pick(*_SPECIALS)}));",
            f"if ({self._condition()}) {self._set(f'kept({self._int()}, 300)')}",
            f"for (int k = 0; k < 5 && kept(b, 280) < k; k++) {self._set(self._int())}",
        )

    def _struct(self) -> str:
        self._names += 1
        name = f"s{self._names}"
        return (
            f"{{ struct pair {name} = {{whole({self._int()}), tame({self._float()})}}; {name} = turned({name}); "
            f"{name} = (struct pair){{{name}.n + 1, {name}.x}}; a = whole({name}.n + (int){name}.x); }}"
        )

    def _loop(self) -> str:
        self._names += 1
        name = f"i{self._names}"
        body = self._pick(self._set(f"{self._int()} + {name}"), self._use(self._condition()))
        leave = self._pick("", f"if ({self._condition()}) break; ", f"if ({self._condition()}) continue; ")
        end = self._pick("5", "(b & 7)", "(a & 3) + 1")
        return self._pick(
            f"for (int {name} = 0; {name} < {end}; {name}++) {{ {leave}{body} }}",
            f"for (uint {name} = 6; {name} > 1; {name} -= 2) {{ {leave}{body} }}",
            f"{{ int {name} = 0; while ({name}++ < 4 && {self._condition()}) {{ {leave}{body} }} }}",
        )

    def _switch(self) -> str:
        first = self._random.randrange(-2, 2)
        cases = " ".join(
            f"case {first + k}: {self._set(self._int())}{self._pick(' break;', '')}"
            for k in range(self._random.randrange(2, 6))
        )
        return f"switch ({self._pick(f'({self._int()} & 7)', self._int())}) {{ {cases} }}"

    def _quotient(self) -> str:
        by = self._pick("3", "-7", "8", "(int)(u + 1)", "(c * 2 + 1)", "1000")
        return self._set(f"({self._int()} * {self._pick('1', '11')}) {self._pick('/', '%')} {by}")
