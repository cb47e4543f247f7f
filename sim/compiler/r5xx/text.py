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
    Step,
    Steps,
    operations,
)
from ctm.sim.compiler.r5xx.registers import Place

_NATIVE = {0.0: "0", 0.5: "0.5", 1.0: "1"}
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
        for step in steps:
            if isinstance(step, Operation):
                self._line = step.line or self._line
                for line in self._operation(step):
                    self._add(depth, line)
            elif isinstance(step, Choice):
                self._choice(step, depth)
            elif isinstance(step, Repeat):
                self._add(depth, "REP i0")
                self._write(step.body, depth + 1)
                self._add(depth, "ENDREP")
            else:
                self._add(depth, "BREAK")

    def _choice(self, choice: Choice, depth: int) -> None:
        condition = "!alu_result" if choice.is_inverted else "alu_result"
        if _leaves(choice.then) and not choice.otherwise:
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
        if operation.name == "LOOKUP":
            yield from self._lookup(operation)
        elif operation.name == "OUT":
            yield from self._output(operation)
        elif operation.name == "w":
            yield f"OUT w = MOV({self._operand(operation.operands[0])})"
        elif operation.name == "KILL":
            yield f"TEX KILL_LT_0({self._operand(operation.operands[0])})"
        else:
            target = f"alu_result.r[{operation.test}]" if operation.test else self._register(operation.results[0])
            operands = ", ".join(map(self._operand, operation.operands))
            text = f"ALU {target} = {operation.name}({operands})"
            if operation.test or operation.copied is None or operation.copied and self._moves(operation.copied):
                yield text

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
        swizzle = "".join(channel for _, channel in wanted)
        place = [self._places[str(operand.value)] for operand in operation.operands]
        coordinates = f"r{place[0][0]}." + "".join(_CHANNELS[channel] for _, channel in place)
        scaled = "" if operation.is_scaled else " unscaled"
        yield f"TEX r{register}.{mask} = LOOKUP(i{operation.number}, {coordinates}).{swizzle}{scaled}"

    def _output(self, operation: Operation) -> Iterator[str]:
        for channel, operand in zip(_CHANNELS, operation.operands, strict=True):
            yield f"OUT o{operation.number}.{channel} = MOV({self._operand(operand)})"

    def _register(self, name: str) -> str:
        register, channel = self._places[name]
        return f"r{register}.{_CHANNELS[channel]}"

    def _operand(self, operand: Operand) -> str:
        negative, value = operand.negative, operand.value
        if isinstance(value, float):
            negative, value = value < 0, abs(value)
            text = _NATIVE.get(value) or self._constant(self._number(value))
        elif isinstance(value, Constant):
            text = self._constant(value)
        else:
            text = self._register(value)
        text = f"|{text}|" if operand.absolute else text
        return f"-{text}" if negative else text

    def _constant(self, constant: Constant) -> str:
        return f"c{constant.number}.{_CHANNELS[constant.channel]}"

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


def _leaves(steps: list[Step]) -> bool:
    return len(steps) == 1 and isinstance(steps[0], Leave)
