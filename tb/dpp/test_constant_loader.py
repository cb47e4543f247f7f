"""ConstantLoader: missing lines are loaded, each line once, and written to their addresses."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.clients import BEAT_WORDS, LINE_BEATS, ConstantBank
from ctm.rtl.dpp.constants.loader import CONSTANT_WRITE, LINE, LINES, ConstantLoader
from ctm.rtl.isa.word import pack, unpack
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

CYCLES = fewer(1200)
ALU_LINES, FLOW_LINES = 6, 2
WORD = 32
Line = tuple[int, int]
"""Bank and number."""
ALL_LINES = [(bank.value, line) for bank, count in LINES.items() for line in range(count)]


def beat_of(line: Line, beat: int) -> int:
    """Memory's response: words with their address; every seventh line's last beat is an error."""
    words = [0x1000000 * line[0] + 0x1000 * line[1] + 0x10 * beat + index for index in range(BEAT_WORDS)]
    error = line[1] % 7 == 3 and beat == LINE_BEATS - 1
    return sum(word << WORD * index for index, word in enumerate(words)) | error << WORD * BEAT_WORDS


class Bench:
    """The component, its memory, and the expected lines."""

    def __init__(self, stall: float, banks: list[ConstantBank]) -> None:
        self.generator = generator = np.random.default_rng(int(10 * stall))
        self.unit = ConstantLoader(ALU_LINES, FLOW_LINES)
        self._asked = Sink(self.unit.client.request, generator, stall)
        self._responses = Source(self.unit.client.response, generator, stall)
        self._choice = [line for line in ALL_LINES if ConstantBank(line[0]) in banks]
        self.loaded: set[Line] = set()
        self.wanted: set[Line] = set()
        self._beats: list[tuple[Line, int]] = []
        """Beats that are still to be written, in order."""
        self.requested: list[Line] = []

    def _misses(self, context: Any) -> set[Line]:
        """Offer misses at random, and give the lines that the loader should take."""
        taken: set[Line] = set()
        for port, count in ((self.unit.flow.miss, FLOW_LINES), (self.unit.alu.miss, ALU_LINES)):
            lines = [self._choice[index] for index in self.generator.integers(0, len(self._choice), count)]
            needed = self.generator.random(count) < 0.7
            words = [pack(LINE, needed=bool(bit), bank=bank, line=line)
                     for bit, (bank, line) in zip(needed, lines, strict=True)]  # fmt: skip
            valid = bool(self.generator.random() < 0.4)
            context.set(port.valid, valid)
            context.set(Value.cast(port.lines), sum(word << LINE.size * index for index, word in enumerate(words)))
            if valid and not context.get(self.unit.busy):
                # Of two misses ALU's is taken.
                taken = {line for bit, line in zip(needed, lines, strict=True) if bit}
        return taken

    def _check_write(self, context: Any) -> None:
        writes = [context.get(Value.cast(port.write)) for port in (self.unit.alu, self.unit.flow)]
        assert writes[0] == writes[1]
        write = unpack(CONSTANT_WRITE, writes[0])
        if write.pop("valid"):
            line, beat = self._beats.pop(0)
            response = beat_of(line, beat)
            words, error = response & (1 << WORD * BEAT_WORDS) - 1, response >> WORD * BEAT_WORDS
            assert write == {"bank": line[0], "line": line[1], "beat": beat, "words": words, "error": error}
            if beat == LINE_BEATS - 1:
                self.loaded.add(line)

    def _check_loaded(self, context: Any) -> None:
        alu, flow = self.unit.alu, self.unit.flow
        ports = {ConstantBank.FLOAT: alu.float_loaded, ConstantBank.INT: flow.int_loaded,
                 ConstantBank.BOOL: flow.bool_loaded}  # fmt: skip
        for bank, port in ports.items():
            assert context.get(port) == sum(1 << line for number, line in self.loaded if number == bank.value)

    async def step(self, context: Any, *, quietly: bool = False) -> None:
        self._check_loaded(context)
        if not context.get(self.unit.busy):
            assert self.wanted <= self.loaded
        taken = self._misses(context)
        if quietly:
            context.set(self.unit.alu.miss.valid, 0)
            context.set(self.unit.flow.miss.valid, 0)
            taken = set()
        self.wanted = taken or self.wanted
        for end in (self._asked, self._responses):
            end.drive(context)
        self._check_write(context)
        asked = len(self._asked.received)
        for end in (self._asked, self._responses):
            end.finish(context)
        for request in self._asked.received[asked:]:
            line = request & 3, request >> 2
            assert line in self.wanted, "no unit wants it"
            assert line not in self.requested, "it was requested before"
            self.requested.append(line)
            beats = [(line, beat) for beat in range(LINE_BEATS)]
            self._beats += beats
            self._responses.waiting += [beat_of(*beat) for beat in beats]
        await context.tick()

    async def invalidate(self, context: Any) -> None:
        while context.get(self.unit.busy):
            await self.step(context, quietly=True)
        context.set(self.unit.invalidate, 1)
        await self.step(context, quietly=True)
        context.set(self.unit.invalidate, 0)
        for lines in (self.loaded, self.requested, self.wanted):
            lines.clear()


@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize("banks", [list(ConstantBank), [ConstantBank.INT, ConstantBank.BOOL]])
def test_random_misses(stall, banks):
    bench, most = Bench(stall, banks), 0

    async def testbench(context: Any) -> None:
        nonlocal most
        for number in range(CYCLES):
            await bench.step(context)
            most = max(most, len(bench.loaded))
            if number % 400 == 399:
                await bench.invalidate(context)

    simulate(bench.unit, testbench)
    assert most >= (20 if ConstantBank.FLOAT in banks else 4)


def test_one_line_after_the_other_without_pauses():
    bench = Bench(0.0, [ConstantBank.FLOAT])

    async def testbench(context: Any) -> None:
        lines = [pack(LINE, needed=1, bank=0, line=line) for line in range(ALU_LINES)]
        context.set(bench.unit.alu.miss.valid, 1)
        context.set(Value.cast(bench.unit.alu.miss.lines), sum(word << LINE.size * p for p, word in enumerate(lines)))
        await context.tick()
        context.set(bench.unit.alu.miss.valid, 0)
        bench.wanted = {(0, line) for line in range(ALU_LINES)}
        for _ in range(ALU_LINES * LINE_BEATS + 3):
            await bench.step(context, quietly=True)
        assert not context.get(bench.unit.busy)
        assert bench.loaded == bench.wanted

    simulate(bench.unit, testbench)
