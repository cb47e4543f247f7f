"""FetchReturn: words are written to their fetch's registers, an error response writes nothing, direct writes pass."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.r700.fetch.returned import FetchReturn
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

FETCHES = fewer(300)
CONFIG = ArrayConfig(instruction_set="r700", threads=4, lookups=8)
NUMBERS = CONFIG.threads * CONFIG.lookups


class Bench:
    """Fetches of all wave slots, each with a number that no other one in flight has; responses come in any order."""

    def __init__(self, seed: int, stall: float) -> None:
        self.unit: Any = FetchReturn(CONFIG)
        self.draw = np.random.default_rng(seed)
        self.ends = Source(self.unit.response, self.draw, stall), Sink(self.unit.write, self.draw, stall)
        self.direct = Source(self.unit.direct, self.draw, max(stall, 0.3))
        self.free = list(range(NUMBERS))
        self.kept: dict[int, tuple[int, int]] = {}
        """Target and instruction of each fetch in flight."""
        self.responded: list[int] = []
        self.expected: list[tuple[int, int | None]] = []
        self.found: list[tuple[int, int | None]] = []
        """Fetches that are done: the wave slot, and the instruction after an error response."""
        self.writes: list[int] = []

    async def run(self, context: Any) -> None:
        """Send fetches and some responses, compare the writes."""
        unit, sent = self.unit, 0
        for _ in range(20 * FETCHES):
            if len(self.found) == FETCHES and not context.get(unit.holds):
                break
            context.set(Value.cast(unit.record), int.from_bytes(self.draw.bytes(16), "little") & ~1)
            if sent < FETCHES and self.free and self.draw.random() < 0.7:
                self._send(context)
                sent += 1
            elif self.kept and self.draw.random() < 0.7:
                self._respond()
            self._drive(context)
            if context.get(unit.returned.valid):
                error = context.get(unit.error.valid)
                self.found.append(
                    (context.get(unit.returned.wave), context.get(unit.error.instruction) if error else None)
                )
                assert self.responded, "a fetch is done without a response"
                self.free.append(self.responded.pop(0))
            else:
                assert not context.get(unit.error.valid)
            for end in (*self.ends, self.direct):
                end.finish(context)
            await context.tick()

    def _drive(self, context: Any) -> None:
        """Drive all streams, with direct writes until the fetches are done; what is not valid is no error."""
        if len(self.found) < FETCHES and self.draw.random() < 0.3:
            self.direct.waiting.append(int.from_bytes(self.draw.bytes(16), "little"))
        elif len(self.found) == FETCHES and not self.direct.offered:
            self.direct.waiting.clear()
        for end in (*self.ends, self.direct):
            end.drive(context)
        if not self.ends[0].offered:
            context.set(self.unit.response.payload.error, 1)

    def _send(self, context: Any) -> None:
        """Request a fetch; its number may have been another one's that is done."""
        number, record = self.free.pop(int(self.draw.integers(len(self.free)))), self.unit.record
        for name in ("target", "instruction"):
            kept = Value.cast(record.kept[name])
            context.set(kept, int.from_bytes(self.draw.bytes(16), "little") % (1 << len(kept)))
        self.kept[number] = context.get(Value.cast(record.kept.target)), context.get(record.kept.instruction)
        context.set(Value.cast(record.tag), number)
        context.set(record.valid, 1)

    def _respond(self) -> None:
        """Give a response to one of the waiting fetches."""
        number = int(self.draw.choice(sorted(self.kept)))
        target, instruction = self.kept.pop(number)
        words, error = int.from_bytes(self.draw.bytes(64), "little"), bool(self.draw.random() < 0.2)
        layout = self.unit.response.payload.shape()
        offsets = {str(name): field.offset for name, field in layout}
        self.ends[0].waiting.append(number << offsets["tag"] | words << offsets["words"] | error << offsets["error"])
        self.responded.append(number)
        self.expected.append((number % CONFIG.threads, instruction if error else None))
        if not error:
            self.writes.append(target | words << self.unit.write.payload.shape()["words"].offset)


def check(seed: int, stall: float) -> None:
    """Fetches whose responses and writes stall in so many cycles."""
    bench = Bench(seed, stall)
    simulate(bench.unit, bench.run)
    assert len(bench.found) == FETCHES and bench.found == bench.expected
    remaining = [bench.writes, bench.direct.taken]
    assert all(remaining)
    for payload in bench.ends[1].received:
        source = next((each for each in remaining if each and each[0] == payload), None)
        assert source, "it is no write's, or out of order"
        source.pop(0)
    assert not any(remaining)


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, stall in enumerate(STALLS):
        check(seed, stall)


def test_responses_find_their_registers() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 33))
def test_many_more_responses(seed: int) -> None:
    check(seed, STALLS[seed % len(STALLS)])
