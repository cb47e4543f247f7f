"""Chooses operations for the instructions of the IR. Integers are floats, which is exact up to 2^24.

Conditions are differences that are compared with 0, computed where they are used.
"""

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import Instruction, Module, split, typed
from ctm.sim.compiler.r5xx.operations import PIXEL, Choice, Constant, Leave, Operand, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.structure import Body, Break, Copies, Flag, If, Loop, Straight

ZERO, ONE, HALF = Operand(0.0), Operand(1.0), Operand(0.5)
_TURN = Operand(1 / (2 * math.pi))
"""Angles are in turns."""
_WORDS = 2.0**32
_COMPARISON = re.compile(r"[fi]cmp(?: (?:fast|nnan|ninf|nsz|samesign|reassoc|arcp|contract|afn))* (\w+) \w+ (.*)")
_TESTS = {
    "lt": ("<0", False, False), "gt": ("<0", True, False), "ge": (">=0", False, False), "le": (">=0", True, False),
    "eq": ("==0", False, False), "ne": ("!=0", False, False),
}  # fmt: skip
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


@dataclass(frozen=True)
class Condition:
    """A difference against 0. With `is_inverted` it holds where the test does not, NaNs included."""

    left: Operand
    right: Operand
    test: str
    is_inverted: bool = False


class Unsupported(Exception):  # noqa: N818 - it is no fault of the program
    """An instruction that a core cannot do; the message says why, and `location` where."""

    location: Location | None = None


def selected(module: Module, body: Body) -> Steps:
    """The operations of a kernel's body."""
    return _Selection(module).steps(body)


class _Selection:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._values: dict[str, Operand] = {}
        self._vectors: dict[str, list[Operand]] = {}
        self._conditions: dict[str, Condition] = {}
        self._numbers = count()
        self._steps: Steps = []
        self._line = 0

    def steps(self, body: Body) -> Steps:
        """The operations of a body, in order."""
        outer, self._steps = self._steps, []
        for statement in body:
            if isinstance(statement, Straight):
                self._instruction(statement.instruction)
            elif isinstance(statement, Copies):
                self._copies(statement)
            elif isinstance(statement, Flag):
                self._add("MOV", statement.name, Operand(float(statement.value)))
            elif isinstance(statement, Break):
                self._steps.append(Leave())
            elif isinstance(statement, Loop):
                self._steps.append(Repeat(self.steps(statement.body), statement.has_end))
            else:
                self._if(statement)
        found, self._steps = self._steps, outer
        return found

    def _if(self, statement: If) -> None:
        if statement.condition in ("true", "false"):
            chosen = statement.then if statement.condition == "true" else statement.otherwise
            self._steps += self.steps(chosen)
            return
        condition = self._condition(statement.condition)
        self._test(condition)
        then, otherwise = self.steps(statement.then), self.steps(statement.otherwise)
        is_inverted = condition.is_inverted
        if not then:
            then, otherwise, is_inverted = otherwise, then, not is_inverted
        if then:
            self._steps.append(Choice(is_inverted, then, otherwise))
        else:
            self._steps.pop()

    def _test(self, condition: Condition) -> None:
        is_plain = condition.right == ZERO
        operands = (condition.left,) if is_plain else (condition.left, -condition.right)
        self._steps.append(Operation("MOV" if is_plain else "ADD", (), operands, line=self._line, test=condition.test))

    def _condition(self, text: str) -> Condition:
        found = self._conditions.get(text)
        return found or Condition(self._values.get(text, Operand(text)), ZERO, "!=0")

    def _add(self, name: str, result: str, *operands: Operand) -> Operand:
        self._steps.append(Operation(name, (result,), operands, line=self._line))
        return Operand(result)

    def _new(self, name: str, *operands: Operand) -> Operand:
        return self._add(name, f"%-t.{next(self._numbers)}", *operands)

    def _operand(self, text: str) -> Operand:
        """A scalar's text."""
        if text in self._conditions:
            return self._chosen(self._conditions[text], ONE, ZERO)
        if text.startswith("%"):
            return self._values.get(text, Operand(text))
        if text in ("true", "false"):
            return Operand(float(text == "true"))
        if text in ("poison", "undef", "zeroinitializer"):
            return ZERO
        if text.startswith("0x"):
            return Operand(struct.unpack(">d", bytes.fromhex(text[2:]))[0])
        return Operand(float(text))

    def _chosen(self, condition: Condition, yes: Operand, no: Operand, result: str = "") -> Operand:
        """One of two values."""
        difference = condition.left
        if condition.right != ZERO:
            difference = self._new("ADD", condition.left, -condition.right)
        if condition.test in ("<0", "!=0"):
            yes, no = no, yes
        if condition.is_inverted:
            yes, no = no, yes
        if condition.test in ("==0", "!=0"):
            difference = -abs(difference)
        elif condition.test == "<0":
            # CMP takes a NaN for less than 0, MIN does not.
            difference = self._new("MIN", difference, ZERO)
        return self._add("CMP", result or f"%-t.{next(self._numbers)}", yes, no, difference)

    def _copies(self, statement: Copies) -> None:
        """Copies that happen at once, one after the other."""
        waiting = []
        for target, text, _ in statement.values:
            if text not in ("poison", "undef"):
                source = self._operand(text)
                if source != Operand(target):
                    waiting.append((target, source))
        while waiting:
            free = next((pair for pair in waiting if not _is_needed(pair, waiting)), None)
            if free is None:
                # All of them wait for each other in rings.
                target, source = waiting[0]
                waiting[0] = target, self._new("MOV", source)
                continue
            waiting.remove(free)
            self._add("MOV", free[0], free[1])

    def _instruction(self, instruction: Instruction) -> None:
        location = self._module.location(instruction)
        self._line = location.line if location else self._line
        try:
            handler = _HANDLERS.get(instruction.opcode)
            if handler is None:
                raise Unsupported(f"what Clang makes of it, {instruction.opcode}, is nothing that a core can do")
            handler(self, instruction)
        except Unsupported as error:
            error.location = location
            raise

    def _result(self, instruction: Instruction, value: Operand) -> None:
        self._values[instruction.result] = value

    def _pair(self, instruction: Instruction) -> tuple[Operand, Operand]:
        words = split(instruction.text)
        return self._operand(words[0].split(" ")[-1]), self._operand(words[1])

    def arithmetic(self, instruction: Instruction) -> None:
        """Sums and products."""
        left, right = self._pair(instruction)
        kind = instruction.opcode.removeprefix("f")
        if kind == "sub":
            right = -right
        self._add("MUL" if kind == "mul" else "ADD", instruction.result, left, right)

    def quotient(self, instruction: Instruction) -> None:
        """A product with the reciprocal."""
        left, right = self._pair(instruction)
        reciprocal = self._new("RCP", right)
        self._add("MUL", instruction.result, left, reciprocal)

    def division(self, instruction: Instruction) -> None:
        """Of integers: not done."""
        kind = "quotient" if instruction.opcode.endswith("div") else "remainder"
        raise Unsupported(f"a {kind} of integers: R5xx cores have reciprocals of floats; write floor(a / b + 0.5f / b)")

    def negation(self, instruction: Instruction) -> None:
        """A modifier."""
        self._result(instruction, -self._operand(instruction.text.split(" ")[-1]))

    def comparison(self, instruction: Instruction) -> None:
        """Remembered until it is used."""
        found = _COMPARISON.fullmatch(instruction.text)
        assert found is not None, instruction.text
        kind = found[1]
        left, right = map(self._operand, split(found[2]))
        if kind in ("ord", "uno"):
            # The sum of two magnitudes is less than 0 to nobody, and no NaN is more.
            found_nan = Condition(abs(left), -abs(right), ">=0", kind == "uno")
            self._conditions[instruction.result] = found_nan
            return
        if instruction.opcode == "icmp" and kind[0] == "u" and "samesign" not in instruction.text:
            left, right = self._unsigned(left), self._unsigned(right)
        is_inverted = instruction.opcode == "fcmp" and kind[0] == "u" and kind != "une"
        relation = kind[-2:]
        if is_inverted:
            relation = _OPPOSITE[relation]
        test, is_swapped, _ = _TESTS[relation]
        if is_swapped:
            left, right = right, left
        self._conditions[instruction.result] = Condition(left, right, test, is_inverted)

    def _unsigned(self, value: Operand) -> Operand:
        """An integer for a comparison without sign: LLVM tests ranges so, and negative ones are large then."""
        if isinstance(value.value, float):
            return Operand(value.value % _WORDS)
        return self._new("CMP", value, self._new("ADD", value, Operand(_WORDS)), value)

    def selection(self, instruction: Instruction) -> None:
        """Of two values; of two conditions, which may be AND or OR."""
        (_, condition), (type_, yes), (_, no) = map(typed, split(re.sub(r"^select(?: [a-z]+)* i1 ", "i1 ",
                                                                        instruction.text)))  # fmt: skip
        if type_ == "i1" and no == "false":
            self._add("MUL", instruction.result, self._operand(condition), self._operand(yes))
        elif type_ == "i1" and yes == "true":
            self._add("MAX", instruction.result, self._operand(condition), self._operand(no))
        elif condition in self._conditions:
            self._chosen(self._conditions[condition], self._operand(yes), self._operand(no), instruction.result)
        else:
            operands = self._operand(yes), self._operand(no), self._operand(condition)
            self._add("CND", instruction.result, *operands)

    def logic(self, instruction: Instruction) -> None:
        """Of conditions; of integers what arithmetic can do."""
        left, right = self._pair(instruction)
        if " i1 " in instruction.text:
            if instruction.opcode == "xor" and right == ONE:
                found = self._conditions.get(split(instruction.text)[0].split(" ")[-1])
                if found:
                    self._conditions[instruction.result] = Condition(found.left, found.right, found.test,
                                                                     not found.is_inverted)  # fmt: skip
                    return
                self._add("ADD", instruction.result, ONE, -left)
            elif instruction.opcode == "xor":
                self._result(instruction, abs(self._new("ADD", left, -right)))
            else:
                self._add("MUL" if instruction.opcode == "and" else "MAX", instruction.result, left, right)
            return
        mask = right.value
        if instruction.opcode == "and" and isinstance(mask, float) and mask > 0 and math.log2(mask + 1).is_integer():
            self._remainder(instruction.result, left, mask + 1)
        elif instruction.opcode == "or" and "disjoint" in instruction.text:
            self._add("ADD", instruction.result, left, right)
        else:
            raise Unsupported(_BITS)

    def _remainder(self, result: str, value: Operand, size: float) -> None:
        """What is left of an integer above multiples of a power of two."""
        part = self._new("FRC", self._new("MUL", value, Operand(1 / size)))
        self._add("MUL", result, part, Operand(size))

    def shift(self, instruction: Instruction) -> None:
        """By a number that is known: a product, and what is behind the point dropped."""
        value, by = self._pair(instruction)
        if not isinstance(by.value, float):
            raise Unsupported(_BITS)
        if instruction.opcode == "shl":
            self._add("MUL", instruction.result, value, Operand(2.0**by.value))
        else:
            part = self._new("MUL", value, Operand(0.5**by.value))
            self._add("ADD", instruction.result, part, -self._new("FRC", part))

    def _floor(self, result: str, value: Operand) -> None:
        """Exact: FRC of a number a little below 0 is not 1, so that it is asked for magnitudes only."""
        rest = self._new("FRC", abs(value))
        whole = self._new("ADD", abs(value), -rest)
        more = self._new("ADD", whole, self._new("CMP", ZERO, ONE, -rest))
        self._add("CMP", result, whole, -more, value)

    def conversion(self, instruction: Instruction) -> None:
        """Between integers and floats: nothing, or what is behind the point dropped."""
        found = re.search(r"(\w+) (\S+) to (\w+)$", instruction.text)
        assert found is not None, instruction.text
        source, text, target = found.groups()
        value = self._operand(text)
        if "i64" in (source, target):
            raise Unsupported("integers of 64 bits: integers of R5xx cores are floats, exact up to 2^24")
        if instruction.opcode in ("fptosi", "fptoui"):
            whole = self._new("ADD", abs(value), -self._new("FRC", abs(value)))
            self._add("CMP", instruction.result, whole, -whole, value)
        elif instruction.opcode == "sext" and source == "i1":
            self._result(instruction, -value)
        elif instruction.opcode == "trunc" and target != "i1" or instruction.opcode == "bitcast":
            raise Unsupported(_BITS)
        elif instruction.opcode == "trunc":
            self._remainder(instruction.result, value, 2.0)
        else:
            self._result(instruction, value)

    def insertion(self, instruction: Instruction) -> None:
        """An element of a vector that is an operand of a function."""
        (_, vector), (_, value), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        parts = list(self._vector(vector))
        parts[int(index)] = self._operand(value)
        self._vectors[instruction.result] = parts

    def _vector(self, text: str) -> list[Operand]:
        if text in self._vectors:
            return self._vectors[text]
        if text.startswith("<"):
            return [self._operand(typed(part)[1]) for part in split(text[1:-1])]
        if text.startswith("splat"):
            return [self._operand(typed(text[text.index("(") + 1 : -1])[1])] * 4
        return [ZERO] * 4

    def extraction(self, instruction: Instruction) -> None:
        """An element of the result of a function."""
        (_, vector), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        self._result(instruction, self._vector(vector)[int(index)])

    def freezing(self, instruction: Instruction) -> None:
        """Nothing."""
        text = typed(instruction.text.split(" ", 1)[1])[1]
        if text in self._conditions:
            self._conditions[instruction.result] = self._conditions[text]
        else:
            self._result(instruction, self._operand(text))

    def call(self, instruction: Instruction) -> None:
        """Functions of cores and of LLVM."""
        name, arguments = instruction.callee, instruction.arguments
        base = name.removeprefix("llvm.").split(".")[0]
        if name.startswith("llvm.") and base in _IGNORED:
            return
        function = _FUNCTIONS.get(name if name.startswith("ctm.") else base)
        if function is None:
            raise Unsupported(f"{base}(): R5xx cores have no such function")
        function(self, instruction.result, arguments)

    def function(self, name: str, result: str, arguments: list[str]) -> None:
        """One operation."""
        self._add(name, result, *map(self._operand, arguments))

    def rounding(self, name: str, result: str, arguments: list[str]) -> None:
        """Floor, ceil, trunc."""
        value = self._operand(arguments[0])
        if name == "floor":
            self._floor(result, value)
        elif name == "ceil":
            raised = f"%-t.{next(self._numbers)}"
            self._floor(raised, -value)
            self._values[result] = -Operand(raised)
        else:
            whole = self._new("ADD", abs(value), -self._new("FRC", abs(value)))
            self._add("CMP", result, whole, -whole, value)

    def root(self, name: str, result: str, arguments: list[str]) -> None:
        """A root is the reciprocal of its reciprocal, so that it is 0 for 0."""
        inverse = self._new("RSQ", self._operand(arguments[0]))
        self._add("RCP", result, inverse)

    def angle(self, name: str, result: str, arguments: list[str]) -> None:
        """Of angles in turns."""
        self._add(name, result, self._new("MUL", self._operand(arguments[0]), _TURN))

    def magnitude(self, name: str, result: str, arguments: list[str]) -> None:
        """A modifier."""
        self._values[result] = abs(self._operand(arguments[0]))

    def lookup(self, name: str, result: str, arguments: list[str]) -> None:
        """An element, from the place in two channels of one register."""
        place = [self._operand(text) for text in arguments[1:]]
        if [each for each in place if each.negative or each.absolute or not each.variable] or place != _PIXEL:
            place = [self._new("MOV", each) for each in place]
        results = tuple(f"{result}.{channel}" for channel in "rgba")
        self._vectors[result] = [Operand(each) for each in results]
        self._steps.append(
            Operation(
                "LOOKUP", results, tuple(place), line=self._line, number=int(arguments[0]), is_scaled=name == "texture"
            )
        )

    def constant(self, name: str, result: str, arguments: list[str]) -> None:
        """A constant's channels."""
        if not arguments[0].isdecimal():
            raise Unsupported("the number of a constant is computed: R5xx cores need it in the instruction")
        self._vectors[result] = [Operand(Constant(int(arguments[0]), channel)) for channel in range(4)]

    def output(self, name: str, result: str, arguments: list[str]) -> None:
        """All four channels."""
        values = tuple(self._vector(arguments[1]))
        self._steps.append(Operation("OUT", (), values, line=self._line, number=int(arguments[0])))

    def conditional(self, name: str, result: str, arguments: list[str]) -> None:
        """The conditional value."""
        self._steps.append(Operation("w", (), (self._operand(arguments[0]),), line=self._line))

    def discard(self, name: str, result: str, arguments: list[str]) -> None:
        """A lookup that kills where a channel is below 0."""
        self._steps.append(Operation("KILL", (), (self._new("MOV", Operand(-1.0)),), line=self._line))

    def dot(self, name: str, result: str, arguments: list[str]) -> None:
        """Products and sums; those with 0 are left out."""
        pairs = [pair for pair in zip(*map(self._vector, arguments), strict=True) if ZERO not in pair]
        if not pairs:
            self._values[result] = ZERO
            return
        found = self._new("MUL", *pairs[0]) if len(pairs) > 1 else self._add("MUL", result, *pairs[0])
        for number, pair in enumerate(pairs[1:], 2):
            target = result if number == len(pairs) else f"%-t.{next(self._numbers)}"
            found = self._add("MAD", target, *pair, found)

    def writing(self, name: str, result: str, arguments: list[str]) -> None:
        """Not done."""
        raise Unsupported("write(): only kernels for R700 cores write past the caches")


def _is_needed(pair: tuple[str, Operand], waiting: list[tuple[str, Operand]]) -> bool:
    """Whether another copy still reads what this one writes."""
    return any(other[1].variable == pair[0] for other in waiting if other != pair)


_BITS = "bits of a number: integers of R5xx cores are floats, which have none"
_PIXEL = [Operand(name) for name in PIXEL]
_IGNORED = ("lifetime", "assume", "experimental", "dbg")
_Function = Callable[[_Selection, str, list[str]], None]


def _named(method: Callable[[_Selection, str, str, list[str]], None], name: str) -> _Function:
    return lambda selection, result, arguments: method(selection, name, result, arguments)


_FUNCTIONS: dict[str, _Function] = {
    **{key: _named(_Selection.function, name) for key, name in {
        "fmuladd": "MAD", "minnum": "MIN", "maxnum": "MAX", "smin": "MIN", "smax": "MAX", "umin": "MIN",
        "umax": "MAX", "exp2": "EX2", "log2": "LN2", "ctm.inversesqrt": "RSQ",
    }.items()},
    **{key: _named(_Selection.rounding, key) for key in ("floor", "ceil", "trunc")},
    "fabs": _named(_Selection.magnitude, ""),
    "abs": _named(lambda selection, name, result, texts: selection.magnitude(name, result, texts[:1]), ""),
    "sqrt": _named(_Selection.root, ""),
    "sin": _named(_Selection.angle, "SIN"),
    "cos": _named(_Selection.angle, "COS"),
    "ctm.texel": _named(_Selection.lookup, "texel"),
    "ctm.texture": _named(_Selection.lookup, "texture"),
    "ctm.constant": _named(_Selection.constant, ""),
    "ctm.output": _named(_Selection.output, ""),
    "ctm.conditional": _named(_Selection.conditional, ""),
    "ctm.discard": _named(_Selection.discard, ""),
    "ctm.dot": _named(_Selection.dot, ""),
    "ctm.write": _named(_Selection.writing, ""),
}  # fmt: skip
_HANDLERS: dict[str, Callable[[_Selection, Instruction], None]] = {
    **dict.fromkeys(("fadd", "fsub", "fmul", "add", "sub", "mul"), _Selection.arithmetic),
    "fdiv": _Selection.quotient,
    "fneg": _Selection.negation,
    **dict.fromkeys(("fcmp", "icmp"), _Selection.comparison),
    "select": _Selection.selection,
    **dict.fromkeys(("and", "or", "xor"), _Selection.logic),
    **dict.fromkeys(("shl", "lshr", "ashr"), _Selection.shift),
    **dict.fromkeys(
        ("fptosi", "fptoui", "sitofp", "uitofp", "zext", "sext", "trunc", "bitcast"), _Selection.conversion
    ),
    **dict.fromkeys(("sdiv", "udiv", "srem", "urem"), _Selection.division),
    "insertelement": _Selection.insertion,
    "extractelement": _Selection.extraction,
    "freeze": _Selection.freezing,
    "call": _Selection.call,
}
