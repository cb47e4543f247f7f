"""GroupDecode: what a group reads for some pixels' indices, which constants it has to wait for, and what it does."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700.alu import IndexMode
from ctm.rtl.r700.alu.decode import GroupDecode
from ctm.rtl.r700.alu.operands import Source, Uniform
from ctm.tb.lib.streams import simulate
from ctm.tb.r700 import ports, words

GROUPS = 250
CYCLES, PAIRS = 4, 2
ROWS, LINE_ROWS, LINES, LITERALS = 256, 4, 64, 4
OPERATIONS = {"MOV": 1, "FRACT": 1, "ADD": 2, "SETGT": 2, "AND_INT": 2, "MULADD": 3, "CNDE": 3}
"""Number of operands, by name."""
MODES = ("AR_X", "AR_Y", "AR_Z", "AR_W", "LOOP")
LOOP = IndexMode.LOOP.value
Half = tuple[int, int, int | None]
"""A half of a constant: row, half, and the mode of what it is relative to."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """An instruction group and the inputs of its decoding."""

    slots: list[words.Slot]
    kcache: list[int]
    """The first locked line of each set."""
    addresses: list[int]
    """The address register, by channel."""
    loop: int
    """What is added to relative operands in mode LOOP."""
    any_pixel: bool
    """Whether a pixel has these indices."""
    loaded: int
    """Bit mask of the lines that the constants' cache holds."""
    error: int
    """Bit mask of the lines with an error response."""

    def positions(self) -> list[tuple[int, words.Slot]]:
        """Instructions with their slots."""
        return list(zip(words.positions(self.slots), self.slots, strict=True))

    def index(self, mode: int) -> int:
        """The index that is added to a relative operand in a mode."""
        return self.loop if mode == LOOP else self.addresses[mode]

    def half(self, each: words.Slot, operand: words.Source) -> Half | None:
        """The half of a constant that an operand reads; None for other operands."""
        if not 128 <= operand.select < 192:
            return None
        row = 16 * self.kcache[operand.select >= 160] + operand.select % 32
        return row, operand.channel // 2, each.index if operand.relative else None

    def halves(self) -> set[Half]:
        """All halves that are read."""
        found = {self.half(each, operand) for each in self.slots for operand in each.sources}
        return {half for half in found if half is not None}

    def row(self, half: Half) -> int | None:
        """The row of a half, for these indices; None beyond the constants."""
        row, _, mode = half
        moved = row + (0 if mode is None else self.index(mode))
        return moved if 0 <= moved < ROWS else None

    def line(self, half: Half) -> int | None:
        """The line that a half needs: none if it does not exist, or if no pixel has its index."""
        row = self.row(half)
        return None if row is None or (half[2] is not None and not self.any_pixel) else row // LINE_ROWS

    def is_readable(self) -> bool:
        """Whether the read ports and the pairs of constants suffice for the group."""
        readings = [(position, words.reads(each)) for position, each in self.positions()]
        chosen = ports.choose(readings, [None] * len(readings))
        return len(self.halves()) <= PAIRS and ports.fits(readings, chosen)


class Draw:
    """Groups of a few instructions with many constants."""

    def __init__(self, draw: np.random.Generator) -> None:
        self._draw = draw
        self._rows = draw.integers(0, 32, 2).tolist()
        self._mode = str(draw.choice(MODES))
        self._relative = bool(draw.random() < 0.3)

    def _chance(self, probability: float) -> bool:
        return bool(self._draw.random() < probability)

    def case(self) -> Case:
        """A group that may be executed."""
        draw = self._draw
        while True:
            channels = [channel for channel in "xyzw" if self._chance(0.4)]
            lines = [int(draw.choice([0, 1, 14, 15, 255, int(draw.integers(16))])) for _ in range(2)]
            case = Case(
                slots=[self._slot(channel) for channel in channels], kcache=lines,
                addresses=[int(draw.choice([0, 1, -1, 255, -256, int(draw.integers(-40, 40))])) for _ in range(4)],
                loop=int(draw.choice([0, 1, 255, 511, int(draw.integers(40))])), any_pixel=self._chance(0.8),
                loaded=self._lines(0.7), error=self._lines(0.3),
            )  # fmt: skip
            if channels and case.is_readable():
                return case

    def _lines(self, share: float) -> int:
        return sum(1 << line for line in range(LINES) if self._chance(share))

    def _slot(self, channel: str) -> words.Slot:
        """An instruction. Registers are relative to one index in the whole group, or none is."""
        name = str(self._draw.choice(list(OPERATIONS)))
        mode = self._mode if self._relative else str(self._draw.choice(MODES))
        target = f"R{self._draw.integers(124)}{'+' if self._relative and self._chance(0.2) else ''}.{channel}"
        operands = [self._operand() for _ in range(OPERATIONS[name])]
        return words.slot(name, target, *operands, index=mode)

    def _operand(self) -> str:
        draw, channel = self._draw, "xyzw"[int(self._draw.integers(4))]
        kind, plus = draw.random(), "+" if self._chance(0.5) else ""
        if kind < 0.6:
            return f"K{draw.integers(2)}[{draw.choice(self._rows)}{plus}].{channel}"
        if kind < 0.8:
            return f"R{draw.integers(4)}{plus if self._relative else ''}.{channel}"
        return "0.5" if kind < 0.9 else f"#{draw.integers(3):x}"


def drive(context: Any, unit: Any, case: Case, *, illegal: bool, dx10_clamp: bool) -> list[int]:
    """Give the unit a group; its literals."""
    units = words.group(*case.slots)
    own, operands = [0] * 5, [0] * 5
    for (position, each), (low, high) in zip(case.positions(), units, strict=False):
        own[position], operands[position] = low | high << 32, len(each.sources)
    literals = [word for unit in units[len(case.slots) :] for word in unit]
    padded = literals + [0] * (LITERALS - len(literals))
    used = sum(1 << position for position, _ in case.positions())
    context.set(
        unit.group,
        {"used": used, "words": own, "operands": operands, "literals": padded, "illegal": int(illegal)},
    )
    context.set(unit.kcache, [{"line": line, "lines": 2, "problem": 0} for line in case.kcache])
    context.set(unit.indices, {"address": case.addresses, "loop": case.loop})
    context.set(unit.any_pixel, case.any_pixel)
    context.set(unit.constants.loaded, case.loaded)
    context.set(unit.constants.error, case.error)
    context.set(unit.dx10_clamp, dx10_clamp)
    return padded


def same(found: Any, case: Case) -> dict[int, Half]:
    """Compare operands and results with the words; the half of a constant that each pair has."""
    pairs: dict[int, Half] = {}
    for position, each in case.positions():
        effect = found.effects[position]
        assert (effect.writes, effect.number, effect.channel) == (1, each.register, each.channel)
        assert bool(effect.relative) == each.relative
        for number, operand in enumerate(each.sources):
            own, half = found.operands[position][number], case.half(each, operand)
            if half is not None:
                assert (own.source, own.uniform, own.channel) == (Source.UNIFORM, Uniform.CONSTANT, operand.channel)
                assert pairs.setdefault(own.pair, half) == half
            elif operand.select < 128:
                port = found.ports[own.cycle][operand.channel]
                assert (own.source, port.number, bool(port.relative)) == (
                    Source.REGISTER, operand.select, operand.relative,
                )  # fmt: skip
            else:
                assert (own.source, own.uniform) == (Source.UNIFORM, Uniform.VALUE)
    return pairs


def same_constants(context: Any, unit: Any, found: Any, case: Case, pairs: dict[int, Half]) -> Counter[str]:
    """Compare rows and lines of constants."""
    lines, missing = context.get(unit.constants.lines), context.get(unit.constants.missing)
    error, seen = False, Counter[str]()
    for number in range(PAIRS):
        half = pairs.get(number)
        line = None if half is None else case.line(half)
        waits = line is not None and not case.loaded >> line & 1
        assert bool(missing >> number & 1) == waits, f"pair {number} of {case}"
        assert not waits or lines[number] == line
        seen["waits"] += waits
        error = error or (line is not None and not waits and bool(case.error >> line & 1))
        if half is not None:
            row, pair = case.row(half), found.pairs[number]
            assert (bool(pair.exists), pair.half) == (row is not None, half[1]), f"{half} of {case}"
            assert row is None or pair.row == row
            seen["beyond"] += row is None
    assert bool(context.get(unit.constants.is_error)) == error, case
    seen["error"] += error
    return seen


def check(seed: int, groups: int) -> None:
    """So many groups, one after the other or with cycles between them."""
    unit: Any = GroupDecode()
    draw, seen = np.random.default_rng(seed), Counter[str]()

    async def run(context: Any) -> None:
        for _ in range(groups):
            while draw.random() < 0.2:
                context.set(unit.cycle, int(draw.integers(CYCLES)))
                await context.tick()
            case, illegal, dx10_clamp = Draw(draw).case(), bool(draw.random() < 0.2), bool(draw.integers(2))
            literals = drive(context, unit, case, illegal=illegal, dx10_clamp=dx10_clamp)
            for cycle in range(CYCLES):
                context.set(unit.cycle, cycle)
                if cycle < CYCLES - 1:
                    await context.tick()
            found = context.get(unit.decoded)
            assert bool(context.get(unit.illegal)) == illegal, case
            to_ar = any(
                each.index < LOOP and (each.relative or any(operand.relative for operand in each.sources))
                for each in case.slots
            )
            assert bool(context.get(unit.relative)) == to_ar, case
            assert list(found.literals) == literals and bool(found.control.dx10_clamp) == dx10_clamp
            assert (list(found.indices.address), found.indices.loop) == (case.addresses, case.loop)
            seen.update(same_constants(context, unit, found, case, same(found, case)))
            seen["to AR"] += to_ar
            await context.tick()

    simulate(unit, run)
    assert len(seen) == 4 and min(seen.values()) > groups // 20, seen


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, GROUPS)


@pytest.mark.slow
def test_groups_are_decoded_for_indices() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_groups(seed: int) -> None:
    check(seed, 1_500)
