"""Random kernels in Python of what a translation to C gets wrong, by construct.

Whole numbers stay below 2^24 and floats are small multiples of 1/8, so that every core and plain Python compute the
same. What goes beyond that on purpose (NaN, infinities, the largest numbers) is compared, chosen or rounded, and tamed.
Quotients by numbers like 0.1, and powers, have more digits in plain Python: they are results, and nothing uses them.
"""

from collections.abc import Callable

from ctm.tb.compiler.python.construct_expressions import COMPARISONS, FLOATS, INTS, SPECIALS, Expressions

_PARAMETERS = ("coordinate", "pixel", "t0", "argument0", "kernel", "v_coordinate", "output")
_NAMES = (
    "pixel", "argument0", "argument1", "v_a", "v_x", "t0", "t1", "t2", "kernel", "constant", "output", "register",
    "union", "int32", "x_y", "x_5f_y", "\u00e9", "\u00e8", "\u00ea", "\u0e91", "e9", "_e9_",
    "struct", "double", "r0", "dropped",
)  # fmt: skip
_MASKS = ("0", "1", "3", "7", "15", "255", "4095", "-1", "-2", "-8", "-256", "4", "6", "0x55", "~5", "0x7ff0")
_WIDE_MASKS = ("0x7fffffff", "-2147483648", "0x7ffffffe", "-16777217", "b", "(c * 77777)")


class ConstructKernel(Expressions):
    """Writes one kernel; the same seed gives the same text. `is_whole` is for cores that have integers and addresses.

    After `text` the names of the constructs in it are in `constructs`.
    """

    def __init__(self, seed: int, *, is_whole: bool) -> None:
        super().__init__(seed)
        self.constructs: set[str] = set()
        self._is_whole = is_whole
        self._parameter = self._pick(*_PARAMETERS)
        self._makers: dict[str, Callable[[], list[str]]] = {
            "range": self._range, "pair of equalities": self._equalities, "truth as number": self._truth,
            "special value": self._special, "int and uint": self._unsigned, "mask": self._mask, "shift": self._shift,
            "list": self._list, "discard in function": self._discard, "tuple": self._tuple, "loop": self._loop,
            "quotient": self._quotient, "float quotient": self._float_quotient, "power": self._power,
            "table": self._table, "name": self._name, "call": self._call, "choice": self._choice,
            "vector": self._vector, "early return": self._return,
        }  # fmt: skip
        if is_whole:
            self._makers |= {"product that wraps": self._wrapping, "checksum": self._checksum}

    def text(self, name: str) -> str:
        """The definition of the kernel, without what stands once in a file."""
        count = self._random.choice((3, 3, 3, 4, 5))
        lines = [
            f"t, s, f = {', '.join(f'texel({name}, {self._parameter})' for name in ('picture', 'special', 'fine'))}",
            f"a, b, c = int(t.z), int(t.w), {self._parameter}.x - 3",
            f"u, v = uint({self._parameter}.y), uint({self._parameter}.x * 5)",
            "x, y, z, w, m, d = t.x, t.y, s.x, s.y, f.x, f.y",
            "q = r = o = 0.0",
            *(line for _ in range(count) for line in self._statement()),
            "return ivec4(a, b, c, int(u + v)), vec4(x, y, z, w), vec2(q, r), o",
        ]
        head = f"def {name}({self._parameter}: ivec2, picture: Image, special: Image, fine: Image):"
        return "\n\n@ctm.kernel\n" + "\n    ".join([head, *lines]) + "\n"

    def _statement(self) -> list[str]:
        name = self._pick(*self._makers)
        self.constructs.add(name)
        lines = self._makers[name]()
        if self._random.random() < 0.15:
            return [f"if {self._condition()}:", *(f"    {line}" for line in lines)]
        return lines

    def _range(self) -> list[str]:
        """In or out of a range, negated or not."""
        value = self._pick(self._int(), self._float(), *SPECIALS)
        low, high = sorted(self._random.sample(range(-9, 30), 2))
        less, more = self._pick("<", "<="), self._pick("<", "<=")
        inside = f"{low} {less} {value} {more} {high}"
        chain = f"{inside} {self._pick('>', '!=', '==')} {self._pick(*INTS)}"
        both = f"({low} {less} {value} and {value} {more} {high})"
        outside = f"({value} {less} {low} or {value} {self._pick('>', '>=')} {high})"
        return self._use(self._pick(
            inside, f"not {inside}", f"(not {inside})", chain, f"not {chain}", both, f"not {both}", outside,
            f"not {outside}", f"({inside}) == {self._condition()}", f"{value} < {low} < {self._int()}",
        ))  # fmt: skip

    def _equalities(self) -> list[str]:
        value, numbers = self._int(), self._random.sample(range(-4, 8), self._random.randrange(2, 5))
        unequal = " and ".join(f"{value} != {number}" for number in numbers)
        equal = " or ".join(f"{value} == {number}" for number in numbers)
        chain = f"{numbers[0]} != {value} != {numbers[1]}"
        return self._use(self._pick(unequal, equal, f"not ({equal})", f"not ({unequal})", chain, f"not {chain}"))

    def _truth(self) -> list[str]:
        one, two = self._condition(), self._condition()
        if self._random.random() < 0.2:
            name = self._new("q")
            other = self._pick(f"{two} and not {name}", f"not {name} or {two}", f"{name} != {two}")
            return [
                f"{name} = {one}", f"{name} = {other}",
                *self._use(self._pick(name, f"not {name}", f"{name} == {two}")), self._set(f"{self._int()} + {name}"),
            ]  # fmt: skip
        if self._random.random() < 0.3:
            return [self._set_float(self._pick(
                f"{self._float()} * {self._pick(one, f'-{one}', f'float({one})')}", f"{one} / 2", f"{one} - 0.5",
                f"max({one}, {self._float()})",
            ))]  # fmt: skip
        return [self._set(self._pick(
            f"{one} - {two}", f"-{one}", f"{one} - 1", f"{one} * {self._number()} + {two}", f"({one} & {two})",
            f"({one} | {two})", f"({one} ^ {two})", f"{one} == {two}", f"{one} < {two}", f"~{one}",
            f"{one} {self._pick(*COMPARISONS)} {self._pick('c', 'x')}",
            f"({self._int()} & 255) << {one}", f"(not {one}) + {two}", f"{self._int()} & {one}",
            f"{self._int()} * True", f"True + {one} + {two}", f"{one} ** 2", f"min({one}, {two}, 1) - {one}",
            *[f"bool({self._pick(*FLOATS)}) * 3 - {one}"] * 2, f"int({one}) + bool({self._pick(*INTS, *SPECIALS)})",
            f"{one} // 1 + {two} % 2", f"abs(-{one})",
        ))]  # fmt: skip

    def _special(self) -> list[str]:
        one = self._pick(*SPECIALS)
        two, three = (self._pick(*SPECIALS, "x", "1.0", "2", "-math.inf", "math.nan") for _ in range(2))
        if self._random.random() < 0.4:
            both = f"({one} {self._pick('<', '<=')} {two} or {one} {self._pick('>', '>=')} {two})"
            return self._use(self._pick(
                self._condition(), f"not {self._condition()}", both, f"not {both}", f"{one} != {one}", f"not {one}",
                f"abs({one}) < math.inf", f"{one} == {two}", f"not {two} < {one} < {three}", f"not {one} == {one}",
            ))  # fmt: skip
        function = self._pick("floor", "ceil", "trunc", "rint", "abs", "sign", "-")
        extreme = self._pick("min", "max")
        value = self._pick(
            f"{function}({one})", f"{extreme}({one}, {two})", f"{extreme}({two}, {one})", f"clamp({one}, {two}, 2.0)",
            *[f"{extreme}({two}, {one}, {three})"] * 3, f"{extreme}({one}, {two}, {three})",
            f"clamp({two}, {one}, {three})",
            f"{one} if {one} {self._pick(*COMPARISONS)} {two} else {two}", f"step({one}, {two})",
            f"{one} and {self._pick(*SPECIALS)}", f"{one} or {self._pick(*SPECIALS)}",
        )  # fmt: skip
        round_ = self._pick("int", "math.floor", "math.ceil", "round")
        rounded = self._set(f"{round_}(tame({one}))")
        return [self._pick(f"{self._pick(*SPECIALS)} = {value}", f"x = tame({value})", rounded)]

    def _unsigned(self) -> list[str]:
        one, two = self._int(), self._pick("u", "v")
        compare = self._pick(*COMPARISONS)
        either = f"({one} if {self._condition()} else {self._pick(two, two, '-2147483648', '3000000000')})"
        if self._random.random() < 0.5:
            return self._use(self._pick(
                f"{one} {compare} {two}", f"{two} {compare} {one}", f"uint({one}) {compare} {two}",
                f"uint({one}) {compare} 4294967290", f"{one} {compare} 3000000000", f"{one} {compare} -2147483648",
                f"{one} > max({self._int()}, -2147483648)", f"{either} {compare} {self._pick(one, two, '-1')}",
                f"{one} < {two} != {self._int()}", f"(u - v) {compare} {self._pick('7', one)}",
            ))  # fmt: skip
        return [self._pick(
            *[self._set(f"int({self._pick('min', 'max')}({one}, {two}))")] * 3, f"v = max({one}, {two}) & 255",
            self._set(f"int({self._pick('min', 'max')}({self._number()}, {two}, {one}))"),
            self._set(f"int({one} if {self._condition()} else {two})"), self._set(f"int(clamp({one}, 0, {two}))"),
            self._set_float(f"({one} if {self._condition()} else {two}) * 0.5"),
            f"u = ({two} {self._pick('+', '*')} {self._pick('u', '3', 'v', 'True')}) % 509",
            self._set("int((u - v) & 255)"), self._set_float(f"{two} / 8 - {self._float()}"),
            f"v = uint(whole({one})) & {self._pick('7', '255')}",
        )]  # fmt: skip

    def _mask(self) -> list[str]:
        value, mask = self._int(), self._pick(*_MASKS, *(_WIDE_MASKS if self._is_whole else ()))
        if self._random.random() < 0.3:
            return self._use(f"({value} & {self._pick('1', '3', '4')}) == {self._random.randrange(3)}")
        return [self._pick(
            *(self._set(f"({value} {symbol} {mask})") for symbol in "&|^"), self._set(f"~{value}"),
            f"u = (u {self._pick('&', '|', '^')} {self._pick('0', '1', '6', '255')}) & 255",
        )]  # fmt: skip

    def _shift(self) -> list[str]:
        value, count = self._int(), self._pick("0", "1", "7", "23", "30", "31", "32", "40")
        computed = self._pick("(b & 15)", "(abs(c) * 9)", "u", "(30 + abs(c) % 4)")
        forms = [
            f"({value} >> {count})", f"({value} & 15) << {self._random.randrange(10)}", f"1 << ({value} & 7)",
            f"({value} >> {self._pick('(b & 15)', '(abs(c) * 9)', '(c > 0)')})", f"int(v >> {count})",
            f"int(v >> {computed})", f"(c > 0) << {self._random.randrange(8)}", f"{value} >> (b & 31)",
        ]  # fmt: skip
        if self._is_whole:
            forms += [
                f"(({value} << {count}) & 0x7fffffff) >> {count}", f"int((u << {count}) >> {self._pick('3', '28')})",
                f"int((v << {computed}) >> 3) & 0xffff", f"(({value} << (b & 31)) & 0x7fffffff) >> 9",
                f"int(({value} & 0x80000000) >> 28)", f"-2147483648 >> {computed}",
            ]  # fmt: skip
        return [self._set(self._pick(*forms))]

    def _list(self) -> list[str]:
        """Indices are computed where cores have addresses, and constant where they have not."""
        name, counter, size = self._new("q"), self._new("k"), self._random.randrange(2, 5)
        values = ", ".join(self._pick(self._literal(), *INTS) for _ in range(size))
        index = self._pick("({} & 1)", "-1 - ({} & 1)").format(self._int()) if self._is_whole else str(size - 1)
        rounds = f"range({size})" if self._is_whole else f"unroll(range({size}))"
        return [
            f"{name} = {self._pick(f'[{values}]', f'[{self._literal()}] * {size}')}",
            f"{name}[{index}] {self._pick('+=', '=', '-=')} {self._pick('3', 'c', f'{name}[0]', f'{name}[-1] - 1')}",
            *self._random.sample([f"{name}[0], {name}[1] = {name}[1], {name}[0]"], self._random.randrange(2)),
            f"for {counter} in {rounds}:", f"    a = whole(a * 3 + {name}[{counter}])",
        ]  # fmt: skip

    def _vector(self) -> list[str]:
        name, one, two, number = self._new("q"), self._int(), self._int(), self._number()
        axis = self._pick("x", "y")
        return self._one_of(
            [f"{name} = vec3(x, {one}, {number})", f"{name} = vec3({name}.zy, {name}.x) * 2 - {name}",
             self._set_float(f"{name}.{self._pick('x', 'y', 'z')} / 4"), self._set(f"int({name}[{two} % 3] // 1)")],
            [f"{name} = ivec2({one}, {two})", f"{name} = {name}.yx * {number} + {name}", f"a, b = {name}",
             "a, b = whole(a), whole(b)", self._set(f"{name}[{self._int()} & 1] - {name}.x")],
            [self._set_float(f"dot(vec2(x, {one}), vec2(y, {number})) / 64"), f"y = tame((vec2(y, x) / 2).{axis})"],
            [self._set(f"int((uvec2(u, v) + {self._pick('3', 'u')}).y) - int(abs(vec2({one}, c)).{axis})")],
            [f"x = tame(texel(picture, {one}, {self._float()}).{axis})", "y = texel(picture, vec2(x, y)).yx.x"],
            [self._set_float(f"(ivec2({one}, c) / 8 + vec2(x, {number})).{axis}")],
            [self._set(f"(ivec2({one}, b) ** 2).x - (-ivec2(c, a)).y"),
             self._set_float(f"clamp(vec2(x, {one}), -2, 3).{axis}")],
        )  # fmt: skip

    def _return(self) -> list[str]:
        """The kernel ends here; in a loop, perhaps."""
        results = self._pick("q, r", "r, q")
        end = (
            f"return ivec4(c, {self._pick(*INTS)}, b, 1), vec4(y, x, {self._pick('z, w', 'w, z')}), vec2({results}), o"
        )
        counter, condition = self._new("k"), self._condition()
        return self._one_of(
            [f"if {condition} and {self._condition()}:", f"    {end}"],
            [f"for {counter} in range({self._pick('3', '(b & 3)')}):", f"    if {condition}:", f"        {end}",
             f"    {self._set(f'{self._int()} + {counter}')}"],
        )  # fmt: skip

    def _table(self) -> list[str]:
        index, few = self._int(), self._pick("-1 - ({} & 1)", "({} & 1)", "({} > 3)").format(self._int())
        return [self._pick(
            self._set(f"PRIMES[{index} % 5] + PRIMES[{few}]"), f"b, x = PAIRS[{index} % 4]",
            self._set_float(f"WEIGHTS[{index} & 3] * WEIGHTS[{few}]"),
            self._set(f"PAIRS[{few}][0] - PRIMES[-1 - ({index} & 3)]"),
            self._set(f"({self._int()}, {self._int()}, {self._number()})[{index} % 3]"),
            self._set_float(f"(({self._int()}, x), ({self._int()}, y))[{few}][{self._pick('0', '1')}]"),
            self._set(f"vec3(c, x, {self._number()})[{index} % 3] > 1"),
        )]  # fmt: skip

    def _tuple(self) -> list[str]:
        name, other = self._new("q"), self._new("q")
        one, two = self._int(), self._int()
        kind = self._random.randrange(5)
        if kind == 0:
            return [f"a, b, c = b, c, whole({one})", "x, (y, a) = y, (x, b)"]
        if kind == 1:
            return [
                f"{name} = (({one}, x), (y, {two}))",
                f"{name} = (({name}[1][1], {name}[1][0]), ({name}[0][1], {name}[0][0] + 1))",
                f"(a, x), {other} = {name}", f"b, y = whole({other}[1] - a), tame({other}[0])", "a = whole(a)",
            ]  # fmt: skip
        if kind == 2:
            return [f"{name} = turned({one}, x)", f"{name} = turned({name}[1] + 1, {name}[0])",
                    f"x, a = tame({name}[0]), whole({name}[1])"]  # fmt: skip
        if kind == 3:
            counter = self._new("k")
            return [
                f"{name} = ({one}, {two})", f"for {counter} in range(3):", f"    if {self._condition()}:",
                f"        {name} = ({name}[1], {name}[0] - {counter})", f"b = whole({name}[0] * 3 + {name}[1])",
            ]  # fmt: skip
        return [
            f"{name} = a, {two}", f"{name} = {name}[1], {name}[0]", f"{other} = {name}",
            f"{name} = {name}[1] + 1, {other}[0]", f"a = whole({name}[0] - 2 * {other}[1] + {name}[1])",
        ]  # fmt: skip

    def _discard(self) -> list[str]:
        counter, call = (
            self._new("k"),
            self._pick("kept({})", "deep({})", "kept({}, 420)", "pair({})[1]", *["climbing({})"] * 2),
        )
        call = call.format(self._int())
        condition = f"{self._condition()} {self._pick('and', 'or')} {call} {self._pick(*COMPARISONS)} {self._number()}"
        return self._one_of(
            [self._set(call)], [f"x = tame(known({self._pick(*SPECIALS)}) + 1)"], self._use(condition),
            [self._set(f"{call} if {self._condition()} else {self._int()}")],
            [self._set(f"{self._int()} if {self._condition()} else {call}")],
            [f"if {self._condition()}:", f"    {self._set(call)}"], [f"b, a = pair({self._int()})", "a = whole(a)"],
            [f"{counter} = 0", f"while {counter} < 4 and {call} < 9:", f"    {counter} += 1",
             f"    {self._set(self._int())}"],
            [self._set(f"{self._pick(*INTS)} {self._pick('and', 'or')} {call}")],
            [self._set(f"{self._number()} < {self._int()} < {call}")],
        )  # fmt: skip

    def _loop(self) -> list[str]:
        """Loops of all kinds; a counter has its last value after them."""
        name, end = self._new("i"), self._pick("5", "(b & 7)", "(a & 3) + 1", "-2")
        leave = self._pick("pass", f"if {self._condition()}: {self._pick('break', 'continue')}")
        body = self._one_of([self._set(f"{self._int()} + {name}")], self._use(self._condition()))
        first, step = self._pick("0", "1", "-3", "(c & 3)"), self._pick("1", "2", "3")
        lines = [f"    {line}" for line in (leave, *body)]
        return [
            f"{name} = {self._literal()}",
            *self._one_of(
                [f"for {name} in range({first}, {end}, {step}):"],
                [f"for {name} in range({end}, {first}, -{step}):"],
                [f"for {name} in unroll(range({self._random.randrange(1, 4)})):"],
                [f"while {name} < 31 and {self._condition()}:", f"    {name} += 7"],
                ["while True:", f"    {name} += 9", f"    if {name} > 29 or {self._condition()}:", "        break"],
            ),
            *lines, self._set(f"{name} + {self._int()}"),
        ]  # fmt: skip

    def _quotient(self) -> list[str]:
        by = self._pick("3", "-7", "8", "-1", "(c * 2 + 1)", "1000", f"(abs({self._int()}) + 1)", "-16")
        value = f"({self._int()} * {self._pick('1', '11', '-5')})"
        return self._one_of(
            [self._set(f"{value} {self._pick('//', '%')} {by}")],
            [f"a, b = divmod({value}, {by})", "a = whole(a)", "b = whole(b)"],
            [self._set(f"int(v {self._pick('//', '%')} {self._pick('3', '10', '(u + 1)')})")],
        )  # fmt: skip

    def _float_quotient(self) -> list[str]:
        by = self._pick("2", "0.5", "-3.0", "0.75", "-8", "1.0", "(y + 0.0625)", "(c + 0.5)", "64.0")
        value, symbol = self._float(), self._pick("//", "%")
        return self._one_of(
            [self._set_float(f"{value} {symbol} {by}")], [f"x, y = divmod({value}, {by})", "x, y = tame(x), tame(y)"],
            [self._set(f"int({value} // 0.5)")], [self._set_float(f"mod({value}, {by})")],
            *[[f"{self._pick('q', 'r')} = m {symbol} {self._pick('d', 'd', 'TENTH', '-TENTH', '1.0', by)}"]] * 4,
            ["q, r = divmod(m, d)"],
        )  # fmt: skip

    def _power(self) -> list[str]:
        """Of floats with any known exponent, of fractions where nothing is negative; of numbers that stay small."""
        draw = self._random
        exponent = self._pick(*map(str, range(18)), "2.0", "3.0")
        half = f"{draw.randrange(-7, 8)}{self._pick('.5', '.0', '')}"
        return [self._pick(
            f"o = {self._float()} ** {exponent}", f"o = (y + 0.0625) ** -{draw.randrange(1, 18)}",
            f"o = (abs(x) + 0.5) ** {half}", f"o = (abs(y) + 0.5) ** {self._pick('0.7', '-1.3', '0.1')}",
            "o = (abs(x) + 0.5) ** (y / 8)", f"o = {self._pick('2.0', '-1.5', '1')} ** float(c)",
            f"o = {self._pick(*SPECIALS)} ** {draw.randrange(4)}", f"o = math.pow(x, {draw.randrange(5)})",
            *[self._set(f"({self._int()} % 7 - 3) ** {draw.randrange(15)}")] * 4,
            self._set(f"int((u % 4) ** {draw.randrange(12)})"), self._set(f"pow(c % 9 - 4, {draw.randrange(7)})"),
            self._set_float(f"{self._pick('x', '(x * 8)')} ** {self._pick('0', '1', '2', '2.0')}"),
        )]  # fmt: skip

    def _name(self) -> list[str]:
        """Names that mean something in C or in the translation."""
        one, two, three = self._random.sample([name for name in _NAMES if name != self._parameter], 3)
        call = self._pick(f"auto({one}, {two})", f"auto({three}, {one}, {two} & 3)", f"ctm_min({two}, {three})")
        return [
            f"{one} = {self._int()}", f"{two}, {three} = {self._int()}, {one} - {self._number()}",
            *self._one_of([], [f"{two}, {three} = v_argument0({three}, {two})"]),
            *self._one_of(
                [self._set(f"{one} - 2 * {two} + 3 * {three}")], [self._set(call)],
                [f"if {one} < {two}:", f"    {one}, {three} = {two}, {one}", self._set(f"{one} + 3 * {three}")],
            ),
        ]  # fmt: skip

    def _call(self) -> list[str]:
        number, value = self._int(), self._pick(self._float(), *INTS, "True")
        return [self._pick(
            self._set_float(f"{self._pick('min', 'max')}({number}, {value}, x)"), f"a, y = searched({number}, y)",
            self._set_float(f"blend({value})"), self._set_float(f"blend({value}, {self._pick(*FLOATS, *INTS)})"),
            self._set_float(f"blend({value}, y, {self._pick('3', '-0.5', 'a')})"),
            self._set(f"kept({number} % 300)"), self._set(f"between({number}, {value}) + between(x, 2, {number})"),
            self._set_float(f"blend(blend(x), blend(y, {number}))"), self._set(f"auto({number}, 2, auto(3, a & 7))"),
        )]  # fmt: skip

    def _choice(self) -> list[str]:
        one, two = self._int(), self._int()
        chosen = f"{one} if {self._condition()} else {two}"
        joint = self._pick("and", "or")
        return [self._pick(
            self._set(f"{one} {joint} {two}"), self._set(f"({one} and {two}) or {self._literal()}"),
            self._set(f"({chosen}) {joint} {one}"), self._set(f"{one} if {self._condition()} else {chosen}"),
            self._set_float(f"x {joint} {self._pick('y', '1.5')}"),
            self._set_float(f"x if {self._condition()} else {one}"),
            self._set(f"({chosen}) * ({self._condition()} {joint} {self._condition()})"),
            self._set(f"{one} if {one} {joint} not {two} else 3"),
            self._set(f"{one} if {self._pick('x', 'not x', 'a', 'not b', 'c % 2', 'u', 'z')} else {two}"),
            self._set_float(f"({chosen}) / 8 if a else y"),
        )]  # fmt: skip

    def _wrapping(self) -> list[str]:
        value, factor = self._int(), self._pick("1103515245", "123456789", "65537")
        return [self._set(self._pick(
            f"(({value} * {factor} + 12345) & 0x7fffffff) >> {self._random.randrange(8, 24)}",
            f"(({value} * 46337) * ({value} * 46337) & 0x7fffffff) % 1009",
            f"int(uint({value}) * {factor} >> {self._random.randrange(8, 31)}) & 0xffff",
            f"int(uint({value}) * {factor} % 1009)",
        ))]  # fmt: skip

    def _checksum(self) -> list[str]:
        polynomial, rounds = self._pick("0xEDB88320", "0xA001", "0x8C"), self._pick("8", "16", "32")
        return [
            f"for {self._new('k')} in range({rounds}):",
            f"    u = (u >> 1) ^ {polynomial} if u & 1 else u >> 1",
            "a = int(u & 511)", "u &= 15",
        ]  # fmt: skip
