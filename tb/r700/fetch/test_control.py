"""FetchControl: a micro-op has its finder and its writer, one after the other, and ends when the last one is done."""

from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.config import R700, R700_DRAW, MachineConfig
from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.fetch.control import FetchControl, units_of
from ctm.rtl.r700.fetch.operation import Task
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES = fewer(1500)
FINE = Status.OK, BusClient.COMMAND, 0
STOP = "STOP"
UNITS: dict[Task, tuple[str, ...]] = {
    Task.NOTHING: (STOP,), Task.SAMPLE: ("send",), Task.LOAD: ("send",), Task.SIZE: ("send",),
    Task.GRADIENT: ("scaling", "send"), Task.CONSTANTS: ("constants", "send"), Task.ELEMENT: ("send",),
    Task.SHARE_READ: ("share", "send"), Task.SHARE_WRITE: ("share",), Task.AREA: ("areas", "send"),
    Task.EXPORT: ("export",), Task.ADDRESSES: ("areas",), Task.WRITE: ("write",), Task.VERTEX: ("vertices", "send"),
    Task.VECTOR: ("vectors",), Task.ITEMS: ("items",),
}  # fmt: skip
"""The table of docs/design/r700-core.md, whose SAMPLE has a finder if a coordinate is normalised."""


class Bench:
    """The control among units that are done in random cycles, and claim to be in cycles in which they do not work."""

    def __init__(self, config: MachineConfig, seed: int) -> None:
        self.unit: Any = FetchControl(config)
        self.draw = np.random.default_rng(seed)
        self.names, self.threads = units_of(config), config.array.threads
        self.tasks = [task for task, units in UNITS.items() if {*units} <= {STOP, *self.names}]
        self.offered: tuple[str, ...] = ()
        """The units of the micro-op that is offered."""
        self.left: tuple[str, ...] = ()
        """Units that the current micro-op still needs; the first one works."""
        self.task = Task.NOTHING
        self.bits = 0
        self.problem: tuple[Status, BusClient, int] = FINE
        self.ended = self.failures = self.sent_next = 0

    def _offer(self, context: Any) -> None:
        """Offer another micro-op; some of those without a task have a problem."""
        payload, draw = self.unit.micro_op.payload, self.draw
        self.task, normalised = self.tasks[draw.integers(len(self.tasks))], int(draw.integers(4))
        self.offered = ("scaling", "send") if self.task is Task.SAMPLE and normalised else UNITS[self.task]
        stops = self.task is Task.NOTHING and draw.random() < 0.5
        problem = (Status.ILLEGAL_INSTRUCTION, BusClient.INSTRUCTION, int(draw.integers(1000))) if stops else FINE
        context.set(payload.fetch, {"task": self.task, "normalised": normalised})
        begin, budget = (int(number) for number in draw.integers(1000, size=2))
        clause = {"wave": int(draw.integers(self.threads)), "begin": begin, "budget": budget}
        context.set(payload.clause, clause)
        context.set(payload.ends, int(draw.integers(2)))
        context.set(payload.problem, dict(zip(("status", "client", "address"), problem, strict=True)))

    async def run(self, context: Any) -> None:
        """Compare each cycle."""
        for _ in range(CYCLES):
            if not self.offered and self.draw.random() < 0.8:
                self._offer(context)
            context.set(self.unit.micro_op.valid, bool(self.offered))
            self._cycle(context)
            await context.tick()

    def _cycle(self, context: Any) -> None:
        """Compare what the unit does with what the micro-op that it has needs."""
        unit, draw, works = self.unit, self.draw, self.left[0] if self.left else None
        dones = {name: bool(draw.integers(2)) for name in self.names}
        fails, drained = bool(draw.integers(2)), int(draw.integers(1 << self.threads))
        for port, value in ((unit.dones, dones), (unit.fails, fails), (unit.drained, drained)):
            context.set(port, value)
        current, executed = context.get(unit.current), context.get(unit.executed)
        is_fine = self.problem[0] is Status.OK
        done = works is not None and dones.get(works, is_fine or bool(drained >> current.clause.wave & 1))
        failed, ends = works == "constants" and done and fails, done and len(self.left) == 1
        is_sent_next = self.offered == ("send",) and self.task is not Task.ELEMENT
        accepts = not self.left or (works == "send" and done and is_sent_next)
        assert [name for name in self.names if context.get(unit.starts[name])] == [works] * (works in self.names)
        assert context.get(unit.works) == bool(self.left)
        assert context.get(unit.failed) == failed
        assert context.get(unit.micro_op.ready) == accepts
        assert executed.valid == ends
        if executed.valid:
            found = executed.wave, executed.ends, executed.budget
            assert found == (current.clause.wave, current.ends, current.clause.budget)
            problem = Status(executed.problem.status), BusClient(executed.problem.client), executed.problem.address
            assert problem == self.problem
        if self.left and is_fine:
            assert context.get(Value.cast(unit.current)) == self.bits
        self.ended, self.failures = self.ended + executed.valid, self.failures + failed
        if failed:
            self.left = (STOP,)
            self.problem = Status.BUS_ERROR, BusClient.FLOAT_CONSTANT, current.clause.begin
        elif done:
            self.left = self.left[1:]
        if self.offered and accepts:
            payload = context.get(unit.micro_op.payload)
            self.sent_next += works is not None
            self.bits, self.left, self.offered = context.get(Value.cast(unit.micro_op.payload)), self.offered, ()
            self.problem = Status(payload.problem.status), BusClient(payload.problem.client), payload.problem.address


def check(config: MachineConfig, seed: int) -> None:
    """Micro-ops of all tasks of a machine."""
    bench = Bench(config, seed)
    simulate(bench.unit, bench.run)
    assert bench.ended > CYCLES // 5 and bench.failures and bench.sent_next


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, config in enumerate((R700, R700_DRAW)):
        check(config, seed)


def test_micro_ops_have_their_units_in_order() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 12))
def test_many_more_micro_ops(seed: int) -> None:
    check((R700, R700_DRAW)[seed % 2], seed)
