"""FetchSequencer: clauses and exports are split into their micro-ops, in order, each with the register it reads.

No register is read before what writes it is done.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.status import Status
from ctm.rtl.r700.fetch.operation import Task
from ctm.rtl.r700.fetch.sequencer import FetchSequencer
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate
from ctm.tb.r700 import words

MOVES, DEADLINE = fewer(40), 30_000
TEXTURES, ABSENT, WATCHDOG = 3, 1, 1000
"""Inputs from number 3 on; number 1 of these is not there; and what a wavefront may execute."""
GPRS, WAVES = 9, 4


@dataclass(kw_only=True)
class Instruction:
    """A fetch instruction: what is said of it, and its units."""

    units: list[words.Unit]
    task: Task
    source: int = 0
    relative: bool = False
    writes: tuple[int, bool] | None = None
    burst: int = 1
    fetches: bool = False
    broadcasts: bool = False
    illegal: bool = False


@dataclass(kw_only=True)
class MicroOp:
    """A micro-op: `row` is the row that it reads, None if its source is the previous one's or there is none."""

    task: Task
    slice_number: int = 0
    burst: int = 0
    row: int | None = None
    exists: bool = True
    reads: bool = True
    keeps: bool = False
    active: int = 0
    ends: bool = False
    problem: Status = Status.OK
    address: int = 0
    budget: int = 0
    waits: bool = False
    may_fail: bool = False


@dataclass(kw_only=True)
class Move:
    """A clause or an export, with its masks as integers."""

    wave: int
    begin: int
    instructions: list[Instruction]
    unit: int = 0
    exports: bool = False
    masks: dict[str, int] = field(default_factory=dict)
    index: int = 0
    base: int = 0
    budget: int = 0


class Bench:
    """The sequencer with its code, a register file that is free now and then, and a model of the executor."""

    def __init__(self, seed: int, **settings: int) -> None:
        self.config = r700_array(threads=WAVES, temporaries=1024, **settings)
        self.size = self.config.wavefront_lanes
        self.slices = max(1, self.size // (4 * (settings.get("rate") or 4)))
        self.unit: Any = FetchSequencer(self.config)
        self.draw = np.random.default_rng(seed)
        self.code: dict[int, int] = {}
        self.micro_ops: list[tuple[Move, MicroOp]] = []
        self.read: tuple[int, bool] | None = None
        self.at_work = 0
        self.failing: Move | None = None
        self.done = self.waited = self.failed = 0

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _register(self) -> int:
        """Few, so that instructions meet; now and then clause temporaries and what does not exist."""
        return int(self.draw.choice([0, 1, 2, 3, 3, 4, 8, 9, 20, 124, 127]))

    def _instruction(self) -> Instruction:
        draw, source, target = self.draw, self._register(), self._register()
        kind, burst = int(draw.integers(9)), int(draw.integers(1, 4))
        source_rel, target_rel = (self._chance(0.3) for _ in range(2))
        relative = {"src_rel": int(source_rel), "dst_rel": int(target_rel)}
        said: dict[str, Any] = {"source": source, "relative": source_rel, "writes": (target, target_rel)}
        number = int(draw.integers(3))
        if kind < 2:
            name, task = [("SAMPLE", Task.SAMPLE), ("LD", Task.LOAD)][kind]
            units = words.tex(name, target, source, TEXTURES + number, **relative)
            return Instruction(units=units, task=task, fetches=number != ABSENT, **said)
        if kind == 2:
            units = words.tex("GET_GRADIENTS_H", target, source, TEXTURES, **relative)
            return Instruction(units=units, task=Task.GRADIENT, **said)
        if kind == 3:
            # With one slice the sequencer takes its target for one that is written.
            units, writes = words.tex("SET_GRADIENTS_H", target, source, TEXTURES), (target, False)
            return Instruction(units=units, task=Task.NOTHING, writes=writes if self.slices == 1 else None)
        if kind == 4:
            units = words.vtx(target, source, buffer=TEXTURES + number, **relative)
            return Instruction(units=units, task=Task.ELEMENT, fetches=number != ABSENT, **said)
        if kind == 5:
            return Instruction(units=words.vtx(target, source, **relative), task=Task.CONSTANTS, **said)
        if kind == 6:
            units = words.share_write(source, burst_count=burst - 1)
            return Instruction(units=units, task=Task.SHARE_WRITE, source=source, burst=burst)
        if kind == 7:
            broadcasts = self._chance(0.5)
            units = words.share_read(target, source, burst_count=burst - 1, broadcast=int(broadcasts))
            said |= {"relative": False, "writes": (target, False)}
            return Instruction(units=units, task=Task.SHARE_READ, burst=burst, broadcasts=broadcasts, **said)
        units = words.memory_read("RD_SCATTER", target, source, burst_count=burst - 1, **relative)
        return Instruction(units=units, task=Task.AREA, burst=burst, **said)

    def _move(self) -> Move:
        draw = self.draw
        names = ("executing", "active", "covered", "valid_mask")
        masks = {name: int(draw.integers(1, 1 << self.size, dtype=np.uint64)) for name in names}
        if self._chance(0.3):
            masks["active"] = 1 << int(draw.integers(self.size))
        move = Move(
            wave=int(draw.integers(WAVES)), begin=2 * int(draw.integers(400)), instructions=[], masks=masks,
            index=int(draw.integers(4)), base=int(draw.integers(200)), budget=WATCHDOG,
        )  # fmt: skip
        if self._chance(0.3):
            move.exports = True
            burst, register = int(draw.integers(1, 4)), self._register()
            common: dict[str, Any] = {"burst_count": burst - 1, "rw_rel": int(self._chance(0.3))}
            to_memory = self._chance(0.6)
            low, high = (
                words.memory_export(1, register, index_gpr=3, **common)
                if to_memory
                else words.export(0, register, **common)
            )
            move.unit = low | high << 32
            said = {"source": register, "relative": bool(common["rw_rel"]), "burst": burst}
            task = Task.WRITE if to_memory else Task.EXPORT
            move.instructions = [Instruction(units=[], task=task, **said)]  # type: ignore[arg-type]
            return move
        move.instructions = [self._instruction() for _ in range(int(draw.integers(1, 6)))]
        if self._chance(0.15):
            units = words.tex("GET_LOD", 0, 0, TEXTURES)
            bad = Instruction(units=units, task=Task.NOTHING, illegal=True)
            move.instructions[int(draw.integers(len(move.instructions)))] = bad
        if self._chance(0.1):
            move.budget = int(draw.integers(3))
        for number, each in enumerate(move.instructions):
            for half, (low, high) in enumerate(each.units):
                self.code[move.begin + 2 * number + half] = low | high << 32
        return move

    def _micro_ops(self, move: Move) -> Iterator[MicroOp]:
        """What a clause or an export comes apart to."""
        written: set[int] = set()
        for number, each in enumerate(move.instructions):
            address, budget = move.begin + 2 * number, move.budget - number - 1
            at_end = number == len(move.instructions) - 1
            if not move.exports and budget < 0:
                yield MicroOp(
                    task=Task.NOTHING, reads=False, ends=True, problem=Status.WATCHDOG, address=address, budget=0
                )
                return
            if each.illegal:
                problem = Status.ILLEGAL_INSTRUCTION
                yield MicroOp(
                    task=Task.NOTHING, reads=False, ends=True, problem=problem, address=address, budget=budget
                )
                return
            found = list(self._of_instruction(move, each, written))
            for micro_op in found:
                micro_op.budget = move.budget if move.exports else budget
                micro_op.ends = at_end and micro_op is found[-1]
                yield micro_op
            if each.writes is not None:
                written |= {self._named(move, each.writes, k) for k in range(each.burst)}

    @staticmethod
    def _named(move: Move, register: tuple[int, bool], k: int = 0) -> int:
        number, relative = register
        return (number + k + move.index * relative) % 128

    def _of_instruction(self, move: Move, each: Instruction, written: set[int]) -> Iterator[MicroOp]:
        if each.task is Task.NOTHING:
            yield MicroOp(task=each.task, reads=False)
            return
        once = each.task in (Task.SHARE_READ, Task.AREA)
        order = [(slice_number, k) for slice_number in range(self.slices) for k in range(each.burst)]
        if not once:
            order.sort(key=lambda at: at[1])
        for slice_number, k in order:
            if each.task is Task.WRITE:
                yield self._micro_op(move, Task.ADDRESSES, slice_number, k, slice_number, (3, False))
            of = slice_number
            keeps = once and k > 0
            if each.broadcasts:
                of = next(n for n in range(self.slices) if self._of_slice(move.masks["active"], n))
                keeps = keeps or slice_number > 0
            source = each.source + (0 if once else k), each.relative
            micro_op = self._micro_op(move, each.task, slice_number, k, of, source)
            micro_op.keeps, micro_op.reads = keeps, not keeps
            named = {self._named(move, source)}
            if each.writes is not None and not each.fetches:
                named.add(self._named(move, each.writes))
            micro_op.waits = not move.exports and bool(named & written or (once and each.burst > 1 and written))
            micro_op.may_fail = each.task is Task.CONSTANTS
            yield micro_op

    def _micro_op(
        self, move: Move, task: Task, slice_number: int, k: int, of: int, register: tuple[int, bool]
    ) -> MicroOp:
        number, relative = register
        at: int | None = number + move.index * relative
        if 124 <= number < 128 and not relative:
            at = GPRS + number - 124
        elif not 0 <= number + move.index * relative < GPRS:
            at = None
        row = None if at is None else move.base + of * (GPRS + 4) + at
        active = self._of_slice(move.masks["active"], of)
        return MicroOp(task=task, slice_number=slice_number, burst=k, row=row, exists=at is not None, active=active)

    def _of_slice(self, mask: int, slice_number: int) -> int:
        size = self.size // self.slices
        return mask >> slice_number * size & (1 << size) - 1

    async def run(self, context: Any) -> None:
        """Move after move."""
        unit = self.unit
        inputs = [{"pitch": 0 if n == ABSENT else 5} for n in range(16)]
        context.set(
            unit.program, {"gprs": GPRS, "watchdog": WATCHDOG, "texture_base": TEXTURES, "memory": 1, "inputs": inputs}
        )
        waiting: Move | None = None
        given, cycles = 0, 0
        while given < MOVES or self.micro_ops:
            cycles += 1
            assert cycles < DEADLINE, "it does not go on"
            if waiting is None and not self.micro_ops and given < MOVES:
                waiting = self._move()
            context.set(unit.clause.valid, waiting is not None)
            if waiting is not None:
                self._offer(context, waiting)
                if context.get(unit.clause.ready):
                    self.micro_ops = [(waiting, micro_op) for micro_op in self._micro_ops(waiting)]
                    waiting, given = None, given + 1
            await self._cycle(context)

    def _offer(self, context: Any, move: Move) -> None:
        context.set(
            self.unit.clause.payload,
            {
                "wave": move.wave, "exports": int(move.exports), "textures": 1, "unit": move.unit,
                "begin": move.begin, "end": move.begin + 2 * len(move.instructions), **move.masks,
                "loop_index": move.index, "base": move.base, "budget": move.budget,
            },
        )  # fmt: skip

    async def _cycle(self, context: Any) -> None:
        unit = self.unit
        # A wave slot is drained only for a micro-op that waits for it: no other one may wait.
        works = self.at_work > 0
        drained = bool(self.micro_ops) and self.micro_ops[0][1].waits and self._chance(0.3)
        self.at_work -= works
        fails = works and self.failing is not None and self.at_work == 0
        context.set(unit.works, works)
        context.set(unit.failed, fails)
        if fails:
            # Nothing more of its clause comes.
            self.micro_ops = [(move, micro_op) for move, micro_op in self.micro_ops if move is not self.failing]
            self.failed += 1
        context.set(unit.drained, (1 << WAVES) - 1 if drained else 0)
        free = self._chance(0.7)
        context.set(unit.code.free, free)
        context.set(unit.read.ready, self._chance(0.3))
        context.set(unit.micro_op.ready, not works and self._chance(0.6))
        row, reads = context.get(unit.code.row), context.get(unit.code.reads)
        if context.get(unit.issued.valid):
            said = context.get(unit.trace.wave), context.get(unit.trace.executing), context.get(unit.issued.active)
            move = self.micro_ops[0][0]
            assert said == (move.wave, move.masks["executing"], move.masks["active"])
        self._work(context)
        if context.get(unit.read.valid) and context.get(unit.read.ready):
            payload = context.get(unit.read.payload)
            self.read = payload.row, bool(payload.exists)
            assert self.micro_ops and (not self.micro_ops[0][1].waits or (drained and not works)), "reads too early"
            self.waited += self.micro_ops[0][1].waits
        await context.tick()
        hits = bool(reads and free and self._chance(0.8))
        found = [self.code.get(2 * row + half, 0) if hits else 0 for half in range(2)]
        context.set(unit.code.found, {"hit": int(hits), "units": found})

    def _work(self, context: Any) -> None:
        """Compare the micro-op that is offered, and take it."""
        offered = self.unit.micro_op
        if not context.get(offered.valid):
            return
        found = context.get(offered.payload)
        assert self.micro_ops, "a micro-op too many"
        move, micro_op = self.micro_ops[0]
        status = Status(found.problem.status)
        said = (Task(found.fetch.task), found.slice, found.burst, bool(found.keeps), bool(found.ends), status)
        wanted = (micro_op.task, micro_op.slice_number, micro_op.burst, micro_op.keeps, micro_op.ends, micro_op.problem)
        if micro_op.problem is not Status.OK or not micro_op.reads and not micro_op.keeps:
            assert (said[0], *said[4:]) == (micro_op.task, micro_op.ends, micro_op.problem), micro_op
            assert micro_op.problem is Status.OK or found.problem.address == micro_op.address
        else:
            assert said == wanted, f"{said} is not {wanted}"
            masks = {
                name: self._of_slice(move.masks[name], micro_op.slice_number)
                for name in ("executing", "covered", "valid_mask")
            }
            assert {name: found.clause[name] for name in masks} == masks
            assert found.clause.active == micro_op.active
            assert found.clause.base == move.base + micro_op.slice_number * (GPRS + 4)
        assert (found.clause.wave, found.clause.loop_index) == (move.wave, move.index)
        assert found.clause.budget == micro_op.budget
        if micro_op.reads:
            assert self.read is not None, "nothing was read for it"
            assert self.read[1] == micro_op.exists and (not micro_op.exists or self.read[0] == micro_op.row), micro_op
        self.read = None
        if context.get(offered.ready):
            self.micro_ops.pop(0)
            self.done += 1
            self.at_work = int(self.draw.integers(1, 6))
            self.failing = move if micro_op.may_fail and self._chance(0.5) else None


MACHINES = [{"wavefront": 8}, {"wavefront": 16, "rate": 1}]
"""One slice; four."""


def check(seed: int, **settings: int) -> int:
    """Clauses and exports on a machine; how many of them failed at their constants."""
    bench = Bench(seed, **settings)
    simulate(bench.unit, bench.run)
    assert bench.waited and bench.done > 2 * MOVES
    return bench.failed


def compare() -> None:
    """As many as find every planted mistake."""
    assert sum(check(seed, **machine) for seed in range(6) for machine in MACHINES)


def test_micro_ops_come_in_order() -> None:
    assert sum(check(seed, **machine) for seed, machine in enumerate(MACHINES))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6, 46))
def test_many_more_clauses(seed: int) -> None:
    check(seed, **(MACHINES[seed % 2] if seed % 4 else {"wavefront": 64}))
