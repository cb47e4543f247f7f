"""Operations as text for the assembler, with numbers in float constants that the kernel does not name."""

import struct
from collections.abc import Iterator

from ctm.rtl.isa.limits import CHANNELS, FLOAT_CONSTANTS
from ctm.sim.compiler.r5xx.operations import (
    Choice,
    Constant,
    Leave,
    Operand,
    Operation,
    Repeat,
    Steps,
    operations,
)
from ctm.sim.compiler.r5xx.packing import Placed, Source, packed
from ctm.sim.compiler.r5xx.registers import Place

_NATIVE = {0.0: "0", 0.5: "h", 1.0: "1"}
"""Numbers that swizzles have."""
_NUMBERS = {"0": "0", "h": "0.5", "1": "1"}
_APART = ("LOOKUP", "KILL", "w")
_CHANNELS = "rgba"


class TooManyConstantsError(Exception):
    """There are not enough float constants left for the kernel's numbers."""


class Text:
    """The lines of a program. `sources` is the line of the source for each, `numbers` the words of its constants."""

    def __init__(self, steps: Steps, places: dict[str, Place]) -> None:
        self._places = places
        self._line = 0
        used = {operand.value.number for each in operations(steps) for operand in each.operands
                if isinstance(operand.value, Constant)}  # fmt: skip
        self._free = [number for number in range(FLOAT_CONSTANTS - 1, -1, -1) if number not in used]
        self._known: dict[int, Constant] = {}
        self.lines: list[str] = []
        self.sources: list[int] = []
        self._write(steps, 0)

    @property
    def numbers(self) -> dict[int, tuple[int, ...]]:
        """Float constants that hold numbers of the kernel, as words."""
        rows: dict[int, list[int]] = {}
        for word, constant in self._known.items():
            rows.setdefault(constant.number, [0] * CHANNELS)[constant.channel] = word
        return {number: tuple(words) for number, words in rows.items()}

    def _write(self, steps: Steps, depth: int) -> None:
        waiting: list[Placed] = []
        for step in steps:
            if isinstance(step, Operation):
                self._line = step.line or self._line
                if step.name in _APART or step.test:
                    self._flush(waiting, depth)
                    for line in self._operation(step):
                        self._add(depth, line)
                else:
                    waiting += self._placed(step)
                continue
            self._flush(waiting, depth)
            if isinstance(step, Choice):
                self._choice(step, depth)
            elif isinstance(step, Repeat):
                self._add(depth, "REP i0")
                self._write(step.body, depth + 1)
                self._add(depth, "ENDREP")
            else:
                self._add(depth, "BREAK")
        self._flush(waiting, depth)

    def _flush(self, waiting: list[Placed], depth: int) -> None:
        """Write operations that follow each other."""
        for text, line in packed(waiting):
            self.lines.append("    " * depth + text)
            self.sources.append(line)
        waiting.clear()

    def _placed(self, operation: Operation) -> Iterator[Placed]:
        sources = tuple(map(self._source, operation.operands))
        if operation.name == "OUT":
            for channel, source in enumerate(sources):
                yield Placed("MOV", (operation.number, channel), (source,), self._line, is_output=True)
        elif operation.copied is None or self._moves(operation.copied):
            yield Placed(operation.name, self._places[operation.results[0]], sources, self._line)

    def _source(self, operand: Operand) -> Source:
        negative, value = operand.negative, operand.value
        if isinstance(value, float):
            negative, value = value < 0, abs(value)
            if value in _NATIVE:
                return Source("", _NATIVE[value], negative, False)
            value = self._number(value)
        if isinstance(value, Constant):
            return Source(f"c{value.number}", _CHANNELS[value.channel], negative, operand.absolute)
        register, channel = self._places[value]
        return Source(f"r{register}", _CHANNELS[channel], negative, operand.absolute)

    def _choice(self, choice: Choice, depth: int) -> None:
        condition = "!alu_result" if choice.is_inverted else "alu_result"
        if self._leaves(choice.then) and not choice.otherwise:
            self._add(depth, f"BREAK IF {condition}")
            return
        self._add(depth, f"IF {condition}")
        self._write(choice.then, depth + 1)
        if choice.otherwise:
            self._add(depth, "ELSE")
            self._write(choice.otherwise, depth + 1)
        self._add(depth, "ENDIF")

    def _add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)
        self.sources.append(self._line)

    def _operation(self, operation: Operation) -> Iterator[str]:
        """What stands alone."""
        if operation.name == "LOOKUP":
            yield from self._lookup(operation)
            return
        operands = ", ".join(map(self._operand, operation.operands))
        if operation.name == "w":
            yield f"OUT w = MOV({operands})"
        elif operation.name == "KILL":
            yield f"TEX KILL_LT_0({operands})"
        else:
            yield f"ALU alu_result.r[{operation.test}] = {operation.name}({operands})"

    def _leaves(self, steps: Steps) -> bool:
        """Whether nothing is left of steps but a leave: copies between variables that share a channel are none."""
        there = [step for step in steps if not isinstance(step, Operation) or step.copied is None
                 or self._moves(step.copied)]  # fmt: skip
        return len(there) == 1 and isinstance(there[0], Leave)

    def _moves(self, copied: tuple[str, str]) -> bool:
        return self._places[copied[0]] != self._places[copied[1]]

    def _lookup(self, operation: Operation) -> Iterator[str]:
        wanted = [(self._places[name], channel) for name, channel in zip(operation.results, _CHANNELS, strict=True)
                  if name]  # fmt: skip
        if not wanted:
            return
        wanted.sort()
        register = wanted[0][0][0]
        mask = "".join(_CHANNELS[place[1]] for place, _ in wanted)
        taken = {place[1]: channel for place, channel in wanted}
        swizzle = "".join(taken.get(number, channel) for number, channel in enumerate(_CHANNELS))
        place = [self._places[str(operand.value)] for operand in operation.operands]
        coordinates = f"r{place[0][0]}." + "".join(_CHANNELS[channel] for _, channel in place)
        scaled = "" if operation.is_scaled else " unscaled"
        yield f"TEX r{register}.{mask} = LOOKUP(i{operation.number}, {coordinates}).{swizzle}{scaled}"

    def _operand(self, operand: Operand) -> str:
        source = self._source(operand)
        text = f"{source.register}.{source.letter}" if source.register else _NUMBERS[source.letter]
        text = f"|{text}|" if source.absolute else text
        return f"-{text}" if source.negative else text

    def _number(self, value: float) -> Constant:
        try:
            (word,) = struct.unpack("<I", struct.pack("<f", value))
        except OverflowError:
            word = 0x7F800000
        if word not in self._known:
            row, channel = divmod(len(self._known), CHANNELS)
            if row >= len(self._free):
                raise TooManyConstantsError
            self._known[word] = Constant(self._free[row], channel)
        return self._known[word]
