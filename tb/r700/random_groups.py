"""Draws legal ALU clauses: all operations in all slots, with all kinds of operands."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ctm.rtl.isa.r700.alu import INLINE_CONSTANTS, IndexMode, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Operation, Result, Slots
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.elf.r700.executable import Executable
from ctm.tb.lib.random_values import random_floats
from ctm.tb.r700 import ports
from ctm.tb.r700.assembly import Assembly, Label
from ctm.tb.r700.machine import Input, Job
from ctm.tb.r700.words import Slot, Source, Unit, group, positions, reads, slot, tex

GPRS = 14
_LOOP = 0
_CLAUSES, _GROUPS = 3, 20
_WIDTH, _HEIGHT = 3, 3
_CONSTANT_PAIRS = 2
_UNITS = 128
_INDICES = [mode.value for mode in IndexMode if mode.value < 5]
_BY_SLOTS = {kind: [each for each in OPERATIONS.values() if each.slots is kind] for kind in Slots}
INLINE = sorted(INLINE_CONSTANTS)


def random_words(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Words as floats, as small integers and as small floats: what operations tell apart."""
    kind = generator.integers(4, size=shape)
    small = generator.integers(-300, 300, size=shape)
    halves = (small / 2).astype(np.float32).view(np.uint32)
    floats = random_floats(generator, shape)
    return np.choose(kind, [floats, floats, small.astype(np.int64).astype(np.uint32), halves])


@dataclass
class Clause:
    """Groups of a clause; `kcache` has the mode and line of each set."""

    groups: list[tuple[Slot, ...]]
    kcache: tuple[tuple[int, int], tuple[int, int]]

    @property
    def units(self) -> list[list[Unit]]:
        """Its words, group by group."""
        return [group(*slots) for slots in self.groups]


class Drawing:
    """Draws one clause after another."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._kcache = ((0, 0), (0, 0))
        self._produced: set[int] = set()
        self._literals: list[int] = []

    def clause(self, size: int) -> Clause:
        """A clause of up to `size` groups."""
        self._kcache = (self._lock(), self._lock())
        self._produced = set()
        groups: list[tuple[Slot, ...]] = []
        units = 0
        while len(groups) < size:
            drawn = self._group()
            if drawn is None:
                continue
            words = group(*drawn)
            units += len(words)
            if units > _UNITS:
                break
            groups.append(drawn)
            self._produced = set(positions(drawn))
        return Clause(groups, self._kcache)

    def _below(self, end: int) -> int:
        return int(self._generator.integers(end))

    def _chance(self, share: float) -> bool:
        return bool(self._generator.random() < share)

    def _lock(self) -> tuple[int, int]:
        return self._below(3), self._below(16)

    def _group(self) -> tuple[Slot, ...] | None:
        self._literals = []
        slots = self._slots()
        moves = any(OPERATIONS[each.operation].sets_address for each in slots)
        if moves and any(each.relative or any(s.relative for s in each.sources) for each in slots):
            return None
        readings = [(position, reads(each)) for position, each in zip(positions(slots), slots, strict=True)]
        if ports.constant_pairs(readings) > _CONSTANT_PAIRS:
            return None
        swizzles = self._swizzles(readings)
        if swizzles is None:
            return None
        return tuple(replace(each, swizzle=swizzle) for each, swizzle in zip(slots, swizzles, strict=True))

    def _swizzles(self, readings: list[tuple[int, list[ports.Read]]]) -> list[int] | None:
        """Any that fit, or the first ones."""
        for _ in range(8):
            drawn = [self._below(len(ports.cycles_of(position))) for position, _ in readings]
            if ports.fits(readings, drawn):
                return drawn
        drawn = ports.choose(readings, [None] * len(readings))
        return drawn if ports.fits(readings, drawn) else None

    def _slots(self) -> list[Slot]:
        effects = self._below(5)
        if self._chance(0.12):
            reduction = self._of(Slots.REDUCTION, effects)
            slots = [self._slot(reduction, channel) for channel in range(4)]
        else:
            channels = [channel for channel in range(4) if self._chance(0.5)]
            slots = []
            for channel in channels:
                kind = Slots.VECTOR if self._chance(0.06) else Slots.ANY
                slots.append(self._one(slots, kind, channel, effects))
        if self._chance(0.5) or not slots:
            if slots and self._chance(0.5):
                taken = slots[self._below(len(slots))].channel
                slots.append(self._one(slots, Slots.ANY, taken, effects))
            else:
                slots.append(self._one(slots, Slots.TRANS, self._below(4), effects))
        return slots

    def _one(self, before: list[Slot], kind: Slots, channel: int, effects: int) -> Slot:
        """An instruction; a group has one PRED_SET, or any number of KILLs, or neither."""
        has_predicate = any(OPERATIONS[each.operation].sets_predicate for each in before)
        return self._slot(self._of(kind, 2 if effects == 0 and has_predicate else effects), channel)

    def _of(self, kind: Slots, effects: int) -> Operation:
        choice = _BY_SLOTS[kind]
        if effects != 0:
            choice = [each for each in choice if not each.sets_predicate]
        if effects != 1 or not self._chance(0.5):
            choice = [each for each in choice if not each.kills]
        return choice[self._below(len(choice))]

    def _slot(self, operation: Operation, channel: int) -> Slot:
        has_three = isinstance(operation.code, Op3)
        is_float = operation.result is Result.FLOAT
        register, relative = self._register()
        may_modify = not has_three and is_float
        sources = tuple(self._source(has_three) for _ in range(operation.operands))
        sets = operation.sets_predicate
        # There are many of these operations, few of each are drawn, and only modifiers vary their results of 0 and 1.
        omod_share, clamp_share = (0.6, 0.5) if sets or operation.kills else (0.3, 0.2)
        return Slot(
            operation=operation.code,
            sources=sources,
            register=register,
            channel=channel,
            relative=relative,
            writes=has_three or self._chance(0.85),
            index=_INDICES[self._below(len(_INDICES))],
            omod=self._below(4) if may_modify and self._chance(omod_share) else 0,
            clamp=is_float and self._chance(clamp_share),
            predicate=(0, 0, 0, 2, 3)[self._below(5)],
            updates_mask=sets and self._chance(0.2),
            updates_predicate=sets and self._chance(0.8),
        )

    def _register(self) -> tuple[int, bool]:
        kind = self._below(20)
        if kind < 3:
            return 124 + self._below(4), False
        if kind == 3:
            return GPRS + self._below(124 - GPRS), False
        if kind < 6:
            return self._below(128), True
        if kind == 6:
            return self._below(GPRS), True
        return self._below(GPRS), False

    def _source(self, has_three: bool) -> Source:
        sign = {"negated": self._chance(0.25), "absolute": not has_three and self._chance(0.15)}
        kind = self._below(20)
        if kind < 3 and self._produced:
            position = sorted(self._produced)[self._below(len(self._produced))]
            return Source(
                select=255 if position == 4 else 254, channel=self._below(4) if position == 4 else position, **sign
            )
        if kind < 6:
            found = self._constant()
            if found is not None:
                return replace(found, **sign)
        if kind < 8:
            return Source(select=INLINE[self._below(len(INLINE))], channel=self._below(4), **sign)
        if kind == 8:
            return Source(select=253, literal=self._literal(), **sign)
        register, relative = self._register()
        return Source(select=register, relative=relative, channel=self._below(4), **sign)

    def _constant(self) -> Source | None:
        which = self._below(2)
        rows = 16 * self._kcache[which][0]
        if not rows:
            return None
        select = 128 + 32 * which + self._below(rows)
        return Source(select=select, channel=self._below(4), relative=self._chance(0.2))

    def _literal(self) -> int:
        if len(self._literals) < 4:
            self._literals.append(int(random_words(self._generator, (1,))[0]))
        return self._literals[self._below(len(self._literals))]


@dataclass(frozen=True)
class Drawn:
    """A program of clauses in a loop, and the words that its pixels begin with, [GPRS, height, width, 4]."""

    clauses: list[Clause]
    words: np.ndarray
    rows: dict[int, tuple[int, int, int, int]]
    loop: tuple[int, int, int]
    dx10: bool

    def job(self, wavefront: int, *, shown: Sequence[int] = (), observers: Sequence[Any] = ()) -> Job:
        """A run of it, whose targets get the registers `shown` at the end.

        After the GPRS come the temporaries, which are then copied to the first registers.
        """
        height, width = self.words.shape[1:3]
        return Job(
            program=self._executable(shown), domain=(0, 0, width - 1, height - 1), floats=self.rows,
            ints={_LOOP: self.loop}, targets=len(shown), wavefront=wavefront, observers=observers,
            inputs={register: Input(values=self.words[register]) for register in range(GPRS)},
        )  # fmt: skip

    def _executable(self, shown: Sequence[int]) -> Executable:
        """It loads its registers from inputs, the first one last, because that holds the coordinates."""
        a = Assembly()
        a.fetch(*(tex("LD", register, 0, register) for register in range(GPRS - 1, -1, -1)))
        after = Label()
        loop = a.flow("LOOP_START", to=after, const=_LOOP)
        for clause in self.clauses:
            a.alu(*clause.units, name="ALU_PUSH_BEFORE", kcache=clause.kcache)
            a.flow("POP", pop=1)
        a.flow("LOOP_END", to=loop + 1)
        a.bind(after)
        for target, register in enumerate(shown):
            exported = register % GPRS
            if register >= GPRS:
                a.alu(*(group(slot("MOV", f"R{exported}.{c}", f"T{register - GPRS}.{c}")) for c in "xyzw"))
            a.output(exported, target, ends=False)
        a.end()
        return a.executable(gprs=GPRS, type=ProgramType.CS, dx10_clamp=self.dx10)


def draw(seed: int, make: Callable[[np.random.Generator], Drawing] = Drawing) -> Drawn:
    """A random program; `make` says what draws its clauses."""
    generator = np.random.default_rng(seed)
    drawing = make(generator)
    clauses = [drawing.clause(_GROUPS) for _ in range(_CLAUSES)]
    words = random_words(generator, (GPRS, _HEIGHT, _WIDTH, 4))
    constants = random_words(generator, (256, 4))
    rows = {row: (x, y, z, w) for row, (x, y, z, w) in enumerate(constants.tolist())}
    loop = int(generator.integers(1, 3)), int(generator.integers(20)), int(generator.integers(-30, 40))
    return Drawn(clauses, words, rows, loop, bool(generator.random() < 0.5))
