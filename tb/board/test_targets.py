"""Boards other than the ULX3S, and what they have of their own."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from amaranth import ClockSignal, Elaboratable, Module, Mux, ResetSignal, Signal
from amaranth.lib import io
from amaranth.sim import Simulator
from amaranth.sim._async import TestbenchContext

from ctm.rtl.board.clock import gowin_clocks, gowin_frequency
from ctm.rtl.board.startup import Step
from ctm.sim.boards.design import pins
from ctm.sim.boards.target import TANG_MEGA_138K
from ctm.sim.compiled.tools.package import LITEDRAM
from ctm.sim.synthesis.families.pairing import with_paired_flip_flops
from ctm.tb.board.pins import PinsError
from ctm.tb.board.traffic import Traffic, traffic_library

needs_litedram = pytest.mark.skipif(not LITEDRAM.is_installed, reason="needs the extra board")


class Platform:
    """Gives the oscillator's pin."""

    default_clk = "clk50"
    default_clk_frequency = 50e6

    def __init__(self) -> None:
        self.pin = io.SimulationPort("i", 1, name="oscillator_pin")

    def request(self, name: str, *, dir: str) -> io.SimulationPort:
        assert (name, dir) == (self.default_clk, "-")
        return self.pin


class DoubleRate(Elaboratable):
    """As a `DDRBuffer`, which Amaranth's simulator does not have, of one output."""

    def __init__(self, direction: io.Direction, port: io.SimulationPort) -> None:
        self._port, self.o = port, (Signal(), Signal())

    def elaborate(self, platform: object) -> Module:
        m = Module()
        held = (Signal(reset_less=True), Signal(reset_less=True))
        m.d.sync += [own.eq(given) for own, given in zip(held, self.o, strict=True)]
        m.d.comb += self._port.o.eq(Mux(ClockSignal(), *held))
        return m


def test_each_pin_of_a_tang_mega_is_at_a_site_of_its_own() -> None:
    """Serial line, button and oscillator, and a memory of 16 bits with 13 addresses."""
    made = pins(TANG_MEGA_138K, data_bits=128, frequency=25_000_000, steps=(Step(address=0, value=0),))
    indices = dict(re.findall(r'^\s*IO_LOC "([^"]+)" (\w+);$', made.constraints, re.MULTILINE))
    kinds = Counter(re.sub(r"__io.*", "", name) for name in indices)
    assert kinds == {
        "clk50_0": 1, "button_0": 1, "uart_0__rx": 1, "uart_0__tx": 1, "sdram_0__clk": 1, "sdram_0__a": 13,
        "sdram_0__ba": 2, "sdram_0__dq": 16, "sdram_0__dqm": 2, "sdram_0__cs": 1, "sdram_0__ras": 1,
        "sdram_0__cas": 1, "sdram_0__we": 1,
    }  # fmt: skip
    assert len(set(indices.values())) == len(indices)
    # Amaranth gives bit by bit what the controller has as a whole, and leaves out what the board has not.
    assert "\\o_sdram_cke" not in made.text
    assert re.search(r"^  wire width 16 inout \d+ +\\sdram_0__dq__io$", made.text, re.MULTILINE)


def test_the_clock_of_a_tang_mega_is_its_oscillators_or_half_of_it() -> None:
    assert TANG_MEGA_138K.clock(None) == 50_000_000
    assert TANG_MEGA_138K.clock(25_000_000) == 25_000_000
    with pytest.raises(ValueError, match="the board's clock can have 25 or 50 MHz, not 20"):
        gowin_frequency(20_000_000, 50_000_000)


@pytest.mark.parametrize("divider", [1, 2])
def test_the_memorys_clock_is_half_a_period_from_the_boards(divider: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "DDRBuffer", DoubleRate)
    m, platform = Module(), Platform()
    button, memory = io.SimulationPort("i", 1, name="button"), io.SimulationPort("o", 1, name="memory")
    gowin_clocks(m, platform, 50_000_000 // divider, button.i, memory)
    counted = m.submodules.counted = Module()
    clock, reset = Signal(), Signal()
    counted.d.comb += [clock.eq(ClockSignal("sync")), reset.eq(ResetSignal("sync"))]
    seen: list[tuple[int, int, int]] = []

    async def oscillator(context: TestbenchContext) -> None:
        for _ in range(300 * divider):
            for level in (0, 1):
                context.set(platform.pin.i, level)
                await context.delay(10e-9)
                seen.append((context.get(clock), context.get(memory.o), context.get(reset)))

    simulator = Simulator(m)
    simulator.add_testbench(oscillator)
    simulator.run()
    levels = [level for level, _, _ in seen]
    period = [0] * divider + [1] * divider
    start = levels.index(1) + divider
    assert levels[start : start + 40 * divider] == period * 20
    assert levels[start:] == levels[start - 2 * divider : -2 * divider]
    # The registers at the pin have their first values after a clock cycle.
    assert all(inverted == 1 - level for level, inverted, _ in seen[start + 2 * divider :])
    # In reset for 255 cycles, and what it takes to see that there is nothing to wait for.
    resets = [is_reset for _, _, is_reset in seen]
    assert 2 * divider * 255 <= resets.index(0) <= 2 * divider * 262
    assert not any(resets[resets.index(0) :])


@pytest.mark.long
@needs_litedram
def test_bursts_of_a_tang_mega_are_what_was_written() -> None:
    assert Traffic(traffic_library(target=TANG_MEGA_138K)).run(1_000_000) > 1000


@pytest.mark.long
@needs_litedram
@pytest.mark.parametrize("cycles", [0, 2])
def test_words_that_come_in_another_cycle_are_found(cycles: int) -> None:
    target = replace(TANG_MEGA_138K, input_cycles=cycles)
    with pytest.raises(PinsError, match="another byte than was written"):
        Traffic(traffic_library(target=target)).run(1_000_000)


def flip_flop(given: int | str, held: int) -> dict[str, Any]:
    return {"type": "DFFRE", "connections": {"D": [given], "Q": [held], "CLK": [2]}}


def test_each_flip_flop_of_gowins_has_a_lut_of_its_own() -> None:
    cells = {
        "sum": {"type": "LUT4", "connections": {"F": [10], "I0": [3]}},
        "first": flip_flop(10, 20),
        # The LUT is the first one's.
        "second": flip_flop(10, 21),
        "from_a_port": flip_flop(3, 22),
        "constant": flip_flop("1", 23),
    }
    ports = {"given": {"bits": [3]}, "clk": {"bits": [2]}}
    made = with_paired_flip_flops({"ports": ports, "cells": cells, "netnames": {}})["cells"]
    assert made["first"] == cells["first"]
    luts = {cell["connections"]["F"][0]: cell for cell in made.values() if cell["type"].startswith("LUT")}
    taken = [cell["connections"]["D"][0] for cell in made.values() if cell["type"] == "DFFRE"]
    assert len(set(taken)) == 4
    assert set(taken) == set(luts)
    passing = {name: luts[made[name]["connections"]["D"][0]] for name in ("second", "from_a_port", "constant")}
    assert [lut["connections"]["I0"] for lut in passing.values()] == [[10], [3], ["x"]]
    assert [lut["parameters"]["INIT"] for lut in passing.values()] == ["10", "10", "11"]
    assert cells["second"]["connections"]["D"] == [10], "the argument is unchanged"
