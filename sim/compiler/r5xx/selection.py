"""Chooses operations for the instructions of the IR, in which integers are floats already.

Conditions are differences that are compared with 0, computed where they are used. What integers there still are come
from truths, or from arrays that LLVM could promote to registers only at last: they are floats, too, and only handed on.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.module import Instruction, Module, split, typed
from ctm.sim.compiler.r5xx.comparisons import compared, extreme
from ctm.sim.compiler.r5xx.functions import FUNCTIONS, Call
from ctm.sim.compiler.r5xx.integers.reasons import reason
from ctm.sim.compiler.r5xx.operations import ALU_RESULT, Choice, Leave, Operand, Operation, Repeat, Steps
from ctm.sim.compiler.r5xx.structure import Body, Break, Copies, Flag, If, Loop, Straight
from ctm.sim.compiler.r5xx.values import ONE, ZERO, Condition, Unsupported, Values
from ctm.sim.elf.lines import Line

_COMPARISON = re.compile(r"[fi]cmp((?: (?:fast|nnan|ninf|nsz|samesign|reassoc|arcp|contract|afn))*) (\w+) (\w+) (.*)")
_ORDINARY = ("nnan", "ninf")
"""LLVM's flags of what is neither NaN nor infinite."""
_SIGNED = {"eq": "oeq", "ne": "one", "slt": "olt", "sle": "ole", "sgt": "ogt", "sge": "oge"}


def selected(module: Module, heads: Mapping[str, Location], body: Body) -> Steps:
    """The operations of a kernel's body; `heads` are the locations of its loops by their first blocks."""
    return _Selection(module, heads).steps(body)


class _Selection(Values):
    def __init__(self, module: Module, heads: Mapping[str, Location]) -> None:
        super().__init__()
        self._module = module
        self._heads = heads
        self._lines: dict[str, Line | None] = {}
        """The line of each instruction that has been looked at."""
        self._compared: dict[str, tuple[str, Operand, Operand]] = {}

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
                self._lines[statement.name] = self.line
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
        line = self.line = self._lines.get(statement.condition, self.line)
        flag = f"p.{statement.predicate}" if statement.predicate else ALU_RESULT
        self._test(condition, flag)
        then, otherwise = self.steps(statement.then), self.steps(statement.otherwise)
        is_inverted = condition.is_inverted
        if not then:
            then, otherwise, is_inverted = otherwise, then, not is_inverted
        if then:
            self.written.append(Choice(is_inverted, then, otherwise, flag, line))
        else:
            self.written.pop()

    def _repeat(self, statement: Loop) -> Repeat:
        head = self._heads.get(statement.head)
        line = Line(head.file, head.line) if head else self.line
        body = self.steps(statement.body)
        until = next((step.condition for step in body if isinstance(step, Choice) and step.then == [Leave()]), "")
        return Repeat(body, statement.rounds, until if statement.predicate else "", line)

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
        self.line = Line(location.file, location.line) if location else self.line
        self._lines[instruction.result] = self.line
        try:
            handler = _HANDLERS.get(instruction.opcode)
            (handler or _Selection.other)(self, instruction)
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
        if left == ONE:
            self.add("RCP", instruction.result, right)
        else:
            self.add("MUL", instruction.result, left, self.new("RCP", right))

    def negation(self, instruction: Instruction) -> None:
        """A modifier."""
        self._result(instruction, -self.operand(instruction.text.split(" ")[-1]))

    def comparison(self, instruction: Instruction) -> None:
        """Remembered until it is used."""
        found = _COMPARISON.fullmatch(instruction.text)
        assert found is not None, instruction.text
        flags, kind, type_, operands = found.groups()
        left, right = map(self.operand, split(operands))
        is_ordinary = instruction.opcode == "icmp" or all(flag in flags for flag in _ORDINARY)
        if instruction.opcode == "icmp":
            kind = self._of_integers(kind, type_)
        self._compared[instruction.result] = kind, left, right
        self.conditions[instruction.result] = compared(self, kind, left, right, is_ordinary=is_ordinary)

    def _of_integers(self, kind: str, type_: str) -> str:
        """A comparison of integers as one of floats: of truths, which are 0 or 1, without sign."""
        unsigned = _SIGNED.get(kind.replace("u", "s", 1)) if type_ == "i1" and kind[0] == "u" else None
        if type_ == "i1" and kind[0] == "s" or (kind not in _SIGNED and unsigned is None):
            raise Unsupported(f"what Clang makes of it, a comparison {kind} of {type_}, is nothing that a core can do")
        return unsigned or _SIGNED[kind]

    def selection(self, instruction: Instruction) -> None:
        """Of two values; of two conditions, which may be AND or OR."""
        text = re.sub(r"^select(?: [a-z]+)* i1 ", "i1 ", instruction.text)
        (_, condition), (type_, yes), (_, no) = map(typed, split(text))
        values = self.operand(yes), self.operand(no)
        least = extreme(*self._compared[condition], *values) if condition in self._compared else None
        if type_ == "i1" and no == "false":
            self.add("MUL", instruction.result, self.operand(condition), values[0])
        elif type_ == "i1" and yes == "true":
            self.add("MAX", instruction.result, self.operand(condition), values[1])
        elif least is not None:
            self.add(least[0], instruction.result, *least[1:])
        elif condition in self.conditions:
            self.chosen(self.conditions[condition], *values, instruction.result)
        else:
            self.add("CND", instruction.result, *values, self.operand(condition))

    def logic(self, instruction: Instruction) -> None:
        """Of conditions."""
        if " i1 " not in instruction.text:
            self.other(instruction)
        left, right = self._pair(instruction)
        if instruction.opcode == "xor" and right == ONE:
            found = self.conditions.get(split(instruction.text)[0].split(" ")[-1])
            if found:
                self.conditions[instruction.result] = replace(found, is_inverted=not found.is_inverted)
                return
            self.add("ADD", instruction.result, ONE, -left)
        elif instruction.opcode == "xor":
            self._result(instruction, abs(self.new("ADD", left, -right)))
        else:
            self.add("MUL" if instruction.opcode == "and" else "MAX", instruction.result, left, right)

    def other(self, instruction: Instruction) -> None:
        """Not done."""
        raise Unsupported(f"what Clang makes of it, {instruction.opcode}, is nothing that a core can do")

    def conversion(self, instruction: Instruction) -> None:
        """Of a truth to a number, and of an array's element from a float and to one."""
        found = re.search(r"(\w+) (\S+) to (\w+)$", instruction.text)
        assert found is not None, instruction.text
        value, is_truth = self.operand(found[2]), found[1] == "i1"
        if instruction.opcode in ("fptosi", "fptoui"):
            self.truncated(instruction.result, value, is_ordinary=True)
        elif instruction.opcode in ("uitofp", "zext") and is_truth or instruction.opcode == "sitofp" and not is_truth:
            self._result(instruction, value)
        elif instruction.opcode in ("sitofp", "sext") and is_truth:
            self._result(instruction, -value)
        else:
            self.other(instruction)

    def insertion(self, instruction: Instruction) -> None:
        """An element of a vector that is an operand of a function."""
        (_, vector), (_, value), (_, index) = map(typed, split(instruction.text.split(" ", 1)[1]))
        elements = list(self.vector(vector))
        elements[int(index)] = self.operand(value)
        self.vectors[instruction.result] = elements

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
        name = instruction.callee
        base = name.removeprefix("llvm.").split(".")[0]
        if name.startswith("llvm.") and base in _IGNORED:
            return
        if said := reason(name):
            raise Unsupported(said)
        function = FUNCTIONS.get(name if name.startswith("ctm.") else base)
        if function is None:
            raise Unsupported(f"{_of_users(name, base)}(): R5xx cores have no such function")
        is_ordinary = all(flag in instruction.text.split("@")[0] for flag in _ORDINARY)
        function(self, Call(instruction.result, instruction.arguments, is_ordinary))


def _is_needed(pair: tuple[str, Operand], waiting: list[tuple[str, Operand]]) -> bool:
    """Whether another copy still reads what this one writes."""
    return any(other[1].variable == pair[0] for other in waiting if other != pair)


def _of_users(name: str, base: str) -> str:
    """What users call a function that LLVM has another name for."""
    if ".with.overflow" in name:
        return f"__builtin_{base[1:]}_overflow"
    return f"__builtin_elementwise_{base[1:]}_sat" if ".sat" in name else base


_IGNORED = ("lifetime", "assume", "experimental", "dbg")
_HANDLERS: dict[str, Callable[[_Selection, Instruction], None]] = {
    **dict.fromkeys(("fadd", "fsub", "fmul"), _Selection.arithmetic),
    "fdiv": _Selection.quotient,
    "fneg": _Selection.negation,
    **dict.fromkeys(("fcmp", "icmp"), _Selection.comparison),
    "select": _Selection.selection,
    **dict.fromkeys(("and", "or", "xor"), _Selection.logic),
    **dict.fromkeys(("fptosi", "fptoui", "sitofp", "uitofp", "zext", "sext"), _Selection.conversion),
    "insertelement": _Selection.insertion,
    "extractelement": _Selection.extraction,
    "freeze": _Selection.freezing,
    **dict.fromkeys(("alloca", "load", "store", "getelementptr"), _Selection.memory),
    "call": _Selection.call,
}
