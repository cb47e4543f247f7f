"""The core of the next wavefront: round-robin, and only one with a free wave slot."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.pe.dispatcher import Dispatcher
from ctm.tb.lib.planting import Fault, planted
from ctm.tb.lib.seeds import seeds

CYCLES = 400


class Cores:
    """Cores with wave slots that are taken and freed at any time, their wavefronts in flight, and broken rules."""

    def __init__(self, count: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.slots = self.random.integers(1, 5, count)
        self.free = self.slots.copy()
        self.sent = np.zeros(count, int)
        self.log: list[int] = []
        self.wrong = ""

    def drive(self, context: Any, unit: Dispatcher) -> None:
        """Set the ports for this cycle."""
        self.taken = (self.sent > 0) & (self.free > 0) & (self.random.random(self.free.size) < 0.4)
        self.dropped = (self.sent > self.taken) & (self.random.random(self.free.size) < 0.1)
        for core, credit in enumerate(unit.credits):
            context.set(credit.free, min(int(self.free[core]), CORE_CREDITS))
            context.set(credit.taken, int(self.taken[core]))
        context.set(unit.dropped, int(self.dropped @ (1 << np.arange(self.free.size))))
        context.set(unit.core.ready, int(self.random.random() < 0.7))

    def finish(self, context: Any, unit: Dispatcher) -> None:
        """Look at what was named, then let wavefronts end."""
        if context.get(unit.core.valid) and context.get(unit.core.ready):
            core = context.get(unit.core.payload)
            self.log.append(core)
            self.sent[core] += 1
            # Wave slots only become free meanwhile, so a slot that was free when the core was named is free still.
            if self.sent[core] > min(self.free[core], CORE_CREDITS):
                self.wrong = self.wrong or "a wavefront is in flight to a core without a wave slot for it"
        self.sent -= self.taken.astype(int) + self.dropped
        self.free -= self.taken
        self.free += (self.free < self.slots) & (self.random.random(self.free.size) < 0.1)


def run(unit: Dispatcher, cores: Cores) -> None:
    """Let the cores work."""

    async def bench(context: Any) -> None:
        for _ in range(CYCLES):
            cores.drive(context, unit)
            cores.finish(context, unit)
            await context.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def wrong(module: Any) -> bool:
    """Whether anything is, with any number of cores."""
    for seed, count in enumerate((2, 3, 4, 16)):
        cores = Cores(count, seed)
        run(module.Dispatcher(count), cores)
        if cores.wrong or len(cores.log) <= CYCLES / 8 or set(cores.log) != set(range(count)):
            return True
    return False


@pytest.mark.parametrize("count", [2, 3, 16])
@pytest.mark.parametrize("seed", seeds(2, 50))
def test_a_core_is_named_only_with_a_free_slot(seed: int, count: int) -> None:
    cores = Cores(count, seed)
    run(Dispatcher(count), cores)
    assert cores.wrong == ""
    assert len(cores.log) > CYCLES / 8
    assert set(cores.log) == set(range(count))


def test_cores_with_free_slots_are_named_round_robin() -> None:
    unit, log = Dispatcher(4), []

    async def bench(context: Any) -> None:
        for core, credit in enumerate(unit.credits):
            context.set(credit.free, 0 if core == 2 else CORE_CREDITS)
        context.set(unit.core.ready, 1)
        for _ in range(3 * CORE_CREDITS + 6):
            if context.get(unit.core.valid):
                log.append(context.get(unit.core.payload))
            await context.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert log == CORE_CREDITS * [0, 1, 3]


FAULTS = {
    "a core is named for one wavefront too many": Fault(
        "rtl.pe.dispatcher", "count < credit.free", "count <= credit.free"
    ),
    "a dropped wavefront is counted in flight": Fault("rtl.pe.dispatcher", " - self.dropped[core]", ""),
    "a taken wavefront is counted in flight": Fault("rtl.pe.dispatcher", " - credit.taken", ""),
    "a named core is not counted": Fault("rtl.pe.dispatcher", "count + named -", "count -"),
    "one core is named always": Fault(
        "rtl.pe.dispatcher", "round_robin(has_credit, pointer)", "round_robin(has_credit, ~has_credit)"
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_is_found(name: str) -> None:
    with planted(FAULTS[name], "ctm.rtl.pe.dispatcher") as module:
        assert wrong(module)
