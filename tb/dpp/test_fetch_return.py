"""FetchReturn: words are written to their fetch's register, in the order in which they come."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.memory.fetch_return import FetchReturn, fetch_write_layout
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.word import pack, unpack
from ctm.tb.dpp.instruction_sets import INVENTED, SHAPES
from ctm.tb.lib.streams import STALLS, Sink, Source, simulate

FETCHES = 120
WORD = 32
TEMPORARIES, EXPONENT = 128, 5
ENTRIES = TEMPORARIES // 2
"""Of a bank; a wave slot has 2 ** EXPONENT of them."""
Fetch = dict[str, Any]


def joined(values: list[int], bits: int) -> int:
    return sum(int(value) << bits * index for index, value in enumerate(values))


class Bench:
    """The component, fetches in flight, and their expected writes."""

    def __init__(self, config: ArrayConfig, shapes: Shapes, stall: float) -> None:
        self.config, self.unit, self._pc_bits = config, FetchReturn(config, shapes), shapes.pc_bits
        self._generator = np.random.default_rng(config.lanes)
        self._responses = Source(self.unit.response, self._generator, stall)
        self._sink = Sink(self.unit.write, self._generator, stall)
        self._in_flight: list[list[Fetch]] = [[] for _ in range(config.threads)]
        """Each wave slot's fetches without a response, the oldest first; a record comes a cycle before its response."""
        self._responded: list[Fetch] = []
        self._made = [0] * config.threads
        self._done = [0] * config.threads
        self.error = 0
        self._written: list[int] = []
        """The writes of the cycle before."""

    @property
    def made(self) -> int:
        return sum(self._made)

    @property
    def done(self) -> int:
        return sum(self._done)

    def _respond(self) -> None:
        """Give a response to a wave slot's oldest fetch."""
        waves = [wave for wave, fetches in enumerate(self._in_flight) if fetches]
        if waves and self._generator.random() < 0.7:
            fetch = self._in_flight[self._generator.choice(waves)].pop(0)
            words = self._generator.integers(0, 1 << 32, (self.config.lanes, CHANNELS), np.uint32)
            fetch |= {"memory": words, "error": bool(self._generator.random() < 0.2)}
            self._responded.append(fetch)
            tag = fetch["wave"] | fetch["entry"] << 2
            bits = 2 + self.config.fetch_entry_bits
            value = tag | joined(words.ravel().tolist(), WORD) << bits
            self._responses.waiting.append(value | fetch["error"] << bits + words.size * WORD)

    def _ask(self, context: Any) -> None:
        """A wave slot that may have one more fetch requests it."""
        waves = [wave for wave in range(self.config.threads)
                 if self._made[wave] - self._done[wave] < self.config.lookups]  # fmt: skip
        asks = bool(waves) and self.made < FETCHES and self._generator.random() < 0.8
        context.set(self.unit.record.valid, asks)
        if not asks:
            return
        wave = int(self._generator.choice(waves))
        tag = {"wave": wave, "entry": self._made[wave] % self.config.lookups}
        record = {
            "register": int(self._generator.integers(128)),
            "swizzle": self._generator.integers(0, 4, CHANNELS).tolist(),
            "enable": self._generator.integers(0, 16, self.config.lanes).tolist(),
            "pc": int(self._generator.integers(1 << self._pc_bits)),
        }
        context.set(self.unit.record.tag, tag)
        context.set(self.unit.record.record, record)
        self._made[wave] += 1
        self._in_flight[wave].append(tag | record)

    def _expected(self, fetch: Fetch) -> dict[str, int]:
        words = joined(fetch["memory"][:, fetch["swizzle"]].ravel().tolist(), WORD)
        linear = fetch["wave"] >> 1 << EXPONENT | fetch["register"]
        entry, bank = linear % ENTRIES, fetch["wave"] % 2 | linear // ENTRIES % 2
        return {"wave": fetch["wave"], "register": fetch["register"], "address": bank | entry << 1,
                "words": words, "enable": joined(fetch["enable"], CHANNELS)}  # fmt: skip

    async def step(self, context: Any) -> None:
        """One cycle."""
        self._respond()
        self._ask(context)
        self._sink.received.clear()
        for end in (self._responses, self._sink):
            end.drive(context)
        for end in (self._responses, self._sink):
            end.finish(context)
        returned, error = self.unit.returned, self.unit.error
        if context.get(returned.valid):
            fetch = self._responded.pop(0)
            self._done[fetch["wave"]] += 1
            assert context.get(returned.wave) == fetch["wave"]
            assert context.get(error.valid) == fetch["error"]
            self.error += fetch["error"]
            if fetch["error"]:
                assert context.get(error.pc) == fetch["pc"]
                assert not self._written
            else:
                (write,) = self._written
                assert unpack(fetch_write_layout(self.config), write) == self._expected(fetch)
        else:
            assert not context.get(error.valid)
            assert not self._written, "a write without `returned`"
        self._written = list(self._sink.received)
        await context.tick()


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize(("lanes", "outstanding"), [(4, 8), (4, 1), (8, 4)])
def test_random_fetches(instruction_set, lanes, outstanding, stall):
    config, cycles = ArrayConfig(lanes=lanes, threads=4, temporaries=TEMPORARIES, lookups=outstanding), 0
    bench = Bench(config, SHAPES[instruction_set], stall)

    async def testbench(context: Any) -> None:
        nonlocal cycles
        context.set(bench.unit.allocation, {"highest": (1 << EXPONENT) - 1, "exponent": 1 << EXPONENT})
        while bench.done < FETCHES:
            await bench.step(context)
            cycles += 1
            assert cycles < 40 * FETCHES
        for _ in range(5):
            await bench.step(context)

    simulate(bench.unit, testbench)
    assert bench.made == bench.done == FETCHES
    assert bench.error > 5


def test_one_write_in_each_cycle():
    unit = FetchReturn(ArrayConfig(threads=4, temporaries=128), INVENTED)
    layout = unit.response.payload.shape()

    async def testbench(context: Any) -> None:
        context.set(unit.write.ready, 1)
        context.set(unit.response.valid, 1)
        for number in range(20):
            assert context.get(unit.response.ready)
            assert context.get(unit.write.valid) == (number > 1)
            assert number < 2 or context.get(unit.write.payload.words[0][0]) == number - 2
            context.set(Value.cast(unit.response.payload), pack(layout, words=number))
            await context.tick()

    simulate(unit, testbench)


def test_responses_are_taken_while_the_registers_are_busy():
    unit = FetchReturn(ArrayConfig(threads=4, temporaries=128), INVENTED)

    async def testbench(context: Any) -> None:
        context.set(unit.response.valid, 1)
        for _ in range(8):
            assert context.get(unit.response.ready)
            await context.tick()
        assert context.get(unit.write.valid)
        assert not context.get(unit.returned.valid)

    simulate(unit, testbench)


def test_a_fetch_with_an_error_does_not_wait_for_the_registers():
    unit = FetchReturn(ArrayConfig(threads=4, temporaries=128), INVENTED)

    async def testbench(context: Any) -> None:
        context.set(unit.response.valid, 1)
        context.set(unit.response.payload.error, 1)
        await context.tick()
        context.set(unit.response.valid, 0)
        await context.tick().repeat(2)
        assert context.get(unit.returned.valid)
        assert context.get(unit.error.valid)

    simulate(unit, testbench)
