"""Pipeline: a group in each interval; registers are read, results come and are written in the cycles that they have."""

from collections import Counter
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal, Value
from amaranth.lib import data

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.r700.alu import IndexMode, Op2, Op3
from ctm.rtl.isa.r700.operations import OPERATIONS
from ctm.rtl.r700.alu.operands import Source, Uniform
from ctm.rtl.r700.alu.pipeline.pipeline import Pipeline
from ctm.rtl.r700.border.registers import depth_of
from ctm.rtl.r700.code.controls import control
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.streams import simulate
from ctm.tb.r700.alu.issued_group import CHANNELS, CYCLES, MASK, PAIRS, SLOTS, TRANS, Draw, Group, Register

GPRS, CONTEXTS, PERIOD, LATENCY = 20, 4, 4, 11
INTERVALS = 24
READ_FIRST = CYCLES + 1
"""When the first pass is in the lanes."""


def word_of(*numbers: int) -> int:
    """A word for these numbers, now and then a zero."""
    value = 0x9E3779B9
    for number in numbers:
        value = (value ^ number) * 0x85EBCA6B & MASK
        value ^= value >> 13
    return 0 if value % 7 == 0 else value


class File:
    """Registers and constants, each with a word of its own; some registers were not written."""

    def __init__(self, pixels: int) -> None:
        self.pixels = pixels

    @staticmethod
    def words_valid(row: int, channel: int) -> bool:
        """Whether it was written."""
        return word_of(row, channel, 1) % 5 > 0

    def words(self, row: int, channel: int) -> list[int]:
        """What pixels have."""
        shown = self.words_valid(row, channel)
        return [word_of(row, channel, pixel, 2) * shown for pixel in range(self.pixels)]

    @staticmethod
    def constant(row: int) -> list[int]:
        """A row of constants."""
        return [word_of(row, channel, 3) for channel in range(CHANNELS)]


CYCLE_INPUTS = {
    "phase": "phase", "found": "registers.found", "constant_words": "constant_words", "gates": "end.gates",
    "others": "registers.others",
}  # fmt: skip
"""Where the pipeline has them."""


def gathered(unit: Any) -> tuple[Module, Any]:
    """The pipeline with what it is given in each cycle as one signal: to set each by itself takes much longer."""
    m = Module()
    m.submodules += unit
    ports = {name: Value.cast(attrgetter(path)(unit)) for name, path in CYCLE_INPUTS.items()}
    layout = data.StructLayout({name: port.shape() for name, port in ports.items()})
    inputs: Any = Signal(layout, name="inputs")
    m.d.comb += [port.eq(inputs[name]) for name, port in ports.items()]
    return m, inputs


def joined(values: list[int], width: int) -> int:
    """Values side by side, the first one lowest."""
    return sum(value << width * offset for offset, value in enumerate(values))


class Bench:
    """The pipeline with registers and constants, and the expected results of the groups in flight."""

    def __init__(self, seed: int, **settings: int) -> None:
        array = r700_array(threads=CONTEXTS, temporaries=512, **settings)
        self.unit: Any = Pipeline(MachineConfig(array=array))
        self.module, self.inputs = gathered(self.unit)
        self.draw = np.random.default_rng(seed)
        self.size = settings["wavefront"]
        self.passes = self.size // (settings.get("rate") or settings["lanes"])
        self.interval = max(PERIOD, self.passes)
        self.of_slice = min(self.passes, PERIOD)
        self.slices = self.passes // self.of_slice
        self.file = File(self.size // self.slices)
        self.rows = depth_of(array)
        self.other: list[tuple[int, int, list[int]]] = []
        """Of each channel, what others write in this cycle: the row, the pixels, their words."""
        self.groups = Draw(self.draw, size=self.size, gprs=GPRS, rows=self.rows, slices=self.slices)
        self.previous: dict[int, list[list[int]]] = {}
        self.issued: dict[int, int] = {}
        self.in_flight: list[tuple[int, Group]] = []
        self.written: tuple[Group, int, int] | None = None
        """Of slot t: the group, the slice, pixels in which it is written."""
        self.found: dict[str, Any] = {}
        self.seen: Counter[str] = Counter()

    @property
    def first(self) -> int:
        """When the first results of a group come."""
        return READ_FIRST + LATENCY

    @property
    def last(self) -> int:
        """When the last ones come."""
        return self.first + self.passes - 1

    async def run(self, context: Any, intervals: int) -> None:
        """Interval after interval."""
        unit = self.unit
        context.set(unit.gprs, GPRS)
        now: Group | None = None
        for cycle in range(intervals * self.interval):
            phase = cycle % self.interval
            if phase == 0:
                now = self._issue(cycle)
                context.set(unit.valid, now is not None)
                if now is not None:
                    context.set(unit.issue, issue_of(now))
                    self.in_flight.append((cycle, now))
            gates = [int.from_bytes(self.draw.bytes(8), "little") % (1 << self.size) for _ in range(SLOTS)]
            others = self._others(cycle)
            context.set(
                self.inputs,
                {"phase": phase, "gates": joined(gates, self.size), "others": others, **self._respond(now, phase)},
            )
            self._read(context, now, phase)
            self._see_writes(context, cycle, gates)
            self._see_results(context, cycle)
            await context.tick()

    def _issue(self, cycle: int) -> Group | None:
        """A group of a context whose previous one's registers and masks are written; or none."""
        free = [number for number in range(CONTEXTS) if self.issued.get(number, -1000) + self.last + 2 <= cycle]
        if not free or self.draw.random() < 0.1:
            return None
        context = int(self.draw.choice(free))
        group = self.groups.group(context, has_previous=context in self.previous)
        before = self.previous.setdefault(context, [[0] * self.size for _ in range(SLOTS)])
        group.execute(self.size, GPRS, self.file.words, self.file.constant, before)
        for slot, results in enumerate(group.results):
            before[slot] = [
                new if group.chosen >> pixel & 1 else old
                for pixel, (new, old) in enumerate(zip(results, before[slot], strict=True))
            ]
        self.issued[context] = cycle
        return group

    def _respond(self, now: Group | None, phase: int) -> dict[str, int]:
        """The words that were read in the previous cycle, and a constant of the group; random without a read."""
        found = self.found
        if now is not None and phase < PAIRS:
            row, _, exists = now.pairs[phase]
            found |= {"constant": self.file.constant(row)} if exists else {}
        anything = self.draw.integers(0, 1 << 32, (CHANNELS, self.file.pixels)).tolist()
        words = [word for channel in range(CHANNELS) for word in found.get(f"words_{channel}", anything[channel])]
        valid = found.get("words_valid", int(self.draw.integers(1 << CHANNELS)))
        constant = found.get("constant", [row[0] for row in anything])
        self.found = {}
        return {"found": joined(words, 32) | valid << 32 * len(words), "constant_words": joined(constant, 32)}

    def _read(self, context: Any, now: Group | None, phase: int) -> None:
        """Registers and constants that the group reads."""
        if now is None:
            return
        number, step = divmod(phase, PERIOD)
        if step < CYCLES and number < self.slices:
            valid = 0
            for channel in range(CHANNELS):
                row = self._row(now.ports[step][channel], now, number)
                read = context.get(self.unit.registers.reads[channel])
                assert bool(read.exists) == (row is not None), f"cycle {phase}, channel {channel}"
                if row is None:
                    continue
                assert read.row == row, f"cycle {phase}, channel {channel}"
                if self.file.words_valid(row, channel):
                    valid |= 1 << channel
                    self.found[f"words_{channel}"] = self.file.words(row, channel)
            self.found["words_valid"] = valid

    def _row(self, register: Register, group: Group, number: int) -> int | None:
        """The row of a register of a slice."""
        offset = register.offset(group.indices, GPRS)
        return None if offset is None else group.base + number * (GPRS + 4) + offset

    def _of_slice(self, values: Any, number: int) -> Any:
        """Of what each pixel has, a slice's."""
        pixels = self.file.pixels
        if isinstance(values, int):
            return values >> number * pixels & (1 << pixels) - 1
        return values[number * pixels : (number + 1) * pixels]

    def _coming(self, cycle: int) -> tuple[Group, int] | None:
        """The group and the slice whose results come in this cycle."""
        for start, group in self.in_flight:
            number, remaining = divmod(cycle - start - self.first + 1, self.of_slice)
            if remaining == 0 and 1 <= number <= self.slices:
                return group, number - 1
        return None

    def _others(self, cycle: int) -> int:
        """What others write: anything in cycles that are no results', 0 in these."""
        layout = self.unit.registers.others.shape()
        self.other = []
        offset = (cycle - self.last) % PERIOD
        if offset in (0, 1):
            return 0
        for _ in range(CHANNELS):
            enable = int(self.draw.integers(1 << self.file.pixels))
            words = self.draw.integers(0, 1 << 32, self.file.pixels).tolist()
            kept = [word * (enable >> pixel & 1) for pixel, word in enumerate(words)]
            self.other.append((int(self.draw.integers(self.rows)), enable, kept))
        fields = [{"row": row, "enable": enable, "words": words} for row, enable, words in self.other]
        return int(layout.const(fields).as_bits())

    def _see_writes(self, context: Any, cycle: int, gates: list[int]) -> None:
        """Vector slots' results are written when they come, those of slot t a cycle later; and what others write."""
        expected = dict(enumerate(self.other))
        coming = self._coming(cycle)
        if self.written is not None:
            group, number, enable = self.written
            self._expect(expected, group, number, TRANS, enable)
        self.written = None
        if coming is not None:
            group, number = coming
            for slot in range(TRANS):
                self._expect(expected, group, number, slot, self._of_slice(gates[slot], number))
            self.written = group, number, self._of_slice(gates[TRANS], number)
        for channel in range(CHANNELS):
            write = context.get(self.unit.registers.writes[channel])
            row, enable, words = expected.get(channel, (0, 0, []))
            assert write.enable == enable, f"channel {channel} in cycle {cycle}"
            if enable:
                assert write.row == row
                found = [write.words[pixel] for pixel in range(self.file.pixels)]
                # Words of pixels that are not written are 0.
                assert found == [word * (enable >> pixel & 1) for pixel, word in enumerate(words)]
                self.seen["writes"] += 1

    def _expect(
        self, expected: dict[int, tuple[int, int, list[int]]], group: Group, number: int, slot: int, enable: int
    ) -> None:
        row = self._row(group.targets[slot], group, number)
        if group.writes[slot] and row is not None:
            expected[group.channel(slot)] = row, enable, self._of_slice(group.results[slot], number)

    def _see_results(self, context: Any, cycle: int) -> None:
        """Results of a slice, and with the last one of the group."""
        end, coming = self.unit.end, self._coming(cycle)
        results, ends = context.get(end.results), bool(context.get(end.ends))
        assert bool(results.valid) == (coming is not None), f"cycle {cycle}"
        assert ends == (coming is not None and coming[1] == self.slices - 1)
        if coming is None:
            return
        group, number = coming
        assert self.slices == 1 or results.slice == number
        for slot in range(SLOTS):
            found = [results.words[slot][pixel] for pixel in range(self.file.pixels)]
            expected = self._of_slice(group.results[slot], number)
            assert found == expected, f"slot {slot}, slice {number} of {group}"
        if ends:
            self._see_end(context, group)
            self.in_flight = [each for each in self.in_flight if each[1] is not group]

    def _see_end(self, context: Any, group: Group) -> None:
        """What changes beside registers."""
        end, ending = self.unit.end, context.get(self.unit.end.group)
        assert (ending.context, ending.chosen, ending.base, bool(ending.last)) == (
            group.context, group.chosen, group.base, group.last,
        )  # fmt: skip
        assert [*ending.indices.address, ending.indices.loop] == group.indices
        for slot, effect in enumerate(ending.effects):
            target = group.targets[slot]
            assert (bool(effect.writes), effect.number) == (group.writes[slot], target.number)
        assert context.get(end.predicate) == group.predicate
        assert list(context.get(end.kill)) == group.kills
        for slot, name in enumerate(group.names):
            if name.startswith("MOVA"):
                found = list(context.get(end.addresses[slot]))
                assert found == [group.index(slot, pixel) for pixel in range(self.size)]
                self.seen["addresses"] += 1
        self.seen.update({"ends": 1, "predicates": group.predicate > 0, "kills": any(group.kills)})


def issue_of(group: Group) -> dict[str, Any]:
    """A group as the pipeline has it."""
    codes = [Op2[name] if name in Op2.__members__ else Op3[name] for name in group.names]
    modes = list(IndexMode)
    ports, targets = (
        [[{"number": each.number, "relative": int(each.relative), "mode": modes[each.mode]} for each in registers]
         for registers in rows] for rows in (group.ports, [group.targets])
    )  # fmt: skip
    effects = [
        {**target, "writes": int(group.writes[slot]), "channel": group.channel(slot)}
        for slot, target in enumerate(targets[0])
    ]
    operands = [
        [
            {"source": list(Source)[each.source], "channel": each.channel, "cycle": each.cycle, "pair": each.pair,
             "uniform": list(Uniform)[each.uniform], "value": each.select % 16} for each in own
        ] for own in group.operands
    ]  # fmt: skip
    decoded = {
        "ports": ports, "operands": operands, "literals": group.literals, "effects": effects,
        "pairs": [{"row": row, "half": half, "exists": int(exists)} for row, half, exists in group.pairs],
        "control": {"slots": [control(OPERATIONS[code]) for code in codes]},
        "indices": {"address": group.indices[:CHANNELS], "loop": group.indices[CHANNELS]},
    }  # fmt: skip
    return {
        "context": group.context, "chosen": group.chosen, "base": group.base, "last": int(group.last),
        "decoded": decoded,
    }  # fmt: skip


MACHINES = [{"lanes": 4, "wavefront": 8, "rate": 1}, {"lanes": 4, "wavefront": 8, "rate": 2}]
"""Two slices of four pixels, one at a time; a slice of four passes."""


def check(seed: int, intervals: int, **settings: int) -> None:
    """So many intervals."""
    bench = Bench(seed, **settings)
    simulate(bench.module, lambda context: bench.run(context, intervals))
    assert len(bench.seen) == 5 and min(bench.seen.values()) > intervals // 20, bench.seen


def compare() -> None:
    """As much as finds every planted mistake."""
    for seed, machine in enumerate(MACHINES):
        check(seed, INTERVALS, **machine)


@pytest.mark.slow
def test_groups_go_through_the_lanes() -> None:
    check(0, INTERVALS, **MACHINES[0])


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_more_groups(seed: int) -> None:
    settings = [*MACHINES, {"lanes": 4, "wavefront": 16, "rate": 1}, {"lanes": 4, "wavefront": 4}]
    check(seed, 100, **settings[seed % len(settings)])
