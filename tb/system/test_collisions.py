"""No unit uses the result of a read of a memory's row in the cycle of a write to it."""

from typing import Any

import pytest
from amaranth import Fragment, Module, Signal
from amaranth.lib import data, wiring

from ctm.rtl.config import PRESETS
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.rtl.lib.ram import BlockRam
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.tools import toolchain
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil
from ctm.sim.engines.model import TOP
from ctm.sim.engines.rtl import wrapper
from ctm.tb.lib.streams import simulate
from ctm.tb.r5xx.lockstep import PROGRAMS, TIMINGS, check_cases
from ctm.tb.r5xx.simulation import simulation
from ctm.tb.r5xx.simulation.simulation import CoreSimulation
from ctm.tb.soak import comparison, programs, r700
from ctm.tb.soak.work import draw_work
from ctm.tb.system.collisions import Colliding

_WORKS = 60
_MACHINES = ("default", "small", "compact")
_SOURCES = {"r5xx": programs.R5XX, "r700": r700.R700}


def test_what_is_being_written_is_read_as_something_else() -> None:
    rows = BlockRam(data.ArrayLayout(8, 2), 4)
    writer, reader = rows.write_port(granularity=1), rows.read_port()
    m = Module()
    m.submodules.rows = Fragment.get(rows, Colliding())
    row, enable, seen = Signal(range(4)), Signal(2), []
    m.d.comb += [writer.addr.eq(1), reader.addr.eq(row), writer.data.eq(0x5533), writer.en.eq(enable)]

    async def testbench(context: Any) -> None:
        context.set(enable, 0b01)
        for number in (1, 1, 2, 1):
            context.set(row, number)
            await context.tick()
            seen.append(context.get(reader.data.as_value()))
            if len(seen) == 2:
                context.set(enable, 0)

    simulate(m, testbench)
    # The upper half is not written; the lower one is 0 first, then what was written.
    assert seen == [0x00FF, 0x00CC, 0, 0x0033]


@pytest.mark.long
@pytest.mark.parametrize("preset", _MACHINES)
def test_random_programs_in_lock_step(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(component: wiring.Component, *, top: str) -> str:
        return from_rtlil(convert_to_rtlil(component, top=top, platform=Colliding()))

    monkeypatch.setattr(simulation, "convert", convert)
    check_cases(CoreSimulation(PRESETS[preset]), range(PROGRAMS), TIMINGS)


@pytest.mark.long
@pytest.mark.parametrize("preset", [*_MACHINES, "r700", "r700-small"])
def test_random_work(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = PRESETS[preset]
    text = from_rtlil(rtlil(Sampled(config, CoreInstance), config, TOP, Colliding()))
    library = toolchain.build(toolchain.Model(TOP, text), wrapper(config, "verilated_model.h"))
    monkeypatch.setattr(comparison.Hardware, "library", staticmethod(lambda config, tell=None: library))
    for seed in range(_WORKS):
        comparison.Comparison(draw_work(seed, _SOURCES[config.array.instruction_set]), config).run()
