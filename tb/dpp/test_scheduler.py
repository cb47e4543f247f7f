"""The scheduler against a plain model, cycle by cycle, and its guarantees, case by case."""

from collections import Counter, deque
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.programs import CORE_CREDITS
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.shapes import Shapes
from ctm.rtl.dpp.wavefronts.scheduler import Scheduler
from ctm.rtl.dpp.wavefronts.scheduling import STALLS
from ctm.tb.dpp.instruction_sets import SHAPES
from ctm.tb.dpp.scheduler_model import Inputs, SchedulerModel, Where
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES = fewer(1200)
WAVEFRONTS = 40
CAN = ("fetch", "retire")


def random_summary(shapes: Shapes, generator: np.random.Generator) -> dict[str, int]:
    """A random summary of an instruction."""
    bits = {
        name: int(generator.random() < 0.3) for name in ("waits", *(resource.name for resource in shapes.resources))
    }
    return {"unit": int(generator.integers(len(shapes.ports))), **bits}


class Traffic:
    """Random inputs that the ports, memory and the other units could give."""

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
        return sum(self._chance(share) << wave for wave in range(self._threads))

    def _one_of(self, states: tuple[Where, ...], share: float) -> int | None:
        waves = [wave for wave, wavefront in self._model.wavefronts.items() if wavefront.where in states]
        return int(self._generator.choice(waves)) if waves and self._chance(share) else None

    def _summary(self) -> dict[str, int]:
        return random_summary(self._shapes, self._generator)

    def _done(self, port: deque[int]) -> dict[str, Any] | None:
        """The end of a port's oldest instruction. With `again` all other fields are undefined."""
        if not port or not self._chance(0.4):
            return None
        wave = port.popleft()
        expires = self._model.wavefronts[wave].expired
        done = {name: int(self._chance(share)) for name, share in
                (("again", 0.15), ("ends", 0.04), ("faults", 0.02), ("jumps", 0.2))}  # fmt: skip
        done |= {"again": 0, "faults": 1} if expires else {}
        self.counts.update(name for name, bit in done.items() if bit and not (done["again"] and name != "again"))
        self.counts["expired"] += expires
        return {
            "wave": wave,
            "pc": int(self._generator.integers(1 << self._shapes.pc_bits)),
            "following": self._summary(),
            **done,
        }

    def next(self) -> Inputs:
        """The inputs of a cycle. A wavefront that memory stops has a fetch outstanding."""
        done = [self._done(port) for port in self.ports]
        ending = self._ending()
        begin = self._one_of((Where.CLEARING,), 0.3)
        stop = self._one_of((Where.READY, Where.PORT, Where.WAITING, Where.FETCHING, Where.LOOKED_AT, Where.FINISHED),
                            0.02)  # fmt: skip
        drained = self._bits(0.6) & ~(0 if stop is None else 1 << stop)
        admit = self.admitted < WAVEFRONTS and bool(self._model.free_waves()) and self._chance(0.5)
        self.admitted += admit
        self.counts["stopped"] += stop is not None
        now = Inputs(
            admit=admit,
            begin=begin,
            done=done,
            ending=ending,
            failed=self._chance(0.2),
            stop=stop,
            fetched=self._model.first if self._model.first_is_fetched() else self._summary(),
            release=self._release(),
            can={name: self._chance(self._ease) for name in CAN},
            ready=[self._chance(self._ease) for _ in self._shapes.ports],
            available=[self._chance(self._ease) for _ in self._shapes.resources],
            wake=self._chance(0.3),
            blocked=self._bits(0.3),
            full=self._bits(0.2),
            drained=drained,
        )
        if ending is not None and self._model.vacates(now) and not now.failed:
            # Its port gives no `done` of it.
            self.counts["vacated"] += 1
            next(port for port in self.ports if ending in port).remove(ending)
        return now

    def _ending(self) -> int | None:
        """A wavefront in a port that is not done yet."""
        waves = [wave for port in self.ports for wave in port if not self._model.wavefronts[wave].expired]
        return int(self._generator.choice(waves)) if waves and self._chance(0.3) else None

    def _release(self) -> int | None:
        """The context of a wavefront that retires."""
        wavefronts = self._model.wavefronts
        banks = [
            self._model.context(wave) for wave, wavefront in wavefronts.items() if wavefront.where is Where.RETIRING
        ]
        banks += sorted(self._model.vacated)
        return int(self._generator.choice(banks)) if banks and self._chance(0.3) else None


def drive(context: Any, unit: Scheduler, now: Inputs) -> None:
    """Set all inputs."""
    context.set(unit.admission.admit, now.admit)
    for port, done in zip(unit.ports, now.done, strict=True):
        context.set(port.done, {"valid": done is not None, **(done or {})})
    for port, wave in ((unit.begin, now.begin), (unit.stop, now.stop)):
        context.set(port, {"valid": wave is not None, "wave": wave or 0})
    ending = {"valid": now.ending is not None, "wave": now.ending or 0, "failed": now.failed}
    context.set(unit.vacating.ending, ending)
    context.set(unit.release, {"valid": now.release is not None, "context": now.release or 0})
    context.set(unit.summaries.fetched, now.fetched)
    for port, name in ((unit.summaries.can_fetch, "fetch"), (unit.ended.ready, "retire")):
        context.set(port, now.can[name])
    for port, bits in ((unit.available.ready, now.ready), (unit.available.resources, now.available)):
        context.set(port, sum(bit << number for number, bit in enumerate(bits)))
    context.set(unit.available.constants, now.wake)
    for name in ("blocked", "full", "drained"):
        context.set(getattr(unit.outstanding, name), getattr(now, name))


def compare(context: Any, unit: Scheduler, model: SchedulerModel, now: Inputs) -> list[int | None]:
    """Compare all outputs; the wave slots that the ports get."""
    issued, threads = [model.issued(port, now) for port in range(len(unit.ports))], len(unit.contexts.second)
    expected = [*issued, model.looked_at(now), model.retired(now)]
    for port, wave in zip((*(port.issue for port in unit.ports), unit.summaries.fetch), expected[:-1], strict=True):
        assert context.get(port.valid) == (wave is not None)
        assert wave is None or context.get(port.wave) == wave
    for port, wave in zip((*(port.issue for port in unit.ports), unit.summaries.fetch), expected, strict=False):
        assert wave is None or context.get(port.pc) == model.wavefronts[wave].pc
    assert expected[len(issued)] is not None or context.get(unit.summaries.fetch.pc) == model.start
    assert context.get(unit.ended.wavefront.valid) == (expected[-1] is not None)
    if expected[-1] is not None:
        assert context.get(unit.ended.wavefront.context) == model.context(expected[-1])
        assert context.get(unit.ended.wavefront.faulted) == model.wavefronts[expected[-1]].faulted
    free = model.free_waves()
    assert context.get(unit.admission.free) == min(len(free), CORE_CREDITS)
    assert not free or context.get(unit.admission.context) == (model.context(free[0]) + threads) % (2 * threads)
    assert context.get(unit.contexts.taken) == sum(1 << bank for bank in model.contexts())
    assert context.get(unit.contexts.second) == model.second
    assert context.get(unit.vacating.vacates) == model.vacates(now)
    for wave, wavefront in model.wavefronts.items():
        assert wavefront.where is Where.CLEARING or (context.get(unit.expired) >> wave & 1) == wavefront.expired
    return issued


@pytest.mark.parametrize("instruction_set", SHAPES)
@pytest.mark.parametrize(
    ("threads", "waves", "watchdog", "ease"), [(4, 4, 0, 0.8), (16, 16, 5, 0.5), (8, 3, 4, 1.0), (4, 1, 1, 0.7)]
)
def test_in_step_with_the_model(instruction_set, threads, waves, watchdog, ease):
    generator, shapes = np.random.default_rng(threads), SHAPES[instruction_set]
    unit = Scheduler(ArrayConfig(threads=threads, temporaries=128), shapes)
    start = int(generator.integers(1 << shapes.pc_bits))
    first = random_summary(shapes, generator)
    model = SchedulerModel(shapes, threads, waves, watchdog, start=start, first=first)
    traffic = Traffic(shapes, generator, model, threads, ease)
    stalls: Counter[str | None] = Counter()

    async def testbench(context: Any) -> None:
        context.set(unit.admission.usable, (1 << waves) - 1)
        context.set(unit.watchdog, watchdog)
        context.set(unit.start, model.start)
        await context.tick()
        for _ in range(30 * CYCLES):
            now = traffic.next()
            drive(context, unit, now)
            for port, wave in zip(traffic.ports, compare(context, unit, model, now), strict=True):
                port.extend([] if wave is None else [wave])
            cause = model.stall(now)
            stalls[cause] += 1
            model.step(now)
            await context.tick()
            assert context.get(unit.stalls) == (0 if cause is None else 1 << STALLS.index(cause))
            if traffic.admitted == WAVEFRONTS and not model.contexts():
                break

    simulate(unit, testbench)
    assert traffic.admitted == WAVEFRONTS, "all wavefronts came"
    assert not model.contexts(), "and all went"
    assert (traffic.counts["expired"] > 0) == (watchdog > 0)
    assert all(traffic.counts[name] for name in ("ends", "vacated", "stopped"))
    assert ease == 1.0 or stalls.keys() == {None, *STALLS}
    assert watchdog == 1 or all(traffic.counts[name] for name in ("again", "jumps", "faults"))
