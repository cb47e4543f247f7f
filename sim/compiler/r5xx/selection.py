"""Chooses operations for the instructions of the IR. Integers are floats, which is exact up to 2^24.

Conditions are differences that are compared with 0, computed where they are used.
"""

import math
import re
from collections.abc import Callable

from ctm.sim.compiler.ir.module import Instruction, Module, split, typed
from ctm.sim.compiler.r5xx.functions import FUNCTIONS
from ctm.sim.compiler.r5xx.operations import ALU_RESULT, Choice, Leave, Operand, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.structure import Body, Break, Copies, Flag, If, Loop, Straight
from ctm.sim.compiler.r5xx.values import BITS, ONE, ZERO, Condition, Unsupported, Values

_WORDS = 2.0**32
_COMPARISON = re.compile(r"[fi]cmp(?: (?:fast|nnan|ninf|nsz|samesign|reassoc|arcp|contract|afn))* (\w+) \w+ (.*)")
_TESTS = {
    "lt": ("<0", False, False), "gt": ("<0", True, False), "ge": (">=0", False, False), "le": (">=0", True, False),
    "eq": ("==0", False, False), "ne": ("!=0", False, False),
}  # fmt: skip
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def selected(module: Module, body: Body) -> Steps:
    """The operations of a kernel's body."""
    return _Selection(module).steps(body)


class _Selection(Values):
    def __init__(self, module: Module) -> None:
        super().__init__()
        self._module = module

    def steps(self, body: Body) -> Steps:
        """The operations of a body, in order."""
        outer, self.written = self.written, []
        for statement in body:
            if isinstance(statement, Straight):
                self._instruction(statement.instruction)
            elif isinstance(statement, Copies):
                self._copies(statement)
            elif isinstance(statement, Flag):
                self.add("MOV", statement.name, Operand(float(statement.value)))
            elif isinstance(statement, Break):
                self.written.append(Leave())
            elif isinstance(statement, Loop):
                self.written.append(self._repeat(statement))
            else:
                self._if(statement)
        found, self.written = self.written, outer
        return found

    def _if(self, statement: If) -> None:
        if statement.condition in ("true", "false"):
            chosen = statement.then if statement.condition == "true" else statement.otherwise
            self.written += self.steps(chosen)
            return
        condition = self.condition(statement.condition)
        flag = f"p.{statement.predicate}" if statement.predicate else ALU_RESULT
        self._test(condition, flag)
        then, otherwise = self.steps(statement.then), self.steps(statement.otherwise)
        is_inverted = condition.is_inverted
        if not then:
            then, otherwise, is_inverted = otherwise, then, not is_inverted
        if then:
            self.written.append(Choice(is_inverted, then, otherwise, flag))
        else:
            self.written.pop()

    def _repeat(self, statement: Loop) -> Repeat:
        body = self.steps(statement.body)
        until = next((step.condition for step in body if isinstance(step, Choice) and step.then == [Leave()]), "")
        return Repeat(body, statement.rounds, until if statement.predicate else "")

    def _test(self, condition: Condition, flag: str) -> None:
        is_plain = condition.right == ZERO
        operands = (condition.left,) if is_plain else (condition.left, -condition.right)
        name = "MOV" if is_plain else "ADD"
        self.written.append(Operation(name, (), operands, line=self.line, test=condition.test, flag=flag))

    def _copies(self, statement: Copies) -> None:
        """Copies that happen at once, one after the other."""
        waiting = []
        for target, text, _ in statement.values:
            if text not in ("poison", "undef"):
                source = self.operand(text)
                if source != Operand(target):
                    waiting.append((target, source))
        while waiting:
            free = next((pair for pair in waiting if not _is_needed(pair, waiting)), None)
            if free is None:
                # All of them wait for each other in rings.
                target, source = waiting[0]
                waiting[0] = target, self.new("MOV", source)
                continue
            waiting.remove(free)
            self.add("MOV", free[0], free[1])

    def _instruction(self, instruction: Instruction) -> None:
        location = self._module.location(instruction)
        self.line = location.line if location else self.line
        try:
            handler = _HANDLERS.get(instruction.opcode)
            if handler is None:
                raise Unsupported(f"what Clang makes of it, {instruction.opcode}, is nothing that a core can do")
            handler(self, instruction)
        except Unsupported as error:
            error.location = location
            raise

    def _result(self, instruction: Instruction, value: Operand) -> None:
        self.values[instruction.result] = value

    def _pair(self, instruction: Instruction) -> tuple[Operand, Operand]:
        words = split(instruction.text)
        return self.operand(words[0].split(" ")[-1]), self.operand(words[1])

    def arithmetic(self, instruction: Instruction) -> None:
        """Sums and products."""
        left, right = self._pair(instruction)
        kind = instruction.opcode.removeprefix("f")
        if kind == "sub":
            right = -right
        self.add("MUL" if kind == "mul" else "ADD", instruction.result, left, right)

    def quotient(self, instruction: Instruction) -> None:
        """A product with the reciprocal."""
        left, right = self._pair(instruction)
        reciprocal = self.new("RCP", right)
        self.add("MUL", instruction.result, left, reciprocal)

    def division(self, instruction: Instruction) -> None:
        """Of integers: not done."""
        kind = "quotient" if instruction.opcode.endswith("div") else "remainder"
        raise Unsupported(f"a {kind} of integers: R5xx cores have reciprocals of floats; write floor(a / b + 0.5f / b)")

    def negation(self, instruction: Instruction) -> None:
        """A modifier."""
        self._result(instruction, -self.operand(instruction.text.split(" ")[-1]))

    def comparison(self, instruction: Instruction) -> None:
        """Remembered until it is used."""
        found = _COMPARISON.fullmatch(instruction.text)
        assert found is not None, instruction.text
        kind = found[1]
        left, right = map(self.operand, split(found[2]))
        if kind in ("ord", "uno"):
            # The sum of two magnitudes is less than 0 to nobody, and no NaN is more.
            found_nan = Condition(abs(left), -abs(right), ">=0", kind == "uno")
            self.conditions[instruction.result] = found_nan
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
        self.conditions[instruction.result] = Condition(left, right, test, is_inverted)

    def _unsigned(self, value: Operand) -> Operand:
        """An integer for a comparison without sign: LLVM tests ranges so, and negative ones are large then."""
        if isinstance(value.value, float):
            return Operand(value.value % _WORDS)
        return self.new("CMP", value, self.new("ADD", value, Operand(_WORDS)), value)

    def selection(self, instruction: Instruction) -> None:
        """Of two values; of two conditions, which may be AND or OR."""
        (_, condition), (type_, yes), (_, no) = map(typed, split(re.sub(r"^select(?: [a-z]+)* i1 ", "i1 ",
                                                                        instruction.text)))  # fmt: skip
        if type_ == "i1" and no == "false":
            self.add("MUL", instruction.result, self.operand(condition), self.operand(yes))
        elif type_ == "i1" and yes == "true":
            self.add("MAX", instruction.result, self.operand(condition), self.operand(no))
        elif condition in self.conditions:
            self.chosen(self.conditions[condition], self.operand(yes), self.operand(no), instruction.result)
        else:
            operands = self.operand(yes), self.operand(no), self.operand(condition)
            self.add("CND", instruction.result, *operands)

    def logic(self, instruction: Instruction) -> None:
        """Of conditions; of integers what arithmetic can do."""
        left, right = self._pair(instruction)
        if " i1 " in instruction.text:
            if instruction.opcode == "xor" and right == ONE:
                found = self.conditions.get(split(instruction.text)[0].split(" ")[-1])
                if found:
                    self.conditions[instruction.result] = Condition(found.left, found.right, found.test,
                                                                     not found.is_inverted)  # fmt: skip
                    return
                self.add("ADD", instruction.result, ONE, -left)
            elif instruction.opcode == "xor":
                self._result(instruction, abs(self.new("ADD", left, -right)))
            else:
                self.add("MUL" if instruction.opcode == "and" else "MAX", instruction.result, left, right)
            return
        mask = right.value
        if instruction.opcode == "and" and isinstance(mask, float) and mask > 0 and math.log2(mask + 1).is_integer():
            self.remainder(instruction.result, left, mask + 1)
        elif instruction.opcode == "or" and "disjoint" in instruction.text:
            self.add("ADD", instruction.result, left, right)
        elif instruction.opcode == "xor" and mask == -1:
            # What LLVM makes of -1 - x.
            self.add("ADD", instruction.result, right, -left)
        else:
            raise Unsupported(BITS)

    def shift(self, instruction: Instruction) -> None:
        """By a number that is known: a product, and what is behind the point dropped."""
        value, by = self._pair(instruction)
        if not isinstance(by.value, float):
            raise Unsupported(BITS)
        if instruction.opcode == "shl":
            self.add("MUL", instruction.result, value, Operand(2.0**by.value))
        else:
            part = self.new("MUL", value, Operand(0.5**by.value))
            self.add("ADD", instruction.result, part, -self.new("FRC", part))

    def conversion(self, instruction: Instruction) -> None:
        """Between integers and floats: nothing, or what is behind the point dropped."""
        found = re.search(r"(\w+) (\S+) to (\w+)$", instruction.text)
        assert found is not None, instruction.text
        source, text, target = found.groups()
        value = self.operand(text)
        if "i64" in (source, target):
            raise Unsupported("integers of 64 bits: integers of R5xx cores are floats, exact up to 2^24")
        if instruction.opcode in ("fptosi", "fptoui"):
            whole = self.new("ADD", abs(value), -self.new("FRC", abs(value)))
            self.add("CMP", instruction.result, whole, -whole, value)
        elif instruction.opcode == "sext" and source == "i1":
            self._result(instruction, -value)
        elif instruction.opcode == "trunc" and target != "i1" or instruction.opcode == "bitcast":
            raise Unsupported(BITS)
        elif instruction.opcode == "trunc":
            self.remainder(instruction.result, value, 2.0)
        else:
            self._result(instruction, value)

    def insertion(self, instruction: Instruction) -> None:
        """An element of a vector that is an operand of a function."""
        (_, vector), (_, value), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        parts = list(self.vector(vector))
        parts[int(index)] = self.operand(value)
        self.vectors[instruction.result] = parts

    def extraction(self, instruction: Instruction) -> None:
        """An element of the result of a function."""
        (_, vector), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        self._result(instruction, self.vector(vector)[int(index)])

    def freezing(self, instruction: Instruction) -> None:
        """Nothing."""
        text = typed(instruction.text.split(" ", 1)[1])[1]
        if text in self.conditions:
            self.conditions[instruction.result] = self.conditions[text]
        else:
            self._result(instruction, self.operand(text))

    def memory(self, instruction: Instruction) -> None:
        """Not done."""
        if instruction.opcode != "alloca":
            problem = "a variable that is volatile, or that a pointer chooses: R5xx cores cannot choose a register"
            raise Unsupported(problem)

    def call(self, instruction: Instruction) -> None:
        """Functions of cores and of LLVM."""
        name, arguments = instruction.callee, instruction.arguments
        base = name.removeprefix("llvm.").split(".")[0]
        if name.startswith("llvm.") and base in _IGNORED:
            return
        function = FUNCTIONS.get(name if name.startswith("ctm.") else base)
        if function is None:
            raise Unsupported(f"{base}(): R5xx cores have no such function")
        function(self, instruction.result, arguments)


def _is_needed(pair: tuple[str, Operand], waiting: list[tuple[str, Operand]]) -> bool:
    """Whether another copy still reads what this one writes."""
    return any(other[1].variable == pair[0] for other in waiting if other != pair)


_IGNORED = ("lifetime", "assume", "experimental", "dbg")
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
    **dict.fromkeys(("alloca", "load", "store", "getelementptr"), _Selection.memory),
    "call": _Selection.call,
}
