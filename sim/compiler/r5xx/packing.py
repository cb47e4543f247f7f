"""Several operations in one instruction: the same of up to three channels in the RGB unit, another in the alpha unit.

Only neighbours are taken together. All of an instruction reads before any of it writes, so what reads a result waits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ctm.sim.compiler.r5xx.registers import Place

_CHANNELS = "rgba"
_ALPHA = 3
_MOST_SOURCES = 3
"""Of each unit."""
_ALPHA_ONLY = ("EX2", "LN2", "RCP", "RSQ", "SIN", "COS")


class Source(NamedTuple):
    """A channel of a register ("r1", "c2"), or a number that swizzles have ("" and its letter); with its modifiers."""

    register: str
    letter: str
    negative: bool
    absolute: bool

    @property
    def unit(self) -> int:
        """Whose source it is: 0 of the RGB unit, 1 of the alpha unit."""
        return int(self.letter == "a")


@dataclass
class Placed:
    """An operation with its places; a `target` that is an output's number writes that."""

    name: str
    place: Place
    sources: tuple[Source, ...]
    line: int = 0
    is_output: bool = False

    @property
    def read(self) -> set[tuple[str, str]]:
        """Channels that it reads."""
        return {(source.register, source.letter) for source in self.sources if source.register}

    @property
    def written(self) -> tuple[str, str]:
        """The channel that it writes."""
        return f"{'o' if self.is_output else 'r'}{self.place[0]}", _CHANNELS[self.place[1]]


@dataclass
class _Bundle:
    """An instruction that is being filled."""

    rgb: list[Placed] = field(default_factory=list)
    alpha: Placed | None = None

    @property
    def _all(self) -> list[Placed]:
        return [*self.rgb, *([self.alpha] if self.alpha else [])]

    def take(self, operation: Placed) -> bool:
        """Take an operation in, if that is possible."""
        everything = self._all
        if not everything:
            self._put(operation)
            return True
        written = {each.written for each in everything}
        is_apart = any(each.name in _ALPHA_ONLY and each.place[1] != _ALPHA for each in (*everything, operation))
        is_other = any(each.is_output != operation.is_output for each in everything)
        if is_apart or is_other or operation.written in written or operation.read & written:
            return False
        if operation.place[1] == _ALPHA:
            if self.alpha is not None:
                return False
        elif self.rgb and not all(_are_alike(each, operation) for each in self.rgb):
            return False
        sources = {(source.unit, source.register) for each in (*everything, operation) for source in each.sources
                   if source.register}  # fmt: skip
        if any(sum(unit == which for unit, _ in sources) > _MOST_SOURCES for which in (0, 1)):
            return False
        self._put(operation)
        return True

    def _put(self, operation: Placed) -> None:
        if operation.place[1] == _ALPHA:
            self.alpha = operation
        else:
            self.rgb.append(operation)

    def text(self) -> str:
        """The instruction."""
        halves = []
        if self.rgb:
            by_channel = {each.place[1]: each for each in self.rgb}
            first = self.rgb[0]
            mask = "".join(_CHANNELS[channel] for channel in sorted(by_channel))
            operands = [_operand([by_channel.get(channel, first).sources[number] for channel in range(_ALPHA)])
                        for number in range(len(first.sources))]  # fmt: skip
            halves.append(f"{first.written[0]}.{mask} = {first.name}({', '.join(operands)})")
        if self.alpha is not None:
            operands = [_operand([source]) for source in self.alpha.sources]
            halves.append(f"{self.alpha.written[0]}.a = {self.alpha.name}({', '.join(operands)})")
        return f"{'OUT' if self._all[0].is_output else 'ALU'} {' || '.join(halves)}"


def packed(operations: Sequence[Placed]) -> Iterator[tuple[str, int]]:
    """Instructions for operations that follow each other, and the line of the source of each."""
    bundle, line = _Bundle(), 0
    for operation in operations:
        if not bundle.take(operation):
            yield bundle.text(), line
            bundle = _Bundle()
            bundle.take(operation)
        line = operation.line
    if operations:
        yield bundle.text(), line


def _are_alike(one: Placed, other: Placed) -> bool:
    """Whether two operations can be channels of one."""
    return (one.name, one.place[0]) == (other.name, other.place[0]) and all(
        (first.negative, first.absolute) == (second.negative, second.absolute)
        and (first.register == second.register or not first.register or not second.register)
        for first, second in zip(one.sources, other.sources, strict=True)
    )


def _operand(channels: Sequence[Source]) -> str:
    """One operand, of the channels of a unit."""
    register = next((source.register for source in channels if source.register), "")
    letters = "".join(source.letter for source in channels)
    text = f"{register}.{letters if len(set(letters)) > 1 else letters[0]}"
    if not register and len(set(letters)) == 1:
        text = "0.5" if letters[0] == "h" else letters[0]
    text = f"|{text}|" if channels[0].absolute else text
    return f"-{text}" if channels[0].negative else text
