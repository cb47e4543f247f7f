"""The scheduler in step with a plain model, and what it promises, case by case."""

from collections import Counter, deque
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.scheduler import Scheduler
from ctm.rtl.dpp.groups.scheduling import STALLS
from ctm.rtl.dpp.shapes import Shapes
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.dpp.scheduler_model import Inputs, SchedulerModel, Where
from ctm.tb.lib.streams import simulate

CYCLES = 1200
GROUPS = 40
CAN = ("fetch", "retire")


def random_summary(shapes: Shapes, generator: np.random.Generator) -> dict[str, int]:
    """What may be known of an instruction."""
    bits = {
        name: int(generator.random() < 0.3) for name in ("waits", *(resource.name for resource in shapes.resources))
    }
    return {"unit": int(generator.integers(len(shapes.ports))), **bits}


class Traffic:
    """Random inputs that the ports, memory and the other parts could give."""

    def __init__(
        self, shapes: Shapes, generator: np.random.Generator, model: SchedulerModel, threads: int, ease: float
    ) -> None:
        self._shapes, self._generator, self._model, self._threads, self._ease = shapes, generator, model, threads, ease
        self.ports: list[deque[int]] = [deque() for _ in shapes.ports]
        self.admitted = 0
        self.counts: Counter[str] = Counter()

    def _chance(self, share: float) -> bool:
        return bool(self._generator.random() < share)

    def _bits(self, share: float) -> int:
        return sum(self._chance(share) << slot for slot in range(self._threads))

    def _one_of(self, places: tuple[Where, ...], share: float) -> int | None:
        slots = [slot for slot, group in self._model.groups.items() if group.where in places]
        return int(self._generator.choice(slots)) if slots and self._chance(share) else None

    def _summary(self) -> dict[str, int]:
        return random_summary(self._shapes, self._generator)

    def _done(self, port: deque[int]) -> dict[str, Any] | None:
        """How a port leaves its oldest group. With `again` nothing else means anything."""
        if not port or not self._chance(0.4):
            return None
        slot = port.popleft()
        expires = self._model.groups[slot].expired
        done = {name: int(self._chance(share)) for name, share in
                (("again", 0.15), ("ends", 0.04), ("faults", 0.02), ("jumps", 0.2))}  # fmt: skip
        done |= {"again": 0, "faults": 1} if expires else {}
        self.counts.update(name for name, bit in done.items() if bit and not (done["again"] and name != "again"))
        self.counts["expired"] += expires
        return {
            "slot": slot,
            "pc": int(self._generator.integers(1 << self._shapes.pc_bits)),
            "following": self._summary(),
            **done,
        }

    def next(self) -> Inputs:
        """The inputs of a cycle. A group that memory stops has a lookup outstanding."""
        done = [self._done(port) for port in self.ports]
        ending = self._ending()
        begin = self._one_of((Where.CLEARING,), 0.3)
        stop = self._one_of((Where.READY, Where.PORT, Where.WAITING, Where.FETCHING, Where.LOOKED_AT, Where.FINISHED),
                            0.02)  # fmt: skip
        quiet = self._bits(0.6) & ~(0 if stop is None else 1 << stop)
        admit = self.admitted < GROUPS and bool(self._model.free_slots()) and self._chance(0.5)
        self.admitted += admit
        self.counts["stopped"] += stop is not None
        now = Inputs(
            admit=admit,
            begin=begin,
            done=done,
            ending=ending,
            stop=stop,
            fetched=self._model.first if self._model.first_is_fetched() else self._summary(),
            release=self._release(),
            can={name: self._chance(self._ease) for name in CAN},
            ready=[self._chance(self._ease) for _ in self._shapes.ports],
            room=[self._chance(self._ease) for _ in self._shapes.resources],
            wake=self._chance(0.3),
            blocked=self._bits(0.3),
            full=self._bits(0.2),
            quiet=quiet,
        )
        if self._model.leaves(now):
            # Its port says nothing more of it.
            self.counts["left"] += 1
            next(port for port in self.ports if ending in port).remove(ending)
        return now

    def _ending(self) -> int | None:
        """A group in a port that is not done yet."""
        slots = [slot for port in self.ports for slot in port if not self._model.groups[slot].expired]
        return int(self._generator.choice(slots)) if slots and self._chance(0.3) else None

    def _release(self) -> int | None:
        """The row of a group that retires."""
        groups = self._model.groups
        rows = [self._model.row(slot) for slot, group in groups.items() if group.where is Where.RETIRING]
        rows += sorted(self._model.left)
        return int(self._generator.choice(rows)) if rows and self._chance(0.3) else None


def drive(context: Any, unit: Scheduler, now: Inputs) -> None:
    """Set all inputs."""
    context.set(unit.admit, now.admit)
    for port, done in zip(unit.ports, now.done, strict=True):
        context.set(port.done, {"valid": done is not None, **(done or {})})
    for port, slot in ((unit.begin, now.begin), (unit.stop, now.stop), (unit.ending, now.ending)):
        context.set(port, {"valid": slot is not None, "slot": slot or 0})
    context.set(unit.release, {"valid": now.release is not None, "row": now.release or 0})
    context.set(unit.fetched, now.fetched)
    for name, bit in now.can.items():
        context.set(getattr(unit, f"can_{name}"), bit)
    for name in ("ready", "room"):
        context.set(getattr(unit, name), sum(bit << number for number, bit in enumerate(getattr(now, name))))
    for name in ("wake", "blocked", "full", "quiet"):
        context.set(getattr(unit, name), getattr(now, name))


def compare(context: Any, unit: Scheduler, model: SchedulerModel, now: Inputs) -> list[int | None]:
    """Compare all outputs; the slots that the ports get."""
    issued, threads = [model.issued(port, now) for port in range(len(unit.ports))], len(unit.second)
    expected = [*issued, model.looked_at(now), model.retired(now)]
    for port, slot in zip((*(port.issue for port in unit.ports), unit.fetch), expected[:-1], strict=True):
        assert context.get(port.valid) == (slot is not None)
        assert slot is None or context.get(port.slot) == slot
    for port, slot in zip((*(port.issue for port in unit.ports), unit.fetch), expected, strict=False):
        assert slot is None or context.get(port.pc) == model.groups[slot].pc
    assert expected[len(issued)] is not None or context.get(unit.fetch.pc) == model.start
    assert context.get(unit.retire.valid) == (expected[-1] is not None)
    if expected[-1] is not None:
        assert context.get(unit.retire.row) == model.row(expected[-1])
        assert context.get(unit.retire.faulted) == model.groups[expected[-1]].faulted
    free = model.free_slots()
    assert context.get(unit.free) == min(len(free), CORE_CREDITS)
    assert not free or context.get(unit.free_row) == (model.row(free[0]) + threads) % (2 * threads)
    assert context.get(unit.rows) == sum(1 << row for row in model.rows())
    assert context.get(unit.second) == model.second
    assert context.get(unit.leaves) == model.leaves(now)
    for slot, group in model.groups.items():
        assert group.where is Where.CLEARING or (context.get(unit.expired) >> slot & 1) == group.expired
    return issued


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize(
    ("threads", "slots", "watchdog", "ease"), [(4, 4, 0, 0.8), (16, 16, 5, 0.5), (8, 3, 4, 1.0), (4, 1, 1, 0.7)]
)
def test_in_step_with_the_model(instruction_set, threads, slots, watchdog, ease):
    generator, shapes = np.random.default_rng(threads), SHAPES[instruction_set]
    unit = Scheduler(ArrayConfig(threads=threads, temporaries=128), shapes)
    start = int(generator.integers(1 << shapes.pc_bits))
    first = random_summary(shapes, generator)
    model = SchedulerModel(shapes, threads, slots, watchdog, start=start, first=first)
    traffic = Traffic(shapes, generator, model, threads, ease)
    stalls: Counter[str | None] = Counter()

    async def testbench(context: Any) -> None:
        context.set(unit.slots, slots)
        context.set(unit.watchdog, watchdog)
        context.set(unit.start, model.start)
        for _ in range(30 * CYCLES):
            now = traffic.next()
            drive(context, unit, now)
            for port, slot in zip(traffic.ports, compare(context, unit, model, now), strict=True):
                port.extend([] if slot is None else [slot])
            cause = model.stall(now)
            stalls[cause] += 1
            model.step(now)
            await context.tick()
            assert context.get(unit.stalls) == (0 if cause is None else 1 << STALLS.index(cause))
            if traffic.admitted == GROUPS and not model.rows():
                break

    simulate(unit, testbench)
    assert traffic.admitted == GROUPS, "all groups came"
    assert not model.rows(), "and all went"
    assert (traffic.counts["expired"] > 0) == (watchdog > 0)
    assert all(traffic.counts[name] for name in ("ends", "left", "stopped"))
    assert ease == 1.0 or stalls.keys() == {None, *STALLS}
    assert watchdog == 1 or all(traffic.counts[name] for name in ("again", "jumps", "faults"))
