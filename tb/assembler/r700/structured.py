"""Random structured programs: as texts, and what they do to one pixel, statement after statement."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

FLAGS = (3, 7)
"""Boolean constants that programs look at; the first is true."""
ROUNDS = {0: 3, 1: 2}
"""Int constants of counted loops, and their rounds."""
_REGISTERS = ("R1.x", "R2.y")
_MOST_DEPTH = 4
_LIMIT = 4000.0


class _BreakError(Exception):
    pass


class _ContinueError(Exception):
    pass


@dataclass
class Pixel:
    """Registers of one pixel by their names."""

    x: float
    y: float
    values: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_REGISTERS, 0.0))

    def read(self, name: str) -> float:
        """A register or a number."""
        return {"R0.x": self.x, "R0.y": self.y, **self.values}.get(name, float(name) if name[0].isdigit() else 0.0)


Step = Callable[[Pixel], None]
Block = list[Step]


def _run(block: Block, pixel: Pixel) -> None:
    for step in block:
        step(pixel)


class RandomProgram:
    """A program: `text` of its statements, `run` for what it does to a pixel."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._lines: list[str] = []
        self._counters = 10
        self._subroutines: list[Block] = [[], []]
        self._callable = [0, 1]
        self._body = self._block(0, loops=0)
        self._lines.append("    EXPORT_DONE PIX0, R3.xyzw")
        self._lines[-1:-1] = ["    MOV R3.x, R1.x", "    MOV R3.y, R2.y"]
        for number in range(len(self._subroutines)):
            self._callable = list(range(number + 1, len(self._subroutines)))
            self._lines.append(f"SUB sub{number}")
            self._subroutines[number] += self._block(2, loops=0)
            self._lines.append("ENDSUB")

    @property
    def text(self) -> str:
        """The source."""
        return "\n".join([".isa r700", *self._lines, ""])

    def run(self, x: float, y: float) -> tuple[float, float]:
        """What the program leaves in its registers."""
        pixel = Pixel(x, y)
        _run(self._body, pixel)
        first, second = (pixel.values[name] for name in _REGISTERS)
        return first, second

    def _emit(self, depth: int, line: str) -> None:
        self._lines.append("    " * (depth + 1) + line)

    def _block(self, depth: int, *, loops: int) -> Block:
        return [self._statement(depth, loops) for _ in range(self._random.randint(1, 4))]

    def _statement(self, depth: int, loops: int) -> Step:
        makers: list[Callable[[int, int], Step]] = [self._add, self._add]
        if depth < _MOST_DEPTH:
            makers += [self._if, self._if, self._flag, self._loop, self._counted]
        if loops:
            makers += [self._leave, self._leave]
        if self._callable:
            makers.append(self._call)
        return self._random.choice(makers)(depth, loops)

    def _operand(self) -> str:
        return self._random.choice(("R0.x", "R0.y", *_REGISTERS, "1.0", "2.0", "5.0"))

    def _condition(self) -> tuple[str, Callable[[Pixel], bool]]:
        test, compare = self._random.choice((("GT", float.__gt__), ("GE", float.__ge__), ("NE", float.__ne__)))
        first, second = self._operand(), self._operand()
        return f"PRED_SET{test} {first}, {second}", lambda pixel: compare(pixel.read(first), pixel.read(second))

    def _add(self, depth: int, loops: int) -> Step:
        target, operand = self._random.choice(_REGISTERS), self._operand()
        self._emit(depth, f"ADD {target}, {target}, {operand}")
        self._emit(depth, f"MIN {target}, {target}, {_LIMIT}")

        def step(pixel: Pixel) -> None:
            pixel.values[target] = min(pixel.read(target) + pixel.read(operand), _LIMIT)

        return step

    def _if(self, depth: int, loops: int) -> Step:
        text, condition = self._condition()
        return self._branch(depth, loops, text, condition)

    def _flag(self, depth: int, loops: int) -> Step:
        flag, inverted = self._random.choice(FLAGS), self._random.random() < 0.5
        value = (flag == FLAGS[0]) != inverted
        return self._branch(depth, loops, f"{'!' * inverted}b{flag}", lambda pixel: value)

    def _branch(self, depth: int, loops: int, text: str, condition: Callable[[Pixel], bool]) -> Step:
        self._emit(depth, f"IF {text}")
        yes = self._block(depth + 1, loops=loops)
        no: Block = []
        if self._random.random() < 0.5:
            self._emit(depth, "ELSE")
            no = self._block(depth + 1, loops=loops)
        self._emit(depth, "ENDIF")
        return lambda pixel: _run(yes if condition(pixel) else no, pixel)

    def _loop(self, depth: int, loops: int) -> Step:
        counter, rounds = f"R{self._counters}.x", self._random.randint(1, 4)
        self._counters += 1
        self._emit(depth, f"MOV {counter}, 0")
        self._emit(depth, "LOOP")
        self._emit(depth + 1, f"BREAK IF PRED_SETGE {counter}, {rounds}.0")
        self._emit(depth + 1, f"ADD {counter}, {counter}, 1.0")
        return self._rounds(depth, loops, rounds)

    def _counted(self, depth: int, loops: int) -> Step:
        number = self._random.choice(list(ROUNDS))
        self._emit(depth, f"{self._random.choice(('LOOP', 'REP'))} i{number}")
        return self._rounds(depth, loops, ROUNDS[number])

    def _rounds(self, depth: int, loops: int, rounds: int) -> Step:
        body = self._block(depth + 1, loops=loops + 1)
        self._emit(depth, "ENDLOOP")

        def step(pixel: Pixel) -> None:
            try:
                for _ in range(rounds):
                    try:
                        _run(body, pixel)
                    except _ContinueError:
                        pass
            except _BreakError:
                pass

        return step

    def _leave(self, depth: int, loops: int) -> Step:
        keyword, error = self._random.choice((("BREAK", _BreakError), ("CONTINUE", _ContinueError)))
        text, condition = self._condition()
        if self._random.random() < 0.2:
            flag = self._random.choice(FLAGS)
            text, condition = f"b{flag}", lambda pixel: flag == FLAGS[0]
        self._emit(depth, f"{keyword} IF {text}")

        def step(pixel: Pixel) -> None:
            if condition(pixel):
                raise error

        return step

    def _call(self, depth: int, loops: int) -> Step:
        number = self._random.choice(self._callable)
        self._emit(depth, f"CALL sub{number}")
        return lambda pixel: _run(self._subroutines[number], pixel)
