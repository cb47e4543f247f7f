"""Delays of values that are held, and in block RAM, against lists of what was there."""

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

import ctm.rtl.lib.delay_line
import ctm.rtl.lib.pipeline
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

BITS = 16
CYCLES = fewer(1000)
HELD = [(2, 1), (2, 5), (4, 1), (4, 3), (4, 4), (4, 8), (4, 9), (3, 7), (16, 8), (1, 3)]
"""Cycles for which a value is held, and by which it is delayed."""


class Held(wiring.Component):
    """A held value and its delay."""

    value: In(BITS)
    first: In(1)
    result: Out(BITS)

    def __init__(self, pipeline: ModuleType, held: int, cycles: int) -> None:
        self._delay, self._held, self._cycles = pipeline.delay_held, held, cycles
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.d.comb += self.result.eq(self._delay(m, self.value, self.first, self._cycles, held=self._held))
        return m


def check_held(pipeline: ModuleType, held: int, cycles: int) -> None:
    """Values stay for `held` cycles, one after the other or with pauses, in which there is anything.

    Raises
    ------
    AssertionError
        A value does not come `cycles` later, in each of these cycles.
    """
    generator, unit, expected = np.random.default_rng(held), Held(pipeline, held, cycles), {}

    async def testbench(context: Any) -> None:
        left = value = 0
        for cycle in range(CYCLES):
            first = not left and (cycle < CYCLES // 4 or generator.random() < 0.4)
            left = held if first else left
            if first or not left:
                value = int(generator.integers(1 << BITS))
            if left:
                expected[cycle + cycles] = value
                left -= 1
            context.set(unit.first, first)
            context.set(unit.value, value)
            if cycle in expected:
                assert context.get(unit.result) == expected[cycle]
            await context.tick()

    simulate(unit, testbench)


@pytest.mark.parametrize(("held", "cycles"), HELD)
def test_a_held_value_comes_as_many_cycles_later_as_it_is_to(held: int, cycles: int) -> None:
    check_held(ctm.rtl.lib.pipeline, held, cycles)


@pytest.mark.parametrize(("held", "cycles"), HELD)
def test_a_held_value_takes_no_more_registers_than_there_are_values(held: int, cycles: int) -> None:
    text = convert_to_rtlil(Held(ctm.rtl.lib.pipeline, held, cycles), top="held")
    registers = re.findall(rf"cell \$dffe? .*\n *parameter \\WIDTH {BITS}\n", text)
    assert len(registers) == -(-cycles // held)


LINES = [(5, 2), (8, 2), (8, 1), (9, 1), (16, 3), (19, 2)]
"""Most and fewest cycles."""
READERS = 2


class Line(wiring.Component):
    """A delay line with two readers."""

    def __init__(self, delay_line: ModuleType, longest: int, least: int) -> None:
        self._make, self._longest, self._least = delay_line.DelayLine, longest, least
        members = {"value": In(BITS)}
        for reader in range(READERS):
            members |= {f"cycles_{reader}": In(range(longest + 1)), f"result_{reader}": Out(BITS)}
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        line = self._make(m, self._longest)
        for reader in range(READERS):
            found = line.read(
                m, self.value, getattr(self, f"cycles_{reader}"), least=self._least, name=f"line_{reader}"
            )  # fmt: skip
            m.d.comb += getattr(self, f"result_{reader}").eq(found)
        return m


def check_line(delay_line: ModuleType, longest: int, least: int) -> None:
    """Each reader wants another delay in each cycle.

    Raises
    ------
    AssertionError
        A value is not that of so many cycles ago.
    """
    generator, unit, values = np.random.default_rng(longest), Line(delay_line, longest, least), []

    async def testbench(context: Any) -> None:
        for cycle in range(CYCLES):
            values.append(int(generator.integers(1 << BITS)))
            context.set(unit.value, values[-1])
            wanted = generator.integers(least, longest + 1, READERS).tolist()
            for reader, cycles in enumerate(wanted):
                context.set(getattr(unit, f"cycles_{reader}"), cycles)
            await context.tick()
            for reader, cycles in enumerate(wanted):
                if cycles <= cycle + 1:
                    assert context.get(getattr(unit, f"result_{reader}")) == values[cycle + 1 - cycles]

    simulate(unit, testbench)


@pytest.mark.parametrize(("longest", "least"), LINES)
def test_a_line_gives_what_was_there_so_many_cycles_ago(longest: int, least: int) -> None:
    check_line(ctm.rtl.lib.delay_line, longest, least)


HELD_FAULTS = {
    "a register is loaded in the next cycle": ("range((cycles - 1) % held", "range(cycles % held"),
    "a register is loaded in each cycle": ("with m.If(loads[age]):", "with m.If(1):"),
    "one register too few": ("% held, cycles, held)", "% held + held, cycles, held)"),
    "registers are loaded too far apart": (", cycles, held)", ", cycles, held + 1)"),
}
LINE_FAULTS = {
    "a row is read a cycle early": ("self._position - cycles + 1", "self._position - cycles"),
    "a row too few": ("(longest - 1).bit_length()", "(longest - 2).bit_length()"),
    "what is written in the cycle is not read": ("transparent_for=(write,) if", "transparent_for=() if"),
    "the position is kept": ("self._position.eq(self._position + 1)", "self._position.eq(self._position)"),
}


@pytest.mark.parametrize("name", HELD_FAULTS)
def test_a_mistake_of_held_values_is_found(name: str) -> None:
    fault = Fault("rtl.lib.pipeline", *HELD_FAULTS[name])
    with planted(fault, "ctm.rtl.lib.pipeline") as module, pytest.raises(AssertionError):
        check_held(module, 4, 9)


@pytest.mark.parametrize("name", LINE_FAULTS)
def test_a_mistake_of_a_line_is_found(name: str) -> None:
    fault = Fault("rtl.lib.delay_line", *LINE_FAULTS[name])
    with planted(fault, "ctm.rtl.lib.delay_line") as module, pytest.raises(AssertionError):
        check_line(module, 9, 1)
