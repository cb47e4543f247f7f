"""A module of LLVM IR: functions, blocks and instructions, and all other lines as they are.

Instructions stay text; what has to know their operands takes them apart. Source: LLVM Language Reference Manual.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from ctm.sim.compiler.error import Location
from ctm.sim.compiler.ir.metadata import Metadata

NAME = r'%(?:[-\w.$]+|"[^"]*")'
"""A value or a label."""
_RESULT = re.compile(rf"({NAME}) = (.*)", re.DOTALL)
_METADATA = re.compile(r"((?:, ![-\w.]+ !\d+)*)$")
_DEBUG = re.compile(r"!dbg !(\d+)")
_LOOP = re.compile(r"!llvm\.loop !(\d+)")
_LABEL = re.compile(r'("[^"]*"|[-\w.$]+):')
_DEFINITION = re.compile(r"define [^@]*@([-\w.$]+|\"[^\"]*\")\(")
_ATTRIBUTES = re.compile(
    r" (?:noundef|inreg|nonnull|immarg|signext|zeroext|(?:nofpclass|range|captures|align|dereferenceable)\([^)]*\))"
)
_TYPE = re.compile(r"(?:<[^<>]*>|\[[^]]*\]|ptr(?: addrspace\(\d+\))?|\w+) ?")
_NUMBERED = re.compile(r"%(\d+)\b")
_PIXEL = re.compile(rf"\((<2 x (?:float|i32)>)[^%]*({NAME})\)")
_MODIFIERS = ("tail", "musttail", "notail")


@dataclass(frozen=True)
class Instruction:
    """One instruction: the name of its result ("" if it has none), its text, and the metadata after it.

    `metadata` begins with a comma, or is empty.
    """

    result: str
    text: str
    metadata: str = ""

    @cached_property
    def opcode(self) -> str:
        """Its first word, `call` for tail calls."""
        first, _, words = self.text.partition(" ")
        return words.partition(" ")[0] if first in _MODIFIERS else first

    @cached_property
    def callee(self) -> str:
        """The function that a call names; "" if it is another instruction, or calls what a value points to."""
        found = re.search(r"@([-\w.$]+)\(", self.text) if self.opcode == "call" else None
        return found[1] if found else ""

    @cached_property
    def debug_location(self) -> str:
        """Of its metadata that which says where in the source it is."""
        found = re.search(r", !dbg !\d+", self.metadata)
        return found[0] if found else ""

    @property
    def arguments(self) -> list[str]:
        """The operands of a call, each without its type and attributes."""
        inside = self.text[self.text.index("(", self.text.index("@")) + 1 : self.text.rindex(")")]
        return [typed(operand)[1] for operand in split(inside)]

    @property
    def targets(self) -> list[str]:
        """The labels that a terminator may go on to, with their %."""
        return re.findall(rf"label ({NAME})", self.text)

    @property
    def incoming(self) -> list[tuple[str, str]]:
        """The edges of a phi: the value, and the label, with its %, of the block that it comes from."""
        return re.findall(rf"\[ (.*?), ({NAME}) \]", self.text)

    def __str__(self) -> str:
        head = f"{self.result} = " if self.result else ""
        return f"  {head}{self.text}{self.metadata}"


@dataclass
class Block:
    """A basic block by its label, without a %; "" is that of an entry that has none."""

    label: str
    instructions: list[Instruction] = field(default_factory=list)


@dataclass
class Function:
    """A definition: its first line, and its blocks in order."""

    head: str
    blocks: list[Block]

    @cached_property
    def name(self) -> str:
        """Without the @."""
        found = _DEFINITION.match(self.head)
        return found[1].strip('"') if found else ""

    @property
    def pixel(self) -> tuple[str, str] | None:
        """Type and name of the one parameter of a kernel; None if this is no kernel's head."""
        found = _PIXEL.search(self.head)
        return (found[1], found[2]) if found and " void @" in self.head else None

    @property
    def instructions(self) -> Iterator[Instruction]:
        """All of them, in the order of the text."""
        for block in self.blocks:
            yield from block.instructions

    def __str__(self) -> str:
        lines = [self.head]
        for block in self.blocks:
            if block.label:
                lines.append(f"{block.label}:")
            lines += map(str, block.instructions)
        return "\n".join([*lines, "}"])


class Module:
    """All of a module; `str` gives its text."""

    def __init__(self, entities: Sequence[str | Function]) -> None:
        self.entities = list(entities)

    @staticmethod
    def read(text: str) -> "Module":
        """Read the text of a module as Clang and llvmlite write it."""
        entities: list[str | Function] = []
        # A module that was read before has names of this kind already.
        prefix = next(each for each in map("-n{}".format, count()) if f"%{each}." not in text)
        lines = iter(text.split("\n"))
        for line in lines:
            entities.append(_function(line, lines, prefix) if line.startswith("define ") else line)
        return Module(entities)

    @property
    def functions(self) -> list[Function]:
        """Those that are defined."""
        return [entity for entity in self.entities if isinstance(entity, Function)]

    @property
    def lines(self) -> list[str]:
        """What stands outside of functions."""
        return [entity for entity in self.entities if isinstance(entity, str)]

    @cached_property
    def _metadata(self) -> Metadata:
        return Metadata(self.lines)

    def location(self, item: Instruction | Function) -> Location | None:
        """Where in the source an instruction or a function is."""
        found = _DEBUG.search(item.metadata if isinstance(item, Instruction) else item.head)
        return self._metadata.location(int(found[1])) if found else None

    def loop(self, jump: Instruction) -> Location | None:
        """Where in the source the loop begins that a jump continues.

        Where LLVM has lost what a jump back says of its loop, the jump's own location is that of the loop's test.
        """
        found = _LOOP.search(jump.metadata)
        return (self._metadata.first_location(int(found[1])) if found else None) or self.location(jump)

    def declare(self, declarations: Iterable[str]) -> None:
        """Declare functions, those left out that are declared already."""
        there = {name for line in self.lines for name in re.findall(r"^declare .*?(@[-\w.$]+)\(", line)}
        self.entities += [line for line in declarations if line[line.index("@") : line.index("(")] not in there]

    def __str__(self) -> str:
        return "\n".join(map(str, self.entities))


def split(text: str) -> list[str]:
    """The items of a list, separated by commas outside of brackets."""
    items, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and not depth:
            items.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*items, last] if last else items


def typed(operand: str) -> tuple[str, str]:
    """Type and value of an operand, without attributes."""
    operand = _ATTRIBUTES.sub("", operand)
    found = _TYPE.match(operand)
    assert found is not None, operand
    return found[0].rstrip(), operand[found.end() :]


def splatted(value: str) -> str | None:
    """The element, with its type, of a vector's text whose elements are all the same; None if it lists them."""
    return value[value.index("(") + 1 : -1] if value.startswith("splat") else None


def _function(head: str, lines: Iterator[str], prefix: str) -> Function:
    """A definition; values that had numbers have names, so that any of them may go. No name in C has a minus."""
    name = rf"%{prefix}.\1"
    blocks = [Block("")]
    for numbered in lines:
        line = _NUMBERED.sub(name, numbered)
        if line == "}":
            break
        label = _LABEL.match(line)
        if label:
            blocks.append(Block(f"{prefix}.{label[1]}" if label[1].isdecimal() else label[1]))
        elif line.strip() and not line.lstrip().startswith((";", "#dbg")):
            text = line.strip()
            # The cases of a switch have a line each.
            while text.count("[") > text.count("]"):
                text += "\n" + _NUMBERED.sub(name, next(lines))
            blocks[-1].instructions.append(_instruction(text))
    return Function(_NUMBERED.sub(name, head), blocks if blocks[0].instructions else blocks[1:])


def _instruction(line: str) -> Instruction:
    metadata = _METADATA.search(line)
    assert metadata is not None
    text = line[: metadata.start()]
    named = _RESULT.fullmatch(text)
    return Instruction(named[1], named[2], metadata[1]) if named else Instruction("", text, metadata[1])
