"""GatedStateless and Gated: results that count are the same with and without clocks that stop."""

from typing import Any

import numpy as np
import pytest
from amaranth import Fragment, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.clock_gating import ClockGating, Gated, GatedStateless, gate_together, resettable
from ctm.rtl.lib.pipeline import delay
from ctm.sim.compiled.unit import CompiledUnit

BITS = 16
CYCLES = 20_000
PLATFORMS = {"plain": None, "gated": ClockGating()}


class Square(wiring.Component):
    """A pipeline: its first step is before a register, its last one after it."""

    word: In(BITS)
    result: Out(BITS)

    def __init__(self, latency: int) -> None:
        self.latency = latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        square = delay(m, (self.word * self.word)[:BITS], self.latency)
        m.d.comb += self.result.eq(square ^ 1)
        return m


class Squares(wiring.Component):
    """Two pipelines that are gated together; both compute the same."""

    word: In(BITS)
    wanted: In(1)
    result: Out(BITS)

    def __init__(self, latency: int) -> None:
        self._latency = latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        gate_together(m, platform, "squares", self.wanted, self._latency)
        for number in range(2):
            m.submodules[f"unit_{number}"] = unit = GatedStateless(Square(self._latency), together="squares")
            m.d.comb += [unit.word.eq(self.word), self.result[number::2].eq(unit.result[number::2])]
        return m


class StatelessTwice(wiring.Component):
    """The same unit with and without gates, after registers; `shown` says where their results count."""

    word: In(BITS)
    wanted: In(1)
    plain: Out(BITS)
    gated: Out(BITS)
    shown: Out(1)

    def __init__(self, cycles: int, *, together: bool) -> None:
        self._cycles, self._together = cycles, together
        self.latency = 1 + cycles
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word, wanted = Signal(BITS), Signal()
        m.d.sync += [word.eq(self.word), wanted.eq(self.wanted)]
        m.d.comb += self.shown.eq(delay(m, wanted, self._cycles))
        for name, gates in PLATFORMS.items():
            unit: Any = Squares(self._cycles) if self._together else GatedStateless(Square(self._cycles), self._cycles)
            m.submodules[name] = Fragment.get(unit, gates)
            m.d.comb += [unit.word.eq(word), unit.wanted.eq(wanted), getattr(self, name).eq(unit.result)]
        return m


class Sum(wiring.Component):
    """A unit with state, which changes in the cycle with `adds` and, to an odd number, in the next one."""

    word: In(BITS)
    adds: In(1)
    total: Out(BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        total, is_even = Signal(BITS, init=3), Signal()
        m.d.comb += self.total.eq(total + self.adds)
        m.d.sync += is_even.eq(0)
        with m.If(self.adds):
            m.d.sync += [total.eq(total + self.word), is_even.eq(1)]
        with m.Elif(is_even):
            m.d.sync += total.eq(total | 1)
        return m


class StatefulTwice(wiring.Component):
    """The same unit with and without gates, and with a reset of two cycles or more."""

    word: In(BITS)
    adds: In(1)
    reset: In(1)
    plain: Out(BITS)
    gated: Out(BITS)
    resets: Out(1)

    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word, adds, first, resets = Signal(BITS), Signal(), Signal(), Signal()
        m.d.sync += [word.eq(self.word), first.eq(self.reset), resets.eq(self.reset | first)]
        m.d.sync += adds.eq(Mux(self.reset | first, 0, self.adds))
        m.d.comb += self.resets.eq(resets)
        for name, gates in PLATFORMS.items():
            unit = Sum()
            m.submodules[name] = Fragment.get(resettable(Gated(unit, adds), resets), gates)
            m.d.comb += [unit.word.eq(word), unit.adds.eq(adds), getattr(self, name).eq(unit.total)]
        return m


def rarely(generator: np.random.Generator, chance: float) -> np.ndarray:
    return generator.random(CYCLES) < chance


@pytest.mark.parametrize("chance", [0.03, 0.5])
@pytest.mark.parametrize("cycles", [0, 1, 3])
@pytest.mark.parametrize("together", [False, True])
def test_results_of_wanted_operands_are_the_same(together, cycles, chance):
    generator = np.random.default_rng(1)
    words, wanted = generator.integers(1 << BITS, size=CYCLES), rarely(generator, chance)
    results = CompiledUnit(StatelessTwice(cycles, together=together))(word=words, wanted=wanted)
    assert np.array_equal(results["shown"] != 0, wanted)
    assert np.array_equal(results["plain"], words * words % (1 << BITS) ^ 1)
    assert np.array_equal(results["gated"][wanted], results["plain"][wanted])
    gated = results["gated"] != results["plain"]
    assert gated.mean() > 0.4 * (1 - chance) ** (cycles + 2), "it is hardly ever gated"


@pytest.mark.parametrize("chance", [0.03, 0.5])
def test_the_state_of_a_gated_unit_is_the_same(chance):
    generator = np.random.default_rng(2)
    words, adds, reset = generator.integers(1 << BITS, size=CYCLES), rarely(generator, chance), rarely(generator, 0.05)
    results = CompiledUnit(StatefulTwice())(word=words, adds=adds, reset=reset)
    counts = results["resets"] == 0
    assert 0.7 < counts.mean() < 0.95
    assert np.array_equal(results["gated"][counts], results["plain"][counts])
    assert len(np.unique(results["plain"][counts])) > CYCLES * chance / 2
