"""GroupReader: groups come with their instructions in their slots and their literals, or it is said what is wrong."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.r700 import alu
from ctm.rtl.isa.r700.alu import Op2, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS, Slots
from ctm.rtl.isa.word import replace, unpack
from ctm.rtl.r700.code.groups import ROWS, GroupReader
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

GROUPS = fewer(700)
MOST_WORDS, TRANS, LITERAL, LITERALS = 5, 4, 253, 4
UNITS = 40
"""Of the code."""
UNKNOWN = (*(code for code in Op2 if code not in OPERATIONS), *(code for code in Op3 if code not in OPERATIONS))
KNOWN = {(isinstance(code, Op3), code.value): each for code, each in OPERATIONS.items()}
CODES = {kind: [code for code, each in OPERATIONS.items() if each.slots is kind] for kind in Slots}


@dataclass(kw_only=True)
class Read:
    """What is found from a unit on: `looked_at` is the last unit that must be known, or the one after the clause."""

    legal: bool = True
    slots: dict[int, int] = field(default_factory=dict)
    operands: dict[int, int] = field(default_factory=dict)
    literals: list[int] = field(default_factory=list)
    next: int = 0
    looked_at: int = 0


def fields_of(unit: int) -> dict[str, int]:
    """The fields of an ALU word."""
    low, high = unit & 0xFFFFFFFF, unit >> 32
    has_three = high >> 15 & 7 != 0
    return unpack(alu.ALU_DWORD0, low) | unpack(alu.ALU_DWORD1_OP3 if has_three else alu.ALU_DWORD1_OP2, high)


def read(code: list[int], at: int, end: int) -> Read:
    """The group at a unit, in the order in which its words stand."""
    found = Read(looked_at=at)
    literal_units, positions = 0, [-1]
    while True:
        found.looked_at = at
        if at >= end or len(found.slots) == MOST_WORDS:
            found.legal = False
            return found
        fields = fields_of(code[at])
        operation, channel = KNOWN.get(("src2_sel" in fields, fields["alu_inst"])), fields["dst_chan"]
        if operation is None:
            found.legal = False
            return found
        to_trans = operation.slots is Slots.TRANS or (operation.slots is Slots.ANY and channel in positions)
        position = TRANS if to_trans else channel
        if position <= positions[-1]:
            # Claimed twice, or after a later one.
            found.legal = False
            return found
        positions.append(position)
        found.slots[position], found.operands[position] = code[at], operation.operands
        for number in range(operation.operands):
            if fields[f"src{number}_sel"] == LITERAL:
                literal_units = max(literal_units, 1 + fields[f"src{number}_chan"] // 2)
        at += 1
        if fields["last"]:
            break
    if at + literal_units > end:
        found.legal, found.looked_at = False, end
        return found
    for unit in code[at : at + literal_units]:
        found.literals += [unit & 0xFFFFFFFF, unit >> 32]
    found.next = at + literal_units
    found.looked_at = found.next - 1
    return found


class Draw:
    """Words of groups most of which are legal."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self._literals = float(generator.choice([0, 0.2, 0.4]))
        self._channels = int(generator.choice([2, 4]))

    def _chance(self, probability: float) -> bool:
        return bool(self._generator.random() < probability)

    def _pick(self, values: Any) -> Any:
        return values[int(self._generator.integers(len(values)))]

    def group(self) -> list[int]:
        """Words up to one with LAST, if it is not omitted; some are illegal."""
        wrong = self._chance(0.3)
        if self._chance(0.15):
            code = self._pick(CODES[Slots.REDUCTION])
            wanted = [(code, channel) for channel in range(4)]
        else:
            channels = [channel for channel in range(4) if self._chance(0.5)]
            kinds = [Slots.VECTOR if self._chance(0.2) else Slots.ANY for _ in channels]
            wanted = [(self._pick(CODES[kind]), channel) for kind, channel in zip(kinds, channels, strict=True)]
        if not wanted or self._chance(0.4):
            any_channel = [channel for _, channel in wanted]
            kind = Slots.ANY if any_channel and self._chance(0.5) else Slots.TRANS
            channel = self._pick(any_channel if kind is Slots.ANY else range(4))
            wanted.append((self._pick(CODES[kind]), channel))
        if wrong:
            wanted = self._wrong(wanted)
        omitted = self._chance(0.05)
        return [
            self._word(code, channel, last=number == len(wanted) - 1 and not omitted)
            for number, (code, channel) in enumerate(wanted)
        ]

    def _wrong(self, wanted: list[Any]) -> list[Any]:
        """Another operation, another channel, or one word more, somewhere."""
        at, what = int(self._generator.integers(len(wanted))), int(self._generator.integers(4))
        code, channel = wanted[at]
        kind = self._pick([kind for kind in Slots if CODES[kind]])
        others = [(code, int(self._generator.integers(4))), (self._pick(CODES[kind]), channel),
                  (self._pick(UNKNOWN), channel), (code, channel)]  # fmt: skip
        return [*wanted[:at], others[what], *wanted[at + (what < 3) :]]

    def _word(self, code: Op2 | Op3, channel: int, *, last: bool) -> int:
        """An instruction whose other fields are anything; no operand is a literal by chance."""
        draw, has_three = self._generator, isinstance(code, Op3)
        low, high = (int(word) for word in draw.integers(0, 1 << 32, 2))
        selects = [LITERAL if self._chance(self._literals) else int(draw.integers(LITERAL)) for _ in range(3)]
        channels = draw.integers(self._channels, size=3).tolist()
        low = replace(
            alu.ALU_DWORD0, low, src0_sel=selects[0], src0_chan=channels[0], src1_sel=selects[1],
            src1_chan=channels[1], last=int(last),
        )  # fmt: skip
        layout = alu.ALU_DWORD1_OP3 if has_three else alu.ALU_DWORD1_OP2
        third = {"src2_sel": selects[2], "src2_chan": channels[2]} if has_three else {}
        return low | replace(layout, high, alu_inst=code.value, dst_chan=channel, **third) << 32


@dataclass(kw_only=True)
class Frame:
    """A group that is read, its clause up to `end`, and rows of the code that are missing or have errors."""

    code: list[int]
    at: int
    end: int
    missing: set[int]
    error: set[int]
    age: int = 0


class Bench:
    """The reader with its code."""

    def __init__(self, seed: int) -> None:
        self.unit: Any = GroupReader()
        self.draw = np.random.default_rng(seed)
        self.frame: Frame | None = None
        self.asked: tuple[Frame, int] | None = None
        self.seen: Counter[str] = Counter()

    def _units(self, count: int) -> list[int]:
        return [int(word) for word in self.draw.integers(0, 1 << 64, count, dtype=np.uint64)]

    def _frame(self) -> Frame:
        """A group in other code."""
        draw = self.draw
        code, at, words = self._units(UNITS), int(draw.integers(UNITS // 2)), Draw(draw).group()
        code[at : at + len(words)] = words
        missing, error = (
            {row for row in range(UNITS // 2) if draw.random() < share} for share in draw.choice([0, 0, 0.3], 2)
        )
        end = at + max(1, len(words) + int(draw.choice([-1, 0, 1, 2, 2, 9])))
        return Frame(code=code, at=at, end=end, missing=missing, error=error)

    async def run(self, context: Any, frames: int) -> None:
        """Frame after frame, in the cycle in which the one before is over or later."""
        unit = self.unit
        over: tuple[Frame, bool] | None = None
        while sum(self.seen.values()) < frames:
            self._find(context)
            if over is not None:
                self._compare(context, *over)
            before = self.frame
            if before is not None and before.age == ROWS:
                self.frame = None
            starts = self.frame is None and self.draw.random() < 0.7
            if starts:
                self.frame = self._frame()
            at, end = (self.frame.at, self.frame.end) if starts and self.frame else self.draw.integers(UNITS, size=2)
            context.set(unit.start, starts)
            context.set(unit.address, int(at))
            context.set(unit.end, int(end))
            assert bool(context.get(unit.reads)) == (self.frame is not None), "code is asked for at other times"
            self.asked = None
            if self.frame is not None:
                self.asked = self.frame, context.get(unit.row)
                assert self.asked[1] == self.frame.at // 2 + self.frame.age
                self.frame.age += 1
            is_done = before is not None and before is not self.frame
            assert bool(context.get(unit.done)) == is_done
            over = (before, bool(context.get(unit.whole))) if before is not None and is_done else None
            await context.tick()

    def _find(self, context: Any) -> None:
        """The row that was asked for in the cycle before; anything if it is not there."""
        units, hit, error = self._units(2), False, False
        if self.asked is not None:
            frame, row = self.asked
            hit, error = row not in frame.missing, row in frame.error
            if hit and not error:
                units = frame.code[2 * row : 2 * row + 2]
        context.set(self.unit.found, {"hit": int(hit), "error": int(error), "units": units})

    def _compare(self, context: Any, frame: Frame, whole: bool) -> None:
        """The results of a frame, a cycle after its end."""
        unit, wanted = self.unit, read(frame.code, frame.at, frame.end)
        rows = range(frame.at // 2, wanted.looked_at // 2 + 1)
        # The first row that keeps the group from being read says how.
        error = {row for row in frame.error if 2 * row < frame.end}
        stopped = next((row for row in rows if row in frame.missing | error), None)
        group = context.get(unit.group)
        assert whole == (stopped not in frame.missing)
        if not whole:
            self.seen["missing"] += 1
            return
        assert group.address == frame.at
        assert bool(group.error) == (stopped is not None)
        if stopped is not None:
            self.seen["error"] += 1
            return
        assert bool(group.illegal) == (not wanted.legal)
        self.seen[f"{len(wanted.literals)} literals" if wanted.legal else "illegal"] += 1
        if wanted.legal:
            found = {position: group.words[position] for position in range(MOST_WORDS)}
            used = {position for position in found if group.used >> position & 1}
            assert (used, found) == ({*wanted.slots}, dict.fromkeys(found, 0) | wanted.slots)
            assert list(group.operands) == [wanted.operands.get(position, 0) for position in range(MOST_WORDS)]
            assert [group.literals[number] for number in range(LITERALS)][: len(wanted.literals)] == wanted.literals
            assert group.next == wanted.next


def check(seed: int, frames: int) -> None:
    """So many frames."""
    bench = Bench(seed)
    simulate(bench.unit, lambda context: bench.run(context, frames))
    assert len(bench.seen) == 6 and min(bench.seen.values()) > frames // 50, bench.seen


def compare() -> None:
    """What the ordinary suite compares."""
    check(1, GROUPS)


def test_groups_are_read() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_groups(seed: int) -> None:
    check(seed, 10_000)
