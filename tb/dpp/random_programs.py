"""Random legal programs over the whole instruction set.

They obey the rules of synchronisation: what a lookup writes is touched again only behind a wait, flow control waits for
the ALU, and an instruction with presubtract or a derivative has a NOP before it. Loops are counted, so all programs
end. What they compute means nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from rtl.isa.instruction import ALPHA_ADDR, ALPHA_INST, COMMON, RGB_ADDR, RGB_INST, RGBA_INST, TEX_ADDR, TEX_INST
from rtl.isa.limits import TEMPORARIES
from rtl.isa.opcodes import InstructionType, RgbOperation, TextureOperation, UmrtTarget
from rtl.isa.word import fields, pack, replace, unpack
from tb.golden.machine import Instruction, alu
from tb.golden.statements import (
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
from tb.golden.test_alu_reference import random_words

READ_BACK = 15
"""The input that is output 0 of an uncached-write program."""
INPUTS = 6
INT_CONSTANTS = 8
_LEGAL_PREDICATES = (0, 2, 3, 4, 5)
_CONDITIONS = (NOT_ALU, ALU, NOT_PREDICATE, PREDICATE, NOT_BOOL, BOOL)
_OWN_PAIRS = [UmrtTarget.PER_PROCESSOR_IDX, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE]


@dataclass
class Pending:
    """Temporaries that lookups are still to write: behind an acquire, and not yet behind one."""

    held: set[int] = field(default_factory=set)
    loose: set[int] = field(default_factory=set)

    def merged(self, other: "Pending") -> "Pending":
        """Where two ways meet."""
        loose = self.loose | other.loose
        return Pending((self.held | other.held) - loose, loose)

    def copy(self) -> "Pending":
        return Pending(set(self.held), set(self.loose))


class Program:
    """A program while it is drawn. `code` is the result; it runs from `start` to its last instruction."""

    def __init__(self, generator: np.random.Generator, *, size: int, full: bool, uncached: bool) -> None:
        self._generator, self._full, self.uncached = generator, full, uncached
        self._faulty, self._shares_pairs = self._chance(0.1), self._chance(0.5)
        self.highest_temporary = int(generator.choice([0, 1, 3, 7, 14, 31, 63, 127], p=[0.03, *[0.15] * 5, 0.14, 0.08]))
        self.code: list[Instruction] = []
        self._pending = Pending()
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
        if uncached:
            self._uncached_write()
        self._block(size, loops=full)
        self._drain()
        self._emit(self._output(), waits=True)

    def _chance(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def _choose(self, values: Sequence[int]) -> int:
        return int(values[int(self._generator.integers(len(values)))])

    def _emit(self, words: Instruction, *, waits: bool = False) -> int:
        """Append an instruction; with `waits` it waits for the semaphore."""
        if waits:
            words = (replace(COMMON, words[0], tex_sem_wait=1), *words[1:])
        if unpack(COMMON, words[0])["tex_sem_wait"]:
            self._pending.held.clear()
        self.code.append(tuple(words))
        return len(self.code) - 1

    def _reserve(self) -> int:
        """A place for an instruction whose target is not known yet."""
        self.code.append(())
        return len(self.code) - 1

    def _register(self) -> int:
        """A temporary, now and then one that the program does not have."""
        beyond = self._chance(0.03)
        return int(self._generator.integers(TEMPORARIES if beyond else self.highest_temporary + 1))

    def _target(self) -> int:
        """A temporary to be written: programs with uncached writes keep their place, which is in r0."""
        return max(1, self._register()) if self.uncached else self._register()

    def _drain(self) -> None:
        """Wait for all lookups."""
        if self._pending.loose:
            inst = pack(TEX_INST, inst=TextureOperation.NOP.value, tex_sem_acquire=1)
            self._emit((pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=1), inst, 0, 0, 0, 0))
            self._pending = Pending(held=self._pending.loose)
        if self._pending.held:
            self._emit(self._instruction(touches=set()), waits=True)

    def _settle(self, touched: set[int] | None) -> bool:
        """Make it legal to touch some temporaries, None for any; whether the instruction has to wait."""
        pending = self._pending
        if pending.loose and (touched is None or touched & pending.loose):
            self._drain()
            return False
        return bool(pending.held) and (touched is None or bool(touched & pending.held))

    def _block(self, size: int, *, loops: bool) -> None:
        while size > 0:
            size -= self._statement(size, loops=loops)

    def _statement(self, size: int, *, loops: bool) -> int:
        """Draw one statement; how much of the size it takes."""
        can_nest = size > 3 and self._depth < (4 if self._full else 3)
        choices: list[tuple[float, Callable[[], int]]] = [
            (6.0, self._arithmetic),
            (2.0, self._lookup),
            (0.25, self._kill),
            (1.2 if can_nest else 0, lambda: self._branch(size, loops)),
            (0.9 if can_nest and loops and len(self._loops) < 3 else 0, lambda: self._loop(size)),
            (0.7 if self._loops else 0, self._leave),
            (0.5 if self._subroutines else 0, self._call),
            (0.8 if self.uncached else 0, self._uncached_write),
            (0.3 if self._faulty else 0, self._trap),
        ]
        weights = np.array([weight for weight, _ in choices])
        return choices[int(self._generator.choice(len(choices), p=weights / weights.sum()))][1]()

    def _arithmetic(self) -> int:
        words = self._instruction()
        self._emit(words)
        return 1

    def _instruction(self, touches: set[int] | None = None, **fixed: int) -> Instruction:
        """An ALU or OUTPUT instruction with legal synchronisation; with `touches` it is to touch no temporary."""
        words = list(random_words(self._generator))
        common = unpack(COMMON, words[0])
        is_output = self._chance(0.12) and not self.uncached
        common |= {"type": int(is_output), "nop": 1, "last": int(self._chance(0.03)), "tex_sem_wait": 0}
        if self._chance(0.6):
            common |= {"rgb_pred_sel": 0, "rgb_pred_inv": 0, "alpha_pred_sel": 0, "alpha_pred_inv": 0}
        if self._chance(0.75) and not is_output:
            common |= {"rgb_omask": 0, "alpha_omask": 0}
        if self._chance(0.85):
            common["write_inactive"] = 0
        if touches is not None:
            common |= {"rgb_wmask": 0, "alpha_wmask": 0, "rgb_omask": 0, "alpha_omask": 0, "type": 0}
            words[3] = replace(RGB_INST, words[3], alu_wmask=0)
        touched: set[int] = set()
        relative = False
        for place, layout in ((1, RGB_ADDR), (2, ALPHA_ADDR)):
            part = unpack(layout, words[place])
            for source in range(3):
                if not part[f"addr{source}_const"] and part[f"addr{source}"] < TEMPORARIES:
                    part[f"addr{source}"] = self._register()
                    touched.add(part[f"addr{source}"])
                if self._chance(0.8):
                    part[f"addr{source}_rel"] = 0
                relative |= bool(part[f"addr{source}_rel"]) and not part[f"addr{source}_const"]
            words[place] = pack(layout, **part)
        for place, layout, prefix in ((4, ALPHA_INST, ""), (5, RGBA_INST, "rgb_")):
            register, is_relative = self._target(), int(self._chance(0.08) and not self.uncached)
            words[place] = replace(
                layout, words[place], **{f"{prefix}addrd": register, f"{prefix}addrd_rel": is_relative}
            )
            touched.add(register)
            relative |= bool(is_relative)
        if touches is None and self._settle(None if relative else touched):
            common["tex_sem_wait"] = 1
        words[0] = pack(COMMON, **{**common, **fixed})
        return tuple(words)

    def _output(self) -> Instruction:
        """The last instruction."""
        words = self._instruction(type=InstructionType.OUTPUT.value)
        mask = {"rgb_omask": 0, "alpha_omask": 0} if self.uncached else {}
        return replace(COMMON, words[0], write_inactive=0, **mask), *words[1:]

    def _lookup(self) -> int:
        operation = self._choose([1, 1, 1, 1, 3, 3, 4, 5, 6, 7, 0])
        source = 0 if self._chance(0.6) else self._register()
        target = self._target()
        if target == 0 and self._chance(0.7) and self.highest_temporary:
            target = 1
        relative = {name: int(self._chance(0.06)) for name in ("src_addr_rel", "dst_addr_rel")}
        if self.uncached:
            relative["dst_addr_rel"] = 0
        touched = None if any(relative.values()) else {source, target}
        waits = self._settle(touched)
        acquires = self._chance(0.4)
        swizzles = {name: self._choose(range(4)) for name, _, _ in fields(TEX_ADDR) if name.endswith("swiz")}
        if self._chance(0.6):
            swizzles |= {"src_s_swiz": 0, "src_t_swiz": 1, "src_q_swiz": 3}
        common = {
            "type": InstructionType.TEX.value, "tex_sem_wait": int(waits or acquires or self._chance(0.2)),
            "rgb_wmask": self._choose([7, 7, 7, 5, 0, 2]), "alpha_wmask": self._choose([1, 1, 0]),
            "last": int(self._chance(0.02)), "write_inactive": int(self._chance(0.1)),
        }  # fmt: skip
        if self._chance(0.3):
            common |= {"rgb_pred_sel": self._choose(range(6)), "rgb_pred_inv": self._choose(range(2)),
                       "alpha_pred_sel": self._choose(range(6)), "alpha_pred_inv": self._choose(range(2))}  # fmt: skip
        inst = pack(
            TEX_INST, inst=operation, tex_id=self._choose(range(INPUTS)), tex_sem_acquire=int(acquires),
            ignore_uncovered=int(self._chance(0.2)), unscaled=int(self._chance(0.7)),
        )  # fmt: skip
        addr = pack(TEX_ADDR, src_addr=source, dst_addr=target, **relative, **swizzles)
        self._emit((pack(COMMON, **common), inst, addr, int(self._generator.integers(1 << 32)), 0, 0))
        written = {target} if operation else set()
        if relative["dst_addr_rel"] and operation:
            written = set(range(TEMPORARIES))
        if acquires:
            self._pending = Pending(held=self._pending.held | self._pending.loose | written)
        else:
            self._pending.loose |= written
            self._pending.held -= written
        return 1

    def _kill(self) -> int:
        source = self._register()
        waits = self._settle({source})
        common = pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=int(waits), rgb_wmask=self._choose([1, 2, 4]),
                      rgb_pred_sel=self._choose(range(6)), alpha_wmask=int(self._chance(0.2)))  # fmt: skip
        inst = pack(TEX_INST, inst=TextureOperation.KILL_LT_0.value)
        self._emit((common, inst, pack(TEX_ADDR, src_addr=source), 0, 0, 0))
        return 1

    def _condition(self) -> dict[str, int]:
        """Jump function and predicate of a condition; an ALU result is made right before."""
        function = self._choose(_CONDITIONS)
        if function in (ALU, NOT_ALU):
            words = list(self._instruction(type=0, rgb_pred_sel=0, rgb_pred_inv=0, alpha_pred_sel=0, alpha_pred_inv=0))
            words[3] = replace(RGB_INST, words[3], alu_wmask=1)
            self._emit(tuple(words))
        return {
            "function": function, "rgb_pred_sel": self._choose(_LEGAL_PREDICATES), "bool_addr": self._choose(range(4)),
            "rgb_pred_inv": self._choose(range(2)), "ignore_uncovered": int(self._chance(0.5)),
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
            behind_then, self._pending = self._pending, before.merged(self._pending)
            self._block(max(1, inner // 2), loops=loops)
            self.code[middle] = otherwise(len(self.code) + 1)
            before = behind_then
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
        op, inner = self._choose([LOOP, REP]), int(self._generator.integers(2, max(3, size // 2)))
        constant = int(self._generator.integers(INT_CONSTANTS))
        at = self._reserve()
        outer_depth, self._depth = self._depth, 0
        self._loops.append(op)
        leaves, self._leaves = self._leaves, []
        self._block(inner, loops=True)
        self._drain()
        end = self._emit(end_loop(at + 1, constant, op=ENDLOOP if op == LOOP else ENDREP))
        self.code[at] = begin_loop(end + 1, constant, op=op)
        for place, make in self._leaves:
            self.code[place] = make(end)
        self._loops.pop()
        self._depth, self._leaves = outer_depth, leaves
        return inner * 2 + 2

    def _leave(self) -> int:
        self._drain()
        condition = self._condition() if self._chance(0.8) else {"function": ALWAYS}
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
        """An instruction that faults, for processors of which a condition holds."""
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

    def _uncached_write(self) -> int:
        """Write own data to the own pair, and now and then read it again."""
        data, temporary = self._register(), min(self.highest_temporary, 2)
        if not temporary:
            return 1
        if self._settle({0, data, temporary}):
            self._drain()
        copy = {"rgb_op": RgbOperation.MIN.value, "omod": 7, "rgb_addrd": temporary}
        swizzle = {
            f"{color}_swiz_{name}": place for name in "ab" for color, place in (("red", 0), ("green", 0), ("blue", 1))
        }
        self._emit(alu(rgb={"addr0": data, **copy}, rgb_wmask=1, nop=1))
        self._emit(alu(rgb={"addr0": 0, **copy, **swizzle}, rgb_wmask=6, nop=1))
        # What another lane wrote at one's own pair is not to be read again.
        legal = list(UmrtTarget) if self._shares_pairs else _OWN_PAIRS
        target = self._choose([code.value for code in legal])
        own = {f"{color}_swiz_{name}": place for name in "ab" for place, color in enumerate(("red", "green", "blue"))}
        acquires = target in (UmrtTarget.SAME_IDX_ACQUIRE.value, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE.value)
        rgb = {"addr0": temporary, **copy, **own, "target": target}
        predicate = {"rgb_pred_sel": self._choose(range(6))} if self._chance(0.3) else {}
        self._emit(alu(rgb=rgb, type=1, rgb_omask=7, alpha_omask=1, nop=1, tex_sem_wait=int(acquires), **predicate))
        if acquires and not self._shares_pairs:
            self._read_back(temporary)
        return 4

    def _read_back(self, target: int) -> None:
        if self._pending.loose:
            self._drain()
        common = pack(COMMON, type=InstructionType.TEX.value, tex_sem_wait=1, rgb_wmask=7, alpha_wmask=1)
        inst = pack(TEX_INST, inst=TextureOperation.LOOKUP_UNCACHED.value, tex_id=READ_BACK, tex_sem_acquire=1,
                    ignore_uncovered=1, unscaled=1)  # fmt: skip
        addr = pack(TEX_ADDR, src_addr=0, src_t_swiz=1, dst_addr=target, dst_g_swiz=1, dst_b_swiz=2, dst_a_swiz=3)
        self._emit((common, inst, addr, 0, 0, 0))
        self._pending = Pending(held={target})
