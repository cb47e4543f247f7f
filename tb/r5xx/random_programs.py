"""Random legal programs over the whole instruction set.

Flow control waits for the ALU, and loops are counted, so all programs end, but for those that are to fault. What they
compute means nothing.
"""

from collections.abc import Callable

import numpy as np

from ctm.rtl.isa.r5xx.instruction import RGB_INST, RGBA_INST
from ctm.rtl.isa.r5xx.opcodes import RgbOperation, Swizzle, ZeroTest
from ctm.rtl.isa.word import replace
from ctm.tb.r5xx.machine import Instruction, alu
from ctm.tb.r5xx.random_instructions import Code
from ctm.tb.r5xx.statements import (
    ALU,
    ALWAYS,
    BOOL,
    BREAKLOOP,
    BREAKREP,
    CONTINUE,
    DECR,
    ENDLOOP,
    ENDREP,
    INCR,
    JUMP,
    LOOP,
    NONE,
    NOT_ALU,
    NOT_BOOL,
    NOT_PREDICATE,
    POP,
    PREDICATE,
    PUSH,
    REP,
    begin_loop,
    end_if,
    end_loop,
    jump,
    otherwise,
)

INT_CONSTANTS = 8
_LEGAL_PREDICATES = (0, 2, 3, 4, 5)
_CONDITIONS = (NOT_ALU, ALU, *[NOT_PREDICATE, PREDICATE] * 2, NOT_BOOL, BOOL)
_COLORS = ("red", "green", "blue")
_IDENTITY = {f"{color}_swiz_a": address for address, color in enumerate(_COLORS)}
ZERO, HALF = Swizzle.ZERO.value, Swizzle.HALF.value


class Program(Code):
    """A program while it is drawn. `code` is the result; it runs from `start` to its last instruction."""

    def __init__(self, generator: np.random.Generator, *, size: int, full: bool, uncached: bool) -> None:
        super().__init__(generator, uncached=uncached)
        self._full, self._faulty = full, self._chance(0.1)
        self._loops: list[int] = []
        self._subroutines: list[int] = []
        self._leaves: list[tuple[int, Callable[[int], Instruction]]] = []
        self._depth = 0
        for _ in range(int(generator.integers(0, 3)) if full else 0):
            at = len(self.code)
            self._block(4, loops=False)
            self._drain()
            self._emit(jump(0, ALWAYS, a_op=POP))
            self._subroutines.append(at)
        self.start = len(self.code)
        self._diverge()
        if uncached:
            self._uncached_write()
        self._block(size, loops=full)
        self._drain()
        self._emit(self._output(), waits=True)

    def _diverge(self) -> None:
        """Set the predicate bits of red and green by the parity of column and row: conditions then tell lanes apart."""
        scratch = min(self.highest_temporary, 1)
        if not scratch:
            return
        halves = {"addr0": 0, "rgb_op": RgbOperation.MAD.value, "rgb_addrd": scratch, **_IDENTITY}
        halves |= {f"{color}_swiz_{name}": code for color in _COLORS for name, code in (("b", HALF), ("c", ZERO))}
        self._emit(alu(rgb=halves, rgb_wmask=3, nop=1))
        fraction = {"addr0": scratch, "rgb_op": RgbOperation.FRC.value, "target": ZeroTest.NOT_EQUAL.value, **_IDENTITY}
        self._emit(alu(rgb=fraction, rgb_omask=3, nop=1))

    def _block(self, size: int, *, loops: bool) -> None:
        while size > 0:
            size -= self._statement(size, loops=loops)

    def _statement(self, size: int, *, loops: bool) -> int:
        """Draw one statement; how much of the size it takes."""
        can_nest = size > 3 and self._depth < (4 if self._full else 3)
        choices: list[tuple[float, Callable[[], int]]] = [
            (6.0, self._arithmetic),
            (2.0, self._fetch),
            (0.8, self._kill),
            (1.2 if can_nest else 0, lambda: self._branch(size, loops)),
            (1.4 if can_nest and loops and len(self._loops) < 3 else 0, lambda: self._loop(size)),
            (1.2 if self._loops else 0, self._leave),
            (0.5 if self._subroutines else 0, self._call),
            (0.8 if self.uncached else 0, self._uncached_write),
            (1.5 if self._faulty else 0, self._trap),
        ]
        weights = np.array([weight for weight, _ in choices])
        return choices[int(self._generator.choice(len(choices), p=weights / weights.sum()))][1]()

    def _condition(self) -> dict[str, int]:
        """Jump function and predicate of a condition; an ALU result is made right before."""
        function = self._choose(_CONDITIONS)
        if function in (ALU, NOT_ALU):
            words = list(self._instruction(type=0, rgb_pred_sel=0, rgb_pred_inv=0, alpha_pred_sel=0, alpha_pred_inv=0))
            words[3] = replace(RGB_INST, words[3], alu_wmask=1)
            self._emit(tuple(words))
        return {
            "function": function, "rgb_pred_sel": self._choose([*_LEGAL_PREDICATES, 2, 2, 3, 3]),
            "bool_addr": self._choose(range(4)), "rgb_pred_inv": self._choose(range(2)),
            "ignore_uncovered": int(self._chance(0.5)),
        }  # fmt: skip

    def _branch(self, size: int, loops: bool) -> int:
        has_else, inner = self._chance(0.5), int(self._generator.integers(1, max(2, size // 2)))
        condition = self._condition()
        at = self._reserve()
        before = self._pending.copy()
        self._depth += 1
        self._block(inner, loops=loops)
        if has_else:
            middle = self._reserve()
            after_then, self._pending = self._pending, before.merged(self._pending)
            self._block(max(1, inner // 2), loops=loops)
            self.code[middle] = otherwise(len(self.code) + 1)
            before = after_then
        self._depth -= 1
        self._emit(end_if())
        target = middle + 1 if has_else else len(self.code)
        self.code[at] = jump(
            target, b_op0=INCR, b_op1=INCR if has_else else NONE, jump_any=int(self._chance(0.1)), **condition
        )
        self._pending = self._pending.merged(before)
        return inner + inner // 2 * has_else + 2

    def _loop(self, size: int) -> int:
        self._drain()
        op, inner = self._choose([LOOP, LOOP, REP]), int(self._generator.integers(2, max(3, size // 2)))
        constant = int(self._generator.integers(INT_CONSTANTS))
        at = self._reserve()
        outer_depth, self._depth = self._depth, 0
        self._loops.append(op)
        vacates, self._leaves = self._leaves, []
        share, self.relative_share = self.relative_share, 0.4 if op == LOOP else self.relative_share
        self._block(inner, loops=True)
        self.relative_share = share
        self._drain()
        end = self._emit(end_loop(at + 1, constant, op=ENDLOOP if op == LOOP else ENDREP))
        self.code[at] = begin_loop(end + 1, constant, op=op)
        for address, make in self._leaves:
            self.code[address] = make(end)
        self._loops.pop()
        self._depth, self._leaves = outer_depth, vacates
        return inner * 2 + 2

    def _leave(self) -> int:
        self._drain()
        condition = self._condition() if self._chance(0.6) else {"function": ALWAYS}
        condition.pop("ignore_uncovered", None)
        depth, is_break = self._depth, self._chance(0.5)
        op = (BREAKLOOP if self._loops[-1] == LOOP else BREAKREP) if is_break else CONTINUE
        at = self._reserve()

        def make(end: int) -> Instruction:
            fields_ = dict(condition)
            return jump(
                end + 1 if is_break else end, fields_.pop("function"), op=op, b_op1=DECR, b_pop_cnt=depth, **fields_
            )

        self._leaves.append((at, make))
        return 1

    def _trap(self) -> int:
        """An instruction that faults, for pixels of which a condition holds."""
        self._drain()
        condition = self._condition()
        at = self._reserve()
        illegal = list(self._instruction())
        illegal[5] = replace(RGBA_INST, illegal[5], rgb_op=6)
        traps = [
            tuple(illegal),
            jump(511, ALWAYS),
            jump(0, ALWAYS, a_op=POP),
            jump(0, ALWAYS, op=CONTINUE),
            end_loop(0, 0, op=ENDREP),
        ]
        self._emit(traps[int(self._generator.integers(len(traps)))])
        self._emit(end_if())
        self.code[at] = jump(len(self.code), b_op0=INCR, b_op1=NONE, **condition)
        return 1

    def _call(self) -> int:
        self._drain()
        target = self._choose(self._subroutines)
        self._emit(jump(target, ALWAYS, op=JUMP, a_op=PUSH))
        return 2
