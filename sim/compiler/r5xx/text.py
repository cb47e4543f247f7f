"""Operations as text for the assembler."""

from collections.abc import Iterable, Iterator

from ctm.rtl.isa.limits import INT_CONSTANTS
from ctm.sim.compiler.r5xx.loops.rounds import MOST_ROUNDS
from ctm.sim.compiler.r5xx.numbers import Numbers, TooManyConstantsError
from ctm.sim.compiler.r5xx.operations import (
    APART,
    DOTS,
    Choice,
    Constant,
    Leave,
    Operand,
    Operation,
    Repeat,
    Steps,
    operations,
)
from ctm.sim.compiler.r5xx.order.dependences import LATENCY, Access
from ctm.sim.compiler.r5xx.packing import EFFECTS, AllocatedOperation, Apart, Source, packed
from ctm.sim.compiler.r5xx.registers import Component
from ctm.sim.elf.lines import Line

_CHANNELS = "rgba"


class Text:
    """The lines of a program.

    `sources` is the line of the source for each, `numbers` what its float constants hold, `rounds` its int constants
    by the rounds that they are for.
    """

    def __init__(self, steps: Steps, components: dict[str, Component]) -> None:
        self._components = components
        self._line: Line | None = None
        self.numbers = Numbers(operand.value.number for each in operations(steps) for operand in each.operands
                               if isinstance(operand.value, Constant))  # fmt: skip
        self.rounds: dict[int, int] = {}
        self.lines: list[str] = []
        self.sources: list[Line | None] = []
        self._write(steps, 0)

    def _write(self, steps: Steps, depth: int) -> None:
        waiting: list[AllocatedOperation | Apart] = []
        for step in steps:
            if isinstance(step, Operation):
                waiting += self._allocated(step)
                continue
            self._flush(waiting, depth)
            if isinstance(step, Choice):
                self._choice(step, depth)
            elif isinstance(step, Repeat):
                self._repeat(step, depth)
            else:
                self._add(depth, "BREAK", self._line)
        self._flush(waiting, depth)

    def _flush(self, waiting: list[AllocatedOperation | Apart], depth: int) -> None:
        """Write operations that follow each other."""
        for text, line in packed(waiting, self.numbers):
            self.lines.append("    " * depth + text)
            self.sources.append(line)
            self._line = line or self._line
        waiting.clear()

    def _allocated(self, operation: Operation) -> Iterator[AllocatedOperation | Apart]:
        if operation.name in APART:
            yield self._apart(operation)
            return
        sources = tuple(map(self._source, operation.operands))
        if operation.name == "OUT":
            for channel, source in enumerate(sources):
                yield AllocatedOperation("MOV", (operation.number, channel), (source,), operation.line, is_output=True)
        else:
            component = self._components[operation.results[0]] if operation.results else None
            if operation.copied is not None and component == self._components[operation.copied[1]]:
                return
            yield AllocatedOperation(
                operation.name, component, sources, operation.line, test=operation.test, flag=operation.flag
            )

    def _source(self, operand: Operand) -> Source:
        value = operand.value
        if isinstance(value, float):
            return Source("", number=value)
        if isinstance(value, Constant):
            return Source(f"c{value.number}", _CHANNELS[value.channel], operand.negative, operand.absolute)
        register, channel = self._components[value]
        return Source(f"r{register}", _CHANNELS[channel], operand.negative, operand.absolute)

    def _repeat(self, repeat: Repeat, depth: int) -> None:
        begin = f"REP i{self._loop(repeat.rounds or MOST_ROUNDS)}"
        if repeat.until:
            self._add(depth, begin, repeat.line)
            depth += 1
        self._add(depth, begin, repeat.line)
        self._write(repeat.body, depth + 1)
        self._add(depth, "ENDREP", repeat.line)
        if repeat.until:
            self._add(depth, f"BREAK IF {repeat.until}", repeat.line)
            self._add(depth - 1, "ENDREP", repeat.line)

    def _loop(self, rounds: int) -> int:
        """The int constant for so many rounds."""
        number = self.rounds.setdefault(rounds, len(self.rounds))
        if number >= INT_CONSTANTS:
            raise TooManyConstantsError
        return number

    def _choice(self, choice: Choice, depth: int) -> None:
        if choice.then == [Leave()] and not choice.otherwise:
            self._add(depth, f"BREAK IF {choice.condition}", choice.line)
            return
        self._add(depth, f"IF {choice.condition}", choice.line)
        self._write(choice.then, depth + 1)
        if choice.otherwise:
            self._add(depth, "ELSE", choice.line)
            self._write(choice.otherwise, depth + 1)
        self._add(depth, "ENDIF", choice.line)

    def _add(self, depth: int, text: str, line: Line | None) -> None:
        self.lines.append("    " * depth + text)
        self.sources.append(line)

    def _channels(self, names: Iterable[str]) -> frozenset[tuple[str, str]]:
        components = (self._components[name] for name in names)
        return frozenset((f"r{register}", _CHANNELS[channel]) for register, channel in components)

    def _apart(self, operation: Operation) -> Apart:
        """What stands alone."""
        read, written = (self._channels(names) for names in (operation.read, operation.written))
        if operation.name == "LOOKUP":
            return Apart(self._fetch(operation), Access(read, written, LATENCY),
                         operation.line)  # fmt: skip
        if operation.name in DOTS:
            return Apart(self._dot(operation), Access(read, written), operation.line)
        (operand,) = operation.operands
        text = f"TEX KILL_LT_0({self._operand(operand)})" if operation.name == "KILL" else (
            f"OUT w = MOV({self._operand(operand)})")  # fmt: skip
        return Apart(text, Access(frozenset(read), frozenset((EFFECTS,))), operation.line)

    def _dot(self, operation: Operation) -> str:
        sources = [self._source(operand) for operand in operation.operands]
        half = len(sources) // 2
        size = int(operation.name[-1])
        sides = (f"{side[0].register}.{''.join(each.letter for each in side):0<{size}}" for side in
                 (sources[:half], sources[half:]))  # fmt: skip
        register, channel = self._components[operation.results[0]]
        return f"ALU r{register}.{_CHANNELS[channel]} = {operation.name}({', '.join(sides)})"

    def _fetch(self, operation: Operation) -> str:
        results = zip(operation.results, _CHANNELS, strict=True)
        wanted = sorted((self._components[name], channel) for name, channel in results if name)
        register = wanted[0][0][0]
        mask = "".join(_CHANNELS[component[1]] for component, _ in wanted)
        taken = {component[1]: channel for component, channel in wanted}
        swizzle = "".join(taken.get(number, channel) for number, channel in enumerate(_CHANNELS))
        component = [self._components[str(operand.value)] for operand in operation.operands]
        coordinates = f"r{component[0][0]}." + "".join(_CHANNELS[channel] for _, channel in component)
        scaled = "" if operation.is_scaled else " unscaled"
        return f"TEX r{register}.{mask} = LOOKUP(i{operation.number}, {coordinates}).{swizzle}{scaled}"

    def _operand(self, operand: Operand) -> str:
        source = self._source(operand)
        if not source.register:
            register, letters = self.numbers.allocate([source.number])
            source = Source(register, letters[source.number])
        text = f"{source.register}.{source.letter}"
        text = f"|{text}|" if source.absolute else text
        return f"-{text}" if source.negative else text
