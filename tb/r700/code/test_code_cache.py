"""CodeCache: two readers find the words of memory, wherever the code begins, and never wait for each other for ever."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.lines import LINE_BYTES, LINE_WORDS
from ctm.rtl.r700.border.code import ROW_UNITS
from ctm.rtl.r700.code.cache import LINES, READERS, CodeCache
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

ROW_BYTES = 8 * ROW_UNITS
CODE_BYTES = 2 * LINES * LINE_BYTES
SPREAD = 8 * LINE_BYTES // ROW_BYTES
"""Rows that jumps go to, in either half of the code: the halves have the same lines of the cache."""
READS, LOADS = fewer(800), 20
"""Rows that each reader reads; lines that are loaded at most while one waits."""


class Memory:
    """Responses of lines after a latency, in any order; some with errors."""

    def __init__(self, generator: np.random.Generator, latency: int) -> None:
        self._generator, self._latency = generator, latency
        self._in_flight: list[tuple[int, int, bytes, bool]] = []
        self.fill()

    def fill(self) -> None:
        """Other contents, at another address."""
        draw = self._generator
        self.address = 4 * int(draw.integers(64)) if draw.random() < 0.4 else 64 * int(draw.integers(4))
        size = CODE_BYTES + self.address + 2 * LINE_BYTES
        self.bytes = draw.integers(0, 256, size, dtype=np.uint8)
        self.error = set(np.flatnonzero(draw.random(size // LINE_BYTES) < 0.05).tolist())

    def row(self, number: int) -> tuple[int, bool]:
        """The expected row of a reader, and whether its line had an error response."""
        at = self.address + ROW_BYTES * number
        line = (self.address + ROW_BYTES * number - ROW_BYTES * number % LINE_BYTES) // LINE_BYTES
        last = (self.address + ROW_BYTES * number // LINE_BYTES * LINE_BYTES + LINE_BYTES - 1) // LINE_BYTES
        error = not self.error.isdisjoint(range(line, last + 1))
        return int.from_bytes(self.bytes[at : at + ROW_BYTES].tobytes(), "little"), error

    def drive(self, context: Any, lines: Any, cycle: int) -> None:
        """A request may be taken, a response may come."""
        ready = bool(self._generator.random() < 0.8)
        context.set(lines.request.ready, ready)
        if ready and context.get(lines.request.valid):
            request = lines.request.payload
            delay = 1 + int(self._generator.integers(self._latency))
            line, tag = context.get(request.line), context.get(Value.cast(request.tag))
            found = self.bytes[LINE_BYTES * line : LINE_BYTES * (line + 1)].tobytes()
            self._in_flight.append((cycle + delay, tag, found, line in self.error))
        due = [each for each in self._in_flight if each[0] <= cycle]
        context.set(lines.response.valid, bool(due))
        if due:
            chosen = due[int(self._generator.integers(len(due)))]
            self._in_flight.remove(chosen)
            _, tag, found, error = chosen
            response = lines.response.payload
            context.set(response.bits, 0 if error else int.from_bytes(found, "little"))
            context.set(response.error, error)
            context.set(Value.cast(response.tag), tag)


class Reader:
    """Reads rows, one after the other, most often the next one, until it has each."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator
        self.row = self.done = self.waited = 0
        self.asked: int | None = None

    def step(self) -> None:
        draw = self._generator.random()
        rows = CODE_BYTES // ROW_BYTES
        if draw < 0.1:
            self.row = int(self._generator.integers(SPREAD)) + rows // 2 * int(self._generator.integers(2))
        elif draw < 0.2:
            # The row in the same line of the cache.
            self.row = (self.row + rows // 2) % rows
        else:
            self.row = (self.row + 1) % rows
        self.done, self.waited = self.done + 1, 0


@pytest.mark.slow
@pytest.mark.parametrize("latency", [1, 20, pytest.param(80, marks=pytest.mark.long)])
def test_readers_find_what_memory_has(latency: int) -> None:
    generator = np.random.default_rng(latency)
    unit, memory = CodeCache(), Memory(generator, latency)
    readers = [Reader(generator) for _ in range(READERS)]
    seen = {True: 0, False: 0}

    async def run(context: Any) -> None:
        context.set(unit.size, CODE_BYTES // 8)
        cycle = changes = 0
        while min(reader.done for reader in readers) < READS:
            cycle += 1
            is_gated = changes * READS < 4 * readers[0].done
            context.set(unit.address, memory.address)
            for number, reader in enumerate(readers):
                reads = not is_gated and bool(generator.random() < 0.8)
                context.set(unit.readers[number].row, reader.row)
                context.set(unit.readers[number].reads, reads)
                reader.asked = reader.row if reads else None
            memory.drive(context, unit.lines, cycle)
            context.set(unit.invalidate, 0)
            if is_gated and generator.random() < 0.1:
                # Another program. There are no reads, but earlier ones may still be in flight.
                changes += 1
                memory.fill()
                context.set(unit.address, memory.address)
                context.set(unit.invalidate, 1)
            await context.tick()
            for number, reader in enumerate(readers):
                reader.waited += not is_gated
                assert reader.waited < LOADS * (2 * latency + 4 * LINE_WORDS), "a reader waits for ever"
                found = unit.readers[number].found
                if reader.asked is None or not context.get(found.hit):
                    continue
                words, error = memory.row(reader.asked)
                assert bool(context.get(found.error)) == error
                assert error or context.get(Value.cast(found.units)) == words
                seen[error] += 1
                reader.step()
        assert changes > 2

    simulate(unit, run)
    assert min(seen.values()) > 0


def test_lines_of_memory_come_in_pairs() -> None:
    """Where the code begins with a line of memory, the next one is asked for before the first one is there."""
    generator = np.random.default_rng(5)
    unit, memory = CodeCache(), Memory(generator, 1)
    memory.address = 0
    asked: list[int] = []

    async def run(context: Any) -> None:
        context.set(unit.size, 4 * LINE_WORDS)
        context.set(unit.readers[0].reads, 1)
        context.set(unit.lines.request.ready, 1)
        # After the cycles in which lines are invalidated.
        for _ in range(16):
            if context.get(unit.lines.request.valid):
                asked.append(context.get(unit.lines.request.payload.line))
            await context.tick()

    simulate(unit, run)
    assert asked == [0, 1]
