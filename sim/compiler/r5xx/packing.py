"""Several operations in one instruction: the same of up to three channels in the RGB unit, another in the alpha unit.

All of an instruction reads before any of it writes, so what reads a result waits, and what overwrites an operand
need not.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ctm.sim.compiler.r5xx.numbers import NATIVE, Numbers
from ctm.sim.compiler.r5xx.operations import ALPHA_ONLY, ALU_RESULT
from ctm.sim.compiler.r5xx.order.dependences import Access, Dependences, Order
from ctm.sim.compiler.r5xx.registers import Component
from ctm.sim.elf.lines import Line

_CHANNELS = "rgba"
_ALPHA = 3
_MOST_SOURCES = 3
"""Of each unit."""
EFFECTS = "effects"
"""What orders instructions whose results are not read."""


class Source(NamedTuple):
    """A channel of a register ("r1", "c2") with its modifiers, or, without a register, a number."""

    register: str
    letter: str = ""
    negative: bool = False
    absolute: bool = False
    number: float = 0.0

    @property
    def is_native(self) -> bool:
        """Whether it is a number, or minus a number, that swizzles have."""
        return not self.register and abs(self.number) in NATIVE


@dataclass
class Apart:
    """An instruction of its own."""

    text: str
    access: Access
    line: Line | None = None


@dataclass
class AllocatedOperation:
    """An operation after register allocation: its component is None where only its `test` is wanted."""

    name: str
    component: Component | None
    sources: tuple[Source, ...]
    line: Line | None = None
    is_output: bool = False
    test: str = ""
    flag: str = ALU_RESULT

    @property
    def channels(self) -> tuple[int, ...]:
        """Those that it can be computed in."""
        if self.component:
            return (self.component[1],)
        return (_CHANNELS.index(self.flag[-1]),) if self.flag != ALU_RESULT else (_ALPHA, 0)

    def target(self, letters: str) -> str:
        """What an instruction writes, in channels of its register, or its test."""
        if self.component:
            return f"{self.register}.{letters}"
        return f"{self.flag}{f'.{letters}' if self.flag == ALU_RESULT else ''}[{self.test}]"

    @property
    def access(self) -> Access:
        """Channels that it reads and writes."""
        read: set[Hashable] = {(source.register, source.letter) for source in self.sources if source.register}
        if self.is_output:
            read.add(EFFECTS)
        written = (self.register, _CHANNELS[self.component[1]]) if self.component else "test"
        return Access(frozenset(read), frozenset((written,)))

    @property
    def register(self) -> str:
        """What it writes."""
        return f"{'o' if self.is_output else 'r'}{self.component[0]}" if self.component else ""


@dataclass
class _Bundle:
    """An instruction that is being filled: operations of the RGB unit by their channels, and one of the alpha unit."""

    numbers: Numbers
    rgb: dict[int, AllocatedOperation] = field(default_factory=dict)
    alpha: AllocatedOperation | None = None

    def take(self, operation: AllocatedOperation) -> bool:
        """Take an operation in, if that is possible."""
        for channel in operation.channels:
            if channel == _ALPHA and self.alpha is None:
                filled = _Bundle(self.numbers, self.rgb, operation)
            elif channel != _ALPHA and channel not in self.rgb:
                filled = _Bundle(self.numbers, {**self.rgb, channel: operation}, self.alpha)
            else:
                continue
            if filled._is_possible():
                self.rgb, self.alpha = filled.rgb, filled.alpha
                return True
        return False

    @property
    def _all(self) -> list[AllocatedOperation]:
        return [*self.rgb.values(), *([self.alpha] if self.alpha else [])]

    def _is_possible(self) -> bool:
        there = self._all
        if len(there) == 1:
            return True
        rgb = list(self.rgb.values())
        if any(each.name in ALPHA_ONLY for each in rgb):
            return False
        if len({each.is_output for each in there}) > 1:
            return False
        if len({each.name for each in rgb}) > 1 or len({each.register for each in rgb if each.component}) > 1:
            return False
        columns = _columns(rgb)
        if not all(map(_is_operand, columns)):
            return False
        sources: set[tuple[bool, Hashable]] = set()
        for number, column in enumerate((*columns, *_columns([self.alpha] if self.alpha else []))):
            sources |= {(each.letter == "a", each.register) for each in column if each.register}
            if _needs_constant(column):
                sources.add((False, number))
        return all(sum(is_alpha == which for is_alpha, _ in sources) <= _MOST_SOURCES for which in (False, True))

    def text(self) -> str:
        """The instruction."""
        halves = []
        if self.rgb:
            channels = sorted(self.rgb)
            first = self.rgb[channels[0]]
            stored = [channel for channel in channels if self.rgb[channel].component]
            targets = [self.rgb[stored[0]].target("".join(_CHANNELS[channel] for channel in stored))] if stored else []
            targets += (each.target("r") for each in self.rgb.values() if not each.component)
            operands = [self._operand([self.rgb.get(channel, first).sources[number] for channel in range(_ALPHA)])
                        for number in range(len(first.sources))]  # fmt: skip
            halves.append(f"{', '.join(targets)} = {first.name}({', '.join(operands)})")
        if self.alpha is not None:
            operands = [self._operand([source]) for source in self.alpha.sources]
            halves.append(f"{self.alpha.target('a')} = {self.alpha.name}({', '.join(operands)})")
        return f"{'OUT' if self._all[0].is_output else 'ALU'} {' || '.join(halves)}"

    def _operand(self, column: Sequence[Source]) -> str:
        """One operand, of the channels of a unit."""
        named = next((source for source in column if source.register), None)
        register, letters = named.register if named else "", dict[float, str]()
        if _needs_constant(column):
            register, letters = self.numbers.allocate({source.number for source in column})
        negative = named.negative if named else not letters and column[0].number < 0
        swizzle = "".join(
            source.letter or letters.get(source.number) or NATIVE[abs(source.number)] for source in column
        )
        text = f"{register}.{swizzle if len(set(swizzle)) > 1 else swizzle[0]}"
        if not register and len(set(swizzle)) == 1:
            text = "0.5" if swizzle[0] == "h" else swizzle[0]
        text = f"|{text}|" if named and named.absolute else text
        return f"-{text}" if negative else text


def packed(operations: Sequence[AllocatedOperation | Apart], numbers: Numbers) -> Iterator[tuple[str, Line | None]]:
    """Instructions for operations that follow each other, and the line of the source of each."""
    order = Order(Dependences([each.access for each in operations]))
    left = len(operations)
    while left:
        order.begin()
        ready = order.ready
        first = operations[ready[0]]
        if isinstance(first, Apart):
            order.take(ready[:1])
            left -= 1
            yield first.text, first.line
            continue
        bundle = _Bundle(numbers)
        is_urgent = order.leads_to_fetch(ready[0])
        while ready:
            number = next((number for number in ready if order.leads_to_fetch(number) == is_urgent
                           and _taken(bundle, operations[number])), None)  # fmt: skip
            if number is None:
                break
            order.take([number])
            left -= 1
            ready = order.ready
        yield bundle.text(), first.line


def _taken(bundle: _Bundle, operation: AllocatedOperation | Apart) -> bool:
    return isinstance(operation, AllocatedOperation) and bundle.take(operation)


def _columns(operations: Sequence[AllocatedOperation]) -> list[tuple[Source, ...]]:
    return list(zip(*(each.sources for each in operations), strict=True))


def _is_operand(column: Sequence[Source]) -> bool:
    """Whether the sources of channels can be one operand."""
    named = {(source.register, source.negative, source.absolute) for source in column if source.register}
    if not named:
        return True
    negative = any(negative for _, negative, _ in named)
    numbers = [source for source in column if not source.register]
    return len(named) == 1 and all(each.is_native and (each.number < 0) == negative for each in numbers)


def _needs_constant(column: Sequence[Source]) -> bool:
    """Whether an operand takes a float constant of the compiler's."""
    if any(source.register for source in column):
        return False
    return not all(source.is_native for source in column) or len({source.number < 0 for source in column}) > 1
