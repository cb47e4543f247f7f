"""GroupReads: every operand has the source that its word names, by the existing ports, or the group is illegal."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.word import replace
from ctm.rtl.r700.alu.operands import Source, Uniform
from ctm.rtl.r700.alu.reads import GroupReads
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.ports import TRANS, Read, cycles_of, port_reads

SLOTS, OPERANDS, CYCLES, CHANNELS = 5, 3, 3, 4
GROUPS = fewer(250)
LITERAL, PREVIOUS_VECTOR, PREVIOUS_SCALAR = 253, 254, 255
INLINE = range(244, 253)
AL = 4
STEPS = CYCLES + 1
"""Cycles in which reads are found."""


@dataclass(frozen=True, kw_only=True)
class Operand:
    """An operand as its word has it; `mode` is INDEX_MODE where the operand is relative, else 0."""

    position: int
    at: int
    select: int
    channel: int
    relative: bool
    mode: int

    @property
    def kind(self) -> str:
        """As `Read` has it, or "unknown"."""
        if self.select < 128:
            return "register"
        if self.select < 192:
            return "constant"
        if self.select in INLINE or self.select == LITERAL:
            return "value"
        return "previous" if self.select in (PREVIOUS_VECTOR, PREVIOUS_SCALAR) else "unknown"

    @property
    def read(self) -> Read:
        """What the port rule has to know."""
        return Read(self.kind, self.select, self.channel, self.relative)


@dataclass(frozen=True, kw_only=True)
class Lock:
    """What a clause has locked of a kcache set."""

    line: int
    lines: int
    problem: bool


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group: of each slot its operands and its BANK_SWIZZLE; what it may use."""

    operands: dict[int, list[Operand]]
    swizzles: dict[int, int]
    locks: list[Lock]
    produced: int

    def row(self, operand: Operand) -> int:
        """The row of a constant."""
        return 16 * self.locks[operand.select >= 160].line + operand.select % 32

    def pairs(self) -> set[tuple[int, int, bool, int]]:
        """Halves of constants that it reads: row, half, what they are relative to."""
        return {
            (self.row(each), each.channel // 2, each.relative, each.mode)
            for operands in self.operands.values() for each in operands if each.kind == "constant"
        }  # fmt: skip

    def _may(self, operand: Operand) -> bool:
        """Whether an operand may be what it is."""
        if operand.kind == "previous":
            slot = TRANS if operand.select == PREVIOUS_SCALAR else operand.channel
            return not operand.relative and bool(self.produced >> slot & 1)
        if operand.kind == "constant":
            lock = self.locks[operand.select >= 160]
            if lock.problem or operand.select % 32 >= 16 * lock.lines:
                return False
        if operand.kind in ("register", "constant"):
            return operand.mode <= AL
        return operand.kind == "value" and not operand.relative

    def ports(self) -> dict[tuple[int, int], list[Operand]] | None:
        """By cycle and channel the registers that the swizzles have read there; None where slot t cannot read so."""
        found: dict[tuple[int, int], list[Operand]] = {}
        for position, operands in self.operands.items():
            if not operands:
                continue
            reads = [each.read for each in operands]
            wanted = port_reads(position, self.swizzles[position], reads)
            if wanted is None:
                return None
            for cycle, read in wanted:
                operand = next(each for each in operands if each.read == read)
                found.setdefault((cycle, read.channel), []).append(operand)
        return found

    def strays(self) -> set[Operand]:
        """Operands relative to another index than the first one at their port."""
        return {
            each for users in (self.ports() or {}).values() for each in users if each.mode != users[0].mode
        }  # fmt: skip

    def is_legal(self) -> bool:
        """Whether it may be executed by a machine with these ports."""
        operands = [each for slot in self.operands.values() for each in slot]
        swizzles = [
            self.swizzles[position] < len(cycles_of(position)) for position, slot in self.operands.items() if slot
        ]
        if not all(map(self._may, operands)) or not all(swizzles) or len(self.pairs()) > 2:
            return False
        ports = self.ports()
        if ports is None or any(len({(each.select, each.relative) for each in users}) > 1 for users in ports.values()):
            return False
        strays = {(each.select, each.channel, each.mode) for each in self.strays()}
        return len(strays) <= 1 and all((set(range(CYCLES)) - {c for c, at in ports if at == channel})
                                        for _, channel, _ in strays)  # fmt: skip


class Draw:
    """Random groups: legal ones, and what one change makes of them."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        # Now and then a register is relative to several indices.
        self._strays = self._chance(0.3)
        self._numbers = [*generator.integers(0, 128, 2).tolist(), 124][: 1 if self._strays else 3]
        self._channels = generator.permutation(CHANNELS)[: int(generator.integers(1, 3)) if self._strays else CHANNELS]
        self._mode = int(generator.integers(AL + 1))
        self._relatives = 0.9 if self._strays else float(generator.choice([0, 0.2, 0.6]))

    def _chance(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def group(self) -> Group:
        """A group, with swizzles that suit it if a few attempts find some; half of them then changed."""
        generator = self._generator
        operands = {
            position: self._operands(position)
            for position in np.flatnonzero(generator.random(SLOTS) < generator.choice([0.3, 0.6, 1.0])).tolist()
        }
        locks = [Lock(line=int(generator.choice([0, 1, 15, 255])), lines=2, problem=False) for _ in range(2)]
        for _ in range(20):
            swizzles = {position: int(generator.integers(len(cycles_of(position)))) for position in operands}
            group = Group(operands=operands, swizzles=swizzles, locks=locks, produced=(1 << SLOTS) - 1)
            if group.is_legal():
                break
        return self._changed(group) if operands and self._chance(0.5) else group

    def _operands(self, position: int) -> list[Operand]:
        """Those of a slot."""
        count, mode = int(self._generator.integers(OPERANDS + 1)), self._mode
        if self._chance(0.5 if self._strays else 0.2):
            mode = int(self._generator.integers(AL + 1))
        found = []
        for at in range(count):
            select = self._select()
            relative = self._chance(self._relatives) and select < 192
            channel = int(self._generator.choice(self._channels))
            found.append(
                Operand(
                    position=position, at=at, select=select, channel=channel, relative=relative, mode=mode * relative
                )
            )
        return found

    def _select(self) -> int:
        draw, kind = self._generator, 1 if self._strays else self._generator.random()
        if kind < 0.2:
            return 128 + 32 * int(draw.integers(2)) + int(draw.choice([0, 3, 3, 3, 15, 16, 31]))
        if kind < 0.3:
            return int(draw.choice([*INLINE, LITERAL]))
        return int(draw.choice([PREVIOUS_VECTOR, PREVIOUS_SCALAR] if kind < 0.4 else self._numbers))

    def _changed(self, group: Group) -> Group:
        """The group with one other operand or swizzle."""
        draw = self._generator
        every = [each for operands in group.operands.values() for each in operands]
        previous = [each for each in every if each.kind == "previous"]
        constants = [each for each in every if each.kind == "constant"]
        what = int(draw.integers(4))
        if what == 0 and previous:
            each = previous[int(draw.integers(len(previous)))]
            slot = TRANS if each.select == PREVIOUS_SCALAR else each.channel
            return dataclasses.replace(group, produced=group.produced & ~(1 << slot))
        if what == 1 and constants:
            at = constants[int(draw.integers(len(constants)))].select >= 160
            lock = Lock(line=int(draw.integers(256)), lines=int(draw.integers(1, 3)), problem=self._chance(0.5))
            return dataclasses.replace(group, locks=[lock, group.locks[1]] if not at else [group.locks[0], lock])
        position = TRANS if TRANS in group.operands and self._chance(0.5) else int(draw.choice(list(group.operands)))
        if what < 3 or not group.operands[position]:
            return dataclasses.replace(group, swizzles={**group.swizzles, position: int(draw.integers(8))})
        return dataclasses.replace(group, operands={**group.operands, position: self._other(group.operands[position])})

    def _other(self, operands: list[Operand]) -> list[Operand]:
        """Operands of a slot, one of which is another; or all are relative to something else."""
        draw, what = self._generator, int(self._generator.integers(4))
        if what == 0:
            mode = int(draw.integers(8))
            return [dataclasses.replace(each, mode=mode * each.relative) for each in operands]
        at = int(draw.integers(len(operands)))
        other: dict[str, Any] = {"select": int(draw.integers(512)) if what == 1 else self._select()}
        if what == 3:
            own = next((each.mode for each in operands if each.relative), self._mode)
            relative = not operands[at].relative
            other = {"relative": relative, "mode": own * relative}
        return [dataclasses.replace(each, **other) if each.at == at else each for each in operands]


def words_of(group: Group, generator: np.random.Generator) -> list[int]:
    """The words of all slots, whose other fields are any."""
    words = [int(word) for word in generator.integers(0, 1 << 63, SLOTS)]
    for position, operands in group.operands.items():
        fields = {
            f"src{each.at}_{name}": int(value)
            for each in operands
            for name, value in (("sel", each.select), ("chan", each.channel), ("rel", each.relative))
        }  # fmt: skip
        fields["index_mode"] = next((each.mode for each in operands if each.relative), int(generator.integers(8)))
        fields["bank_swizzle"] = group.swizzles[position]
        low, high = (
            replace(layout, word, **{name: value for name, value in fields.items() if name in dict(layout)})
            for layout, word in (
                (alu.ALU_DWORD0, words[position] & 0xFFFFFFFF), (alu.ALU_DWORD1_OP3, words[position] >> 32)
            )
        )  # fmt: skip
        words[position] = low | high << 32
    return words


def same(reads: Any, group: Group) -> None:
    """Compare what was found with what a legal group's operands are."""
    strays = group.strays()
    pairs = {
        (int(pair.row), int(pair.half), bool(pair.relative), pair.mode.value if pair.relative else 0)
        for pair in reads.pairs if pair.used
    }  # fmt: skip
    assert pairs == group.pairs()
    for position, operands in group.operands.items():
        cycles = cycles_of(position)[group.swizzles[position]] if operands else ()
        for each in operands:
            found = reads.operands[position][each.at]
            if each.kind == "register":
                assert found.source == Source.REGISTER
                shares = each.at == 1 and position != TRANS and each.read == operands[0].read
                is_kept = not any((each.read, each.mode) == (stray.read, stray.mode) for stray in strays)
                assert found.cycle == cycles[0 if shares else each.at] or not is_kept
                port = reads.ports[found.cycle][each.channel]
                assert (port.number, bool(port.relative)) == (each.select, each.relative)
                assert not each.relative or port.mode.value == each.mode
            elif each.kind == "previous":
                scalar = each.select == PREVIOUS_SCALAR
                assert found.source == (Source.SCALAR if scalar else Source.VECTOR)
                assert scalar or found.channel == each.channel
            elif each.kind == "constant":
                assert (found.source, found.uniform) == (Source.UNIFORM, Uniform.CONSTANT)
                pair = reads.pairs[found.pair]
                assert pair.used and found.channel == each.channel
                assert (pair.row, pair.half) == (group.row(each), each.channel // 2)
                assert bool(pair.relative) == each.relative
                assert not each.relative or pair.mode.value == each.mode
            else:
                assert (found.source, found.uniform) == (Source.UNIFORM, Uniform.VALUE)
                assert found.value == each.select % 16
                assert each.select != LITERAL or found.channel == each.channel


def check(seed: int, count: int) -> None:
    """So many groups, one after the other or with cycles between them."""
    generator = np.random.default_rng(seed)
    unit: Any = GroupReads()
    seen = {"legal": 0, "illegal": 0, "stray": 0, "to AR": 0}

    async def run(context: Any) -> None:
        for _ in range(count):
            group = Draw(generator).group()
            while generator.random() < 0.3:
                context.set(unit.cycle, int(generator.integers(STEPS)))
                await context.tick()
            operands = [len(group.operands.get(position, ())) for position in range(SLOTS)]
            # Of what is not used anything may be said.
            claimed = [found if position in group.operands else 3 for position, found in enumerate(operands)]
            used = sum(1 << position for position in group.operands)
            context.set(unit.group, {"used": used, "words": words_of(group, generator), "operands": claimed})
            context.set(unit.kcache, [vars(lock) for lock in group.locks])
            context.set(unit.produced, group.produced)
            for cycle in range(STEPS):
                context.set(unit.cycle, cycle)
                if cycle < STEPS - 1:
                    await context.tick()
            reads = context.get(unit.reads)
            legal = group.is_legal()
            assert not reads.illegal == legal, group
            seen["legal" if legal else "illegal"] += 1
            if legal:
                same(reads, group)
                every = [each for slot in group.operands.values() for each in slot]
                to_address = any(each.relative and each.mode != AL for each in every)
                assert bool(reads.relative) == to_address, group
                seen["stray"] += bool(group.strays())
                seen["to AR"] += to_address
            await context.tick()

    simulate(unit, run)
    assert min(seen.values()) > count // 40, seen


def compare() -> None:
    """As many as find every planted mistake."""
    for seed in range(1, 7):
        check(seed, GROUPS)


@pytest.mark.slow
def test_operands_come_from_where_they_should() -> None:
    check(1, GROUPS)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(7, 17))
def test_many_more_groups(seed: int) -> None:
    check(seed, 20_000)
