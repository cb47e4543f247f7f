"""Draws trees of statements."""

import numpy as np

from ctm.tb.r700.flow_code import Compiler
from ctm.tb.r700.machine import Job
from ctm.tb.r700.statements import (
    OPERATIONS,
    AddConstant,
    Assign,
    Call,
    Cut,
    Environment,
    Export,
    Fetch,
    Fixed,
    FixedIf,
    If,
    Kill,
    Leave,
    Loop,
    Statement,
    Subroutine,
    Test,
)

_BOOLS, _INTS = 4, 4
TARGETS = 3
_WAVEFRONTS = (4, 16, 64)
_SIZES = ((1, 1), (3, 2), (5, 5), (8, 4), (7, 9), (13, 3))
MOST_LOOPS = 24
"""Counters that there are registers for."""


class Drawing:
    """A random program: `program` is its tree, `environment` its constants."""

    def __init__(self, generator: np.random.Generator, size: int) -> None:
        self._generator = generator
        self._loops = 0
        self._shared: list[Subroutine] = []
        self.environment = self._environment()
        for _ in range(self._below(3)):
            self._shared.append(self._subroutine(int(size) // 4, loops=0, in_loop=False))
        self.program = self._block(size, loops=0, in_loop=False, depth=0)

    def _below(self, end: int) -> int:
        return int(self._generator.integers(end))

    def _chance(self, share: float) -> bool:
        return bool(self._generator.random() < share)

    def _choice(self, names: str) -> str:
        words = names.split()
        return words[self._below(len(words))]

    def _environment(self) -> Environment:
        words = self._generator.integers(1 << 32, size=(64, 4), dtype=np.uint64)
        rows = [*range(0, 32), *range(240, 256), *self._generator.integers(32, 240, 16)]
        vectors = [(x, y, z, w) for x, y, z, w in words.tolist()]
        return Environment(
            floats={int(row): vector for row, vector in zip(rows, vectors, strict=True)},
            ints={n: (self._below(5), self._below(256), self._below(256) - 128) for n in range(_INTS)},
            bools={n: self._chance(0.5) for n in range(_BOOLS)},
        )

    def _test(self) -> Test:
        return Test(self._below(4), self._below(6 if self._chance(0.7) else 32), self._chance(0.3))

    def _fixed(self, conds: str = "BOOL BOOL NOT_BOOL NOT_BOOL FALSE ACTIVE") -> Fixed:
        return Fixed(self._choice(conds), self._below(_BOOLS))

    def _block(self, size: int, *, loops: int, in_loop: bool, depth: int) -> list[Statement]:
        statements: list[Statement] = []
        while size > 0:
            taken = self._statement(statements, size, loops, in_loop, depth)
            size -= taken
        return statements or [self._assign()]

    def _statement(self, into: list[Statement], size: int, loops: int, in_loop: bool, depth: int) -> int:
        nests = size > 2 and depth < 6
        weights = {
            "assign": 2.5, "constant": 0.7, "fetch": 0.4, "kill": 0.15, "cut": 0.4, "export": 0.3,
            "if": 3.0 * nests, "fixed": 1.5 * nests, "call": 0.6 * (size > 2), "leave": 3.0 * in_loop,
            "loop": 3.0 * (nests and loops < 3 and self._loops < MOST_LOOPS),
        }  # fmt: skip
        shares = np.array(list(weights.values()))
        kind = list(weights)[int(self._generator.choice(len(shares), p=shares / shares.sum()))]
        if kind in ("if", "fixed", "loop", "call"):
            inner = 1 + self._below(max(1, size - 1))
            into.append(getattr(self, f"_draw_{kind}")(inner, loops, in_loop, depth + 1))
            if kind == "if" and self._chance(0.4):
                # The end of one and this can be one word.
                fixed = self._draw_fixed(2, loops, in_loop, depth + 1)
                into.append(fixed if self._chance(0.7) else Cut(self._fixed()))
            return inner + 1
        into.append(getattr(self, f"_{kind}")())
        return 1

    def _assign(self) -> Assign:
        number = self._below(1 << 32) if self._chance(0.6) else None
        operation = OPERATIONS[self._below(len(OPERATIONS))]
        if operation == "LSHR_INT":
            number = self._below(34)
        return Assign(operation, self._below(4), self._below(4), self._below(4), number)

    def _constant(self) -> AddConstant:
        return AddConstant(self._below(4), self._below(32))

    def _fetch(self) -> Fetch:
        return Fetch(self._below(4), self._below(4), self._chance(0.5))

    def _kill(self) -> Kill:
        return Kill(self._test() if self._chance(0.9) else None)

    def _cut(self) -> Cut:
        return Cut(self._test() if self._chance(0.6) else self._fixed())

    def _export(self) -> Export:
        selects = self._generator.choice([0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 7], 4)
        return Export(self._below(3), tuple(int(select) for select in selects))

    def _leave(self) -> Leave:
        is_break = self._chance(0.5)
        kind = self._below(10)
        if kind < 7:
            return Leave(is_break, self._test(), self._choice("clause branch jump"))
        return Leave(is_break, self._fixed() if kind < 9 else None, "word")

    def _draw_if(self, size: int, loops: int, in_loop: bool, depth: int) -> If:
        first = self._block(max(1, size // 2), loops=loops, in_loop=in_loop, depth=depth)
        second = None
        if self._chance(0.6):
            second = self._block(max(1, size - size // 2), loops=loops, in_loop=in_loop, depth=depth)
        if self._chance(0.3):
            # Both ends can be one word.
            inner = self._block(1, loops=loops, in_loop=in_loop, depth=9)
            (first if second is None else second).append(If(self._test(), [*inner, self._assign()], None, "before"))
        iterations = self._fixed("BOOL NOT_BOOL FALSE") if second is not None and self._chance(0.15) else None
        return If(self._test(), first, second, self._choice("before before push plain"), iterations)

    def _draw_fixed(self, size: int, loops: int, in_loop: bool, depth: int) -> FixedIf:
        shape = self._choice("jump push push_else")
        first = self._block(max(1, size // 2), loops=loops, in_loop=in_loop, depth=depth)
        second = None
        if shape != "push" and self._chance(0.5):
            second = self._block(max(1, size - size // 2), loops=loops, in_loop=in_loop, depth=depth)
        condition = self._fixed("BOOL NOT_BOOL" if shape == "push_else" else "BOOL NOT_BOOL ACTIVE FALSE")
        valid_only = shape in ("jump", "push") and second is None and self._chance(0.4)
        return FixedIf(condition, first, second, shape, valid_only)

    def _draw_loop(self, size: int, loops: int, in_loop: bool, depth: int) -> Loop:
        number = self._loops
        self._loops += 1
        kind = self._choice("AL NO_AL DX10 DX10")
        body = self._block(size, loops=loops + 1, in_loop=True, depth=depth)
        return Loop(kind, body, const=self._below(_INTS), rounds=1 + self._below(3), number=number)

    def _draw_call(self, size: int, loops: int, in_loop: bool, depth: int) -> Call:
        count = self._below(4) if self._chance(0.8) else 8 + self._below(20)
        condition = self._fixed("ACTIVE ACTIVE ACTIVE BOOL NOT_BOOL")
        if self._shared and self._chance(0.5):
            shared = self._shared[self._below(len(self._shared))]
            return Call(shared, condition, count)
        return Call(self._subroutine(size, loops, in_loop), condition, count)

    def _subroutine(self, size: int, loops: int, in_loop: bool) -> Subroutine:
        """One that may leave the loop around its only call, or one for calls from everywhere."""
        body = self._block(max(1, size // 2), loops=loops, in_loop=in_loop, depth=3)
        if not self._chance(0.4):
            return Subroutine(body)
        after_return = self._block(max(1, size // 2), loops=loops, in_loop=in_loop, depth=3)
        return Subroutine(body, after_return, self._fixed("BOOL NOT_BOOL"))


def job_of(seed: int) -> tuple[Job, Drawing]:
    """A program with a domain: whole, or partly covered; results do not depend on the wavefront."""
    generator = np.random.default_rng(seed)
    drawing = Drawing(generator, int(generator.integers(5, 40)))
    compiler = Compiler(generator, drawing.program)
    width, height = _SIZES[int(generator.integers(len(_SIZES)))]
    i0, j0 = (int(generator.integers(3)) for _ in range(2))
    covered = None
    if generator.random() < 0.5:
        covered = generator.random((height + j0, width + i0)) < generator.choice([0.3, 0.7, 0.95])
    environment = drawing.environment
    job = Job(
        program=compiler.executable(),
        domain=(i0, j0, i0 + width - 1, j0 + height - 1),
        covered=covered,
        targets=TARGETS,
        floats=environment.floats,
        ints=environment.ints,
        bools=environment.bools,
        wavefront=int(generator.choice(_WAVEFRONTS)),
        watchdog=1 << 17,
    )
    return job, drawing
