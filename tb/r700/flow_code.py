"""Compiles statement trees to CF instructions, each statement in one of its possible forms, at random."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctm.sim.elf.r700.executable import Executable
from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.statements import (
    AddConstant,
    Assign,
    Call,
    Cut,
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
from ctm.tb.r700.words import Unit, export, group, joined, slot, vtx

_STATE, _INDEX, _FIRST_COUNTER = 1, 2, 3
"""Registers: the pixel's words, an index, and the loops' counters."""
GPRS = 9
_INVERSE = {"BOOL": "NOT_BOOL", "NOT_BOOL": "BOOL"}
_MOST_POPS = 7


def words_of(test: Test, *, inverse: bool = False) -> list[list[Unit]]:
    """Groups that leave the execute mask to the pixels in which the test holds."""
    name = "PRED_SETE_INT" if test.inverse is not inverse else "PRED_SETNE_INT"
    return [
        group(slot("AND_INT", "T0.x", f"R1.{'xyzw'[test.a]}", f"#{1 << test.bit:x}")),
        group(slot(name, "_.x", "PV.x", "0", updates_mask=True)),
    ]


def stack_entries(branches: int, loops: int, calls: int) -> int:
    """The least STACK_SIZE, in entries of four subentries, for so many entries at once."""
    subentries = branches + calls + 4 * loops + (2 if branches else 0)
    return -(-subentries // 4)


Counts = tuple[int, int, int]
"""Entries of branches, loops and calls."""


@dataclass
class _Unit:
    """The stack use of the main program or of a subroutine: its peaks, and the use at each call."""

    peaks: set[Counts] = field(default_factory=set)
    calls: list[tuple[Counts, Subroutine]] = field(default_factory=list)


@dataclass
class _Chain:
    """Ifs that end at one word, which pops `level` entries at `pop`; `after` is the word after it."""

    follower: Statement | None = None
    level: int = 0
    pop: Label = field(default_factory=Label)
    after: Label = field(default_factory=Label)


class Compiler:
    """Compiles a tree; `assembly` is the program, `stack_size` its least STACK_SIZE.

    Forms are chosen by the generator; which pixels execute a statement does not depend on them.
    """

    def __init__(self, generator: np.random.Generator, program: Sequence[Statement]) -> None:
        self.assembly = Assembly()
        self._generator = generator
        self._ends: list[Label] = []
        self._counts: Counts = (0, 0, 0)
        self._unit = main = _Unit()
        self._subroutines: dict[Subroutine, tuple[Label, list[Label]]] = {}
        self._units: dict[Subroutine, _Unit] = {}
        self._begin()
        self._block(program)
        self._emit_export(Export(0, (0, 1, 2, 3)))
        self.assembly.end()
        while waiting := [each for each in self._subroutines if each not in self._units]:
            for each in waiting:
                self._write_subroutine(each)
        self.stack_size = max(stack_entries(*counts) for counts in self._reached(main, (0, 0, 0)))

    def executable(self, **information) -> Executable:
        """The program with the stack that it needs."""
        return self.assembly.executable(**{"gprs": GPRS, "stack_size": self.stack_size, **information})

    def _reached(self, unit: _Unit, base: Counts) -> set[Counts]:
        def above(counts: Counts) -> Counts:
            return base[0] + counts[0], base[1] + counts[1], base[2] + counts[2]

        found = {above(counts) for counts in unit.peaks} | {base}
        for counts, subroutine in unit.calls:
            found |= self._reached(self._units[subroutine], above(counts))
        return found

    def _chance(self, share: float = 0.5) -> bool:
        return bool(self._generator.random() < share)

    def _any_pops(self) -> int:
        """POP_COUNT of a word that ignores it."""
        return int(self._generator.integers(8))

    def _grow(self, branches: int = 0, loops: int = 0, calls: int = 0) -> None:
        b, n, c = self._counts
        self._counts = b + branches, n + loops, c + calls
        self._unit.peaks.add(self._counts)

    def _begin(self) -> None:
        self.assembly.alu(
            group(slot("FLT_TO_INT", "R1.x", "R0.x")),
            group(slot("FLT_TO_INT", "R1.y", "R0.y")),
            group(slot("MULLO_INT", "R1.z", "R1.x", "#9e3779b1")),
            group(slot("MULLO_INT", "R1.w", "R1.y", "#85ebca6b")),
            group(slot("ADD_INT", "R1.z", "R1.z", "PS")),
            group(slot("LSHR_INT", "R1.w", "PV.z", "#10")),
        )

    def _block(self, statements: Sequence[Statement], last: Callable[[Statement], bool] | None = None) -> bool:
        """Write statements. The last one is given to `last`, which may say that it wrote it; whether it did."""
        at = 0
        while at < len(statements):
            statement = statements[at]
            follower = statements[at + 1] if at + 1 < len(statements) else None
            if isinstance(statement, If) and _is_fusable(follower) and self._chance(0.6):
                self._emit_if(statement, _Chain(follower))
                at += 2
                continue
            if follower is None and last is not None and last(statement):
                return True
            getattr(self, f"_emit_{type(statement).__name__.lower()}")(statement)
            at += 1
        return False

    def _assignment(self, statement: Assign) -> list[Unit]:
        second = f"R1.{'xyzw'[statement.b]}" if statement.number is None else f"#{statement.number:x}"
        target = f"R1.{'xyzw'[statement.target]}"
        return group(slot(statement.operation, target, f"R1.{'xyzw'[statement.a]}", second))

    def _emit_assign(self, statement: Assign) -> None:
        self.assembly.alu(self._assignment(statement))

    def _emit_addconstant(self, statement: AddConstant) -> None:
        target = f"R1.{'xyzw'[statement.target]}"
        line, row = divmod(statement.row, 16)
        words = group(slot("ADD_INT", target, target, f"K0[{row}+].x", index="LOOP"))
        self.assembly.alu(words, kcache=[(1, line)])

    def _emit_fetch(self, statement: Fetch) -> None:
        self.assembly.alu(group(slot("AND_INT", f"R{_INDEX}.x", f"R1.{'xyzw'[statement.a]}", "#3f")))
        selects = {f"dst_sel_{c}": 0 if number == statement.target else 7 for number, c in enumerate("xyzw")}
        words = vtx(_STATE, _INDEX, data_format=13, offset=4 * statement.target, **selects)
        name = ("TEX", "VTX", "VTX_TC", "TEX_ACK", "VTX_ACK", "VTX_TC_ACK")[int(self._generator.integers(6))]
        self.assembly.fetch(words, name=name, valid_pixel_mode=int(statement.valid_only))

    def _emit_kill(self, statement: Kill) -> None:
        if statement.test is None:
            self.assembly.flow("KILL", valid_pixel_mode=int(self._chance()))
            return
        tested, _ = words_of(statement.test)
        name = "KILLE_INT" if statement.test.inverse else "KILLNE_INT"
        self.assembly.alu(tested, group(slot(name, "_.x", "PV.x", "0")))

    def _emit_cut(self, statement: Cut, pops: int = 0) -> None:
        if isinstance(statement.condition, Test):
            self.assembly.alu(*words_of(statement.condition))
        else:
            self.assembly.flow("POP", pop=pops, **_fixed(statement.condition))

    def _emit_export(self, statement: Export) -> None:
        self.assembly.raw(export(statement.target, _STATE, statement.selects))

    def _emit_if(self, statement: If, chain: _Chain | None = None) -> None:
        chain = chain or _Chain()
        chain.level += 1
        fused = chain.follower is not None
        final = statement.first if statement.second is None else statement.second
        inner = final[-1]
        merges = not fused and isinstance(inner, If) and chain.level < _MOST_POPS and self._chance(0.6)
        otherwise = Label()
        self._begin_if(statement, chain, fused, merges, otherwise)
        self._grow(branches=1)

        def close(last: Statement) -> bool:
            if merges and isinstance(last, If) and last is inner:
                self._emit_if(last, chain)
                return True
            return self._close_with(last, chain)

        closed = False
        if statement.second is None:
            closed = self._block(statement.first, close)
        else:
            self._otherwise(statement, chain, fused, merges, otherwise)
            closed = self._block(statement.second, close)
        self._grow(branches=-1)
        if not closed:
            self._close(chain)

    def _begin_if(self, statement: If, chain: _Chain, fused: bool, merges: bool, otherwise: Label) -> None:
        if statement.shape == "push" and not fused:
            self.assembly.flow("PUSH", to=chain.after, pop=chain.level - 1)
            self.assembly.alu(*words_of(statement.test))
        else:
            self.assembly.alu(*words_of(statement.test), name="ALU_PUSH_BEFORE")
        if statement.shape == "plain":
            return
        if statement.second is not None:
            self.assembly.flow("JUMP", to=otherwise)
        else:
            self._shortcut("JUMP", chain, fused, merges)

    def _shortcut(self, name: str, chain: _Chain, fused: bool, merges: bool, **condition) -> None:
        """A word that goes to the end of an if where no pixel is active."""
        if fused or (not merges and self._chance()):
            self.assembly.flow(name, to=chain.pop, **condition)
        else:
            self.assembly.flow(name, to=chain.after, pop=chain.level, **condition)

    def _otherwise(self, statement: If, chain: _Chain, fused: bool, merges: bool, label: Label) -> None:
        def with_clause(last: Statement) -> bool:
            if not isinstance(last, Assign) or statement.iterations is not None or self._chance():
                return False
            self.assembly.bind(label)
            self.assembly.alu(self._assignment(last), name="ALU_ELSE_AFTER")
            return True

        if not self._block(statement.first, with_clause):
            self.assembly.bind(label)
            iterations = {} if statement.iterations is None else _fixed(statement.iterations)
            self._shortcut("ELSE", chain, fused, merges, **iterations)

    def _close_with(self, last: Statement, chain: _Chain) -> bool:
        """End a chain of ifs with its last statement in one word, if that is possible."""
        names = {1: "ALU_POP_AFTER", 2: "ALU_POP2_AFTER"}
        if not isinstance(last, Assign) or chain.level not in names or chain.follower is not None or self._chance(0.3):
            return False
        self.assembly.bind(chain.pop)
        self.assembly.alu(self._assignment(last), name=names[chain.level])
        self.assembly.bind(chain.after)
        return True

    def _close(self, chain: _Chain) -> None:
        self.assembly.bind(chain.pop)
        before = self._counts
        if chain.level:
            self._counts = before[0] - chain.level + 1, *before[1:]
        if chain.follower is None:
            self.assembly.flow("POP", pop=chain.level)
        elif isinstance(chain.follower, Cut):
            self._emit_cut(chain.follower, pops=chain.level)
        else:
            assert isinstance(chain.follower, FixedIf)
            self._emit_fixedif(chain.follower, pops=chain.level)
        self._counts = before
        self.assembly.bind(chain.after)

    def _emit_fixedif(self, statement: FixedIf, pops: int = 0) -> None:
        begin, after = ("POP_" if pops else ""), Label()
        modes = {"valid_pixel_mode": int(statement.valid_only)}
        condition = _fixed(statement.condition)
        if statement.shape == "jump":
            otherwise = Label()
            self.assembly.flow(f"{begin}JUMP", to=otherwise, pop=pops, **condition, **modes)
            self._block(statement.first)
            if statement.second is not None:
                self.assembly.flow("JUMP", to=after, cond="FALSE")
            self.assembly.bind(otherwise)
            self._block(statement.second or [])
            self.assembly.bind(after)
            return
        otherwise, chain = Label(), _Chain(level=1)
        if statement.shape == "push":
            self.assembly.flow(f"{begin}PUSH", to=chain.after, pop=pops, **condition, **modes)
        else:
            inverse = {**condition, "cond": _INVERSE[condition["cond"]]}
            to = otherwise if statement.second is not None else chain.pop
            self.assembly.flow(f"{begin}PUSH_ELSE", to=to, pop=pops, **inverse)
        self._grow(branches=1)
        closed = False
        if statement.second is not None:
            self._block(statement.first)
            self.assembly.bind(otherwise)
            self._shortcut("ELSE", chain, False, False)
            closed = self._block(statement.second, lambda last: self._close_with(last, chain))
        else:
            closed = self._block(statement.first, lambda last: self._close_with(last, chain))
        self._grow(branches=-1)
        if not closed:
            self._close(chain)

    def _emit_loop(self, statement: Loop) -> None:
        end, after = Label(), Label()
        name = {"AL": "LOOP_START", "NO_AL": "LOOP_START_NO_AL", "DX10": "LOOP_START_DX10"}[statement.kind]
        number, channel = divmod(statement.number, 4)
        counter = f"R{_FIRST_COUNTER + number}.{'xyzw'[channel]}"
        if statement.kind == "DX10":
            self.assembly.alu(group(slot("MOV", counter, "0")))
        start = self.assembly.flow(name, to=after, const=statement.const)
        self._ends.append(end)
        self._grow(loops=1)
        if statement.kind == "DX10":
            counted = group(slot("ADD_INT", counter, counter, "1i"))
            last = f"PV.{'xyzw'[channel]}"
            limit = f"#{statement.rounds:x}"
            self._leave_where(True, "clause" if self._chance() else "jump", [
                [counted, group(slot("PRED_SETGE_INT", "_.x", limit, last, updates_mask=True))],
                [counted, group(slot("PRED_SETGT_INT", "_.x", last, limit, updates_mask=True))],
            ])  # fmt: skip
        self._block(statement.body)
        self._ends.pop()
        self._grow(loops=-1)
        self.assembly.bind(end)
        self.assembly.flow("LOOP_END", to=start + 1, pop=self._any_pops())
        self.assembly.bind(after)

    def _emit_leave(self, statement: Leave) -> None:
        condition = statement.condition
        if isinstance(condition, Test):
            groups = [words_of(condition, inverse=True), words_of(condition)]
            self._leave_where(statement.is_break, statement.shape, groups)
        else:
            name = "LOOP_BREAK" if statement.is_break else "LOOP_CONTINUE"
            fields = {} if condition is None else _fixed(condition)
            self.assembly.flow(name, to=self._ends[-1], pop=self._any_pops(), **fields)

    def _leave_where(self, is_break: bool, shape: str, groups: Sequence[list[list[Unit]]]) -> None:
        """Leave where `groups` say so: the first ones keep those that stay, the second ones those that leave."""
        if shape == "clause":
            self.assembly.alu(joined(groups[0]), name="ALU_BREAK" if is_break else "ALU_CONTINUE")
            return
        after = Label()
        self.assembly.alu(joined(groups[1]), name="ALU_PUSH_BEFORE")
        self._grow(branches=1)
        if shape == "jump":
            self.assembly.flow("JUMP", to=after, pop=1)
        self.assembly.flow("LOOP_BREAK" if is_break else "LOOP_CONTINUE", to=self._ends[-1], pop=self._any_pops())
        self.assembly.flow("POP", pop=1)
        self._grow(branches=-1)
        self.assembly.bind(after)

    def _emit_call(self, statement: Call) -> None:
        label, _ = self._subroutines.setdefault(statement.subroutine, (Label(), list(self._ends)))
        self._grow(calls=1)
        self._unit.calls.append((self._counts, statement.subroutine))
        self._grow(calls=-1)
        self.assembly.flow("CALL", to=label, call_count=statement.count, **_fixed(statement.condition))

    def _write_subroutine(self, subroutine: Subroutine) -> None:
        label, self._ends = self._subroutines[subroutine]
        self._unit = self._units[subroutine] = _Unit()
        self._counts = (0, 0, 0)
        self.assembly.bind(label)
        self._block(subroutine.body)
        if subroutine.leave is not None:
            self.assembly.flow("RETURN", **_fixed(subroutine.leave))
            self._block(subroutine.after_return)
        self.assembly.flow("RETURN")


def _fixed(condition: Fixed) -> dict:
    return {"cond": condition.cond, "const": condition.const}


def _is_fusable(statement: Statement | None) -> bool:
    """Whether one word can end an if and be this statement, or its beginning."""
    return isinstance(statement, FixedIf) or isinstance(statement, Cut) and isinstance(statement.condition, Fixed)
