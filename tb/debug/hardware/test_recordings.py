"""A wavefront's state after each instruction, read from traces of cores, is the golden model's to the last bit."""

from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT, MachineConfig
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.assembler import assemble
from ctm.sim.debug.hardware import r5xx as r5xx_reader
from ctm.sim.debug.hardware import r700 as r700_reader
from ctm.sim.engines.tracing.engine import Complete, TracedEngine, Wanted
from ctm.sim.runtime import CommandBuffer, Device, Layout
from ctm.tb.debug.hardware.stepping import between, compare
from ctm.tb.debug.slicing.launches import caught, choose_lane
from ctm.tb.lib.machines import BEATS, machine
from ctm.tb.r5xx import shaders as r5xx
from ctm.tb.r5xx.core_engine import simulation
from ctm.tb.r5xx.simulation.simulation import Timing
from ctm.tb.r700 import shaders as r700

_SLOW = ("nest3_llvm", "insertion_sort_llvm_o1")


def _marked(names: list[str], every: int) -> list[object]:
    """All programs, of which the ordinary suite has some."""
    return [
        name if number % every == 0 and name not in _SLOW else pytest.param(name, marks=pytest.mark.long)
        for number, name in enumerate(names)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", _marked(r5xx.NAMES, 8))
def test_wavefronts_of_r5xx_are_read_from_a_core(name: str) -> None:
    with caught() as launches:
        r5xx.run(r5xx.Shader.load(name), domain=(0, 0, 7, 7), config=DEFAULT)
    core = simulation(DEFAULT)
    for number, launch in enumerate(launches):
        chosen = choose_lane(launch, number + len(name))
        wavefronts = [(launch.order, launch.i.ravel(), launch.j.ravel(), launch.covered.ravel())]
        timing = Timing(latency=30, stall=0.1)
        run = core.run(launch.launch, wavefronts, timing=timing, max_cycles=1_000_000, trace=True)
        assert run.trace is not None
        events = {kind: run.events(kind) for kind in run.trace}
        own = _of(events, chosen)
        compare(chosen, partial(r5xx_reader.recording, chosen.started.launch.program, events=own))


_FETCHES = """
TEX r1 = LOOKUP(i0, r0.rg) unscaled
TEX r2 = LOOKUP(i1, r0.rg) unscaled
OUT o0 = ADD(r1, r2)
"""


@pytest.mark.slow
@pytest.mark.parametrize("config", [DEFAULT, pytest.param(BEATS, marks=pytest.mark.long)], ids=["lanes", "beats"])
def test_a_fetch_after_an_error_response_counts_as_its_own_instruction(config: MachineConfig) -> None:
    layout, value = Layout(width=2, height=2, format=DataFormat.FLOAT32_4), 5.0
    with caught() as launches:
        device = Device("golden", config)
        inputs = [device.image(layout, np.full((2, 2, CHANNELS), value, np.float32)) for _ in range(2)]
        commands = CommandBuffer().set_inst_fmt(device.place(assemble(_FETCHES)))
        for number, image in enumerate(inputs):
            commands.set_inp_fmt(number, image.base, layout.format_word, 2)
        commands.set_out_fmt(0, device.image(layout).base, layout.format_word, 2)
        device.run(commands.set_out_mask().set_domain(0, 0, 1, 1).start_program().wait_for_idle())
    (launch,) = launches
    launch.launch.memory.respond_with_errors(inputs[0].base, inputs[0].base + 4)
    wavefronts = [(launch.order, launch.i.ravel(), launch.j.ravel(), launch.covered.ravel())]
    run = simulation(config).run(launch.launch, wavefronts, timing=Timing(latency=30), max_cycles=10_000, trace=True)
    assert [fault.pc for fault in run.faults] == [0]
    chosen = choose_lane(launch, 0)
    events = _of({kind: run.events(kind) for kind in run.trace or ()}, chosen)
    moments = r5xx_reader.recording(launch.launch.program, chosen.wavefront().batch, events).moments
    assert [moment.pc for moment in moments] == [0, 1]
    for moment, expected in zip(moments, (0.0, value), strict=True):
        assert not moment.arrays["temporaries"][1].any()
        assert (moment.arrays["temporaries"][2][0] == expected).all()


def _of(events: dict[str, Any], chosen: Any) -> dict[str, Any]:
    """The events from the start of a wavefront to its end."""
    start, i, j = events["start"], chosen.started.i[chosen.index, 0], chosen.started.j[chosen.index, 0]
    number = int(np.flatnonzero((start["wavefront"]["i"] == i) & (start["wavefront"]["j"] == j))[0])
    first, context = int(start["cycle"][number]), int(start["context"][number])
    ends = events["end"]
    last = int(ends["cycle"][(ends["context"] == context) & (ends["cycle"] > first)][0])
    found = between(events, first, last)
    # Another wavefront may take a wave slot in the same cycle.
    own = np.flatnonzero(found["start"]["context"] == context)[:1]
    found["start"] = {name: found["start"][name][own] for name in ("cycle", "context")}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", _marked(list(r700.FILES), 16))
def test_wavefronts_of_r700_are_read_from_the_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shader = r700.Shader.load(name)
    with caught() as launches:
        r700.run(shader)
    (launch,) = launches
    chosen = choose_lane(launch, len(name))
    config, wanted = machine("traced r700"), Wanted(int(launch.i[chosen.index, 0]), int(launch.j[chosen.index, 0]))
    engine = TracedEngine(config, wanted=wanted)
    monkeypatch.setattr(Device, "_make_engine", lambda *_, **__: engine)
    # The machine stops when it has shown what is wanted, if there is more.
    with suppress(Complete):
        r700.run(shader, engine="rtl", config=config)
    events = engine.traced.events()
    program = launch.launch.program
    compare(chosen, lambda start: r700_reader.recording(config.array, program, start, events))
