"""FetchReturn: words go where their lookup wanted them, in the order in which they come."""

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

LOOKUPS = 120
WORD = 32
Lookup = dict[str, Any]


def joined(values: list[int], bits: int) -> int:
    return sum(int(value) << bits * place for place, value in enumerate(values))


class Bench:
    """The component, lookups that are under way, and what they should write."""

    def __init__(self, config: ArrayConfig, shapes: Shapes, stall: float) -> None:
        self.config, self.unit, self._pc_bits = config, FetchReturn(config, shapes), shapes.pc_bits
        self._generator = np.random.default_rng(config.lanes)
        self._answers = Source(self.unit.response, self._generator, stall)
        self._sink = Sink(self.unit.write, self._generator, stall)
        self._underway: list[list[Lookup]] = [[] for _ in range(config.threads)]
        """Of each wave slot, those without an answer, the oldest first; a record is there a cycle before its answer."""
        self._answered: list[Lookup] = []
        self._made = [0] * config.threads
        self._done = [0] * config.threads
        self.error = 0

    @property
    def made(self) -> int:
        return sum(self._made)

    @property
    def done(self) -> int:
        return sum(self._done)

    def _answer(self) -> None:
        """Memory answers some wave slot's oldest lookup."""
        waves = [wave for wave, lookups in enumerate(self._underway) if lookups]
        if waves and self._generator.random() < 0.7:
            lookup = self._underway[self._generator.choice(waves)].pop(0)
            words = self._generator.integers(0, 1 << 32, (self.config.lanes, CHANNELS), np.uint32)
            lookup |= {"memory": words, "refuses": bool(self._generator.random() < 0.2)}
            self._answered.append(lookup)
            tag = lookup["wave"] | lookup["entry"] << 2
            bits = 2 + (self.config.lookups - 1).bit_length()
            value = tag | joined(words.ravel().tolist(), WORD) << bits
            self._answers.waiting.append(value | lookup["refuses"] << bits + words.size * WORD)

    def _ask(self, context: Any) -> None:
        """A wave slot that may have one more lookup sets it out."""
        waves = [wave for wave in range(self.config.threads)
                 if self._made[wave] - self._done[wave] < self.config.lookups]  # fmt: skip
        asks = bool(waves) and self.made < LOOKUPS and self._generator.random() < 0.8
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
        self._underway[wave].append(tag | record)

    def _expected(self, lookup: Lookup) -> dict[str, int]:
        words = joined(lookup["memory"][:, lookup["swizzle"]].ravel().tolist(), WORD)
        return {"wave": lookup["wave"], "register": lookup["register"],
                "words": words, "enable": joined(lookup["enable"], CHANNELS)}  # fmt: skip

    async def step(self, context: Any) -> None:
        """One cycle."""
        self._answer()
        self._ask(context)
        before = len(self._sink.received)
        for end in (self._answers, self._sink):
            end.drive(context)
        for end in (self._answers, self._sink):
            end.finish(context)
        returned, error = self.unit.returned, self.unit.error
        if context.get(returned.valid):
            lookup = self._answered.pop(0)
            self._done[lookup["wave"]] += 1
            assert context.get(returned.wave) == lookup["wave"]
            assert context.get(error.valid) == lookup["refuses"]
            self.error += lookup["refuses"]
            if lookup["refuses"]:
                assert context.get(error.pc) == lookup["pc"]
                assert not context.get(self.unit.write.valid)
            else:
                write = unpack(fetch_write_layout(self.config), self._sink.received[before])
                assert write == self._expected(lookup)
        else:
            assert not context.get(error.valid)
            assert len(self._sink.received) == before, "a write says that it is done"
        await context.tick()


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize("stall", STALLS)
@pytest.mark.parametrize(("lanes", "lookups"), [(4, 8), (4, 1), (8, 4)])
def test_random_lookups(instruction_set, lanes, lookups, stall):
    config, cycles = ArrayConfig(lanes=lanes, threads=4, temporaries=128, lookups=lookups), 0
    bench = Bench(config, SHAPES[instruction_set], stall)

    async def testbench(context: Any) -> None:
        nonlocal cycles
        while bench.done < LOOKUPS:
            await bench.step(context)
            cycles += 1
            assert cycles < 40 * LOOKUPS
        for _ in range(5):
            await bench.step(context)

    simulate(bench.unit, testbench)
    assert bench.made == bench.done == LOOKUPS
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


def test_answers_are_taken_while_the_registers_are_busy():
    unit = FetchReturn(ArrayConfig(threads=4, temporaries=128), INVENTED)

    async def testbench(context: Any) -> None:
        context.set(unit.response.valid, 1)
        for _ in range(8):
            assert context.get(unit.response.ready)
            await context.tick()
        assert context.get(unit.write.valid)
        assert not context.get(unit.returned.valid)

    simulate(unit, testbench)


def test_a_refused_lookup_does_not_wait_for_the_registers():
    unit = FetchReturn(ArrayConfig(threads=4, temporaries=128), INVENTED)

    async def testbench(context: Any) -> None:
        context.set(unit.response.valid, 1)
        context.set(unit.response.payload.error, 1)
        await context.tick()
        context.set(unit.response.valid, 0)
        await context.tick()
        assert context.get(unit.returned.valid)
        assert context.get(unit.error.valid)

    simulate(unit, testbench)
