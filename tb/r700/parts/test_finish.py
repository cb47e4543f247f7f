"""WavefrontEnd: each segment of a wavefront at its end is handed over once; then its wave slot is free."""

from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from ctm.rtl.isa.status import BusClient, Status
from ctm.rtl.r700.finish import WavefrontEnd
from ctm.tb.lib.machines import r700_array
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

ENDS, DEADLINE = fewer(80), 60
WORD_BITS, ADDRESS_BITS = 16, 14
"""Of a CF instruction's address in a fault, which control flow has with one bit more; of an address in its clause."""
MACHINES: list[dict[str, int]] = [
    {"lanes": 4, "wavefront": 4},
    {"lanes": 4, "wavefront": 8, "threads": 8},
    {"lanes": 4, "wavefront": 16, "rate": 1},
    {"lanes": 16, "wavefront": 64, "threads": 4},
]
PROBLEMS = (Status.BUS_ERROR, Status.ILLEGAL_INSTRUCTION, Status.STACK, Status.PC_RANGE, Status.WATCHDOG)


@dataclass(kw_only=True)
class Wavefront:
    """One that has a wave slot: its wavefront, and what is left of it at its end."""

    i: int
    j: int
    covered: int
    valid_mask: int = 0
    status: Status = Status.OK
    client: BusClient = BusClient.COMMAND
    pc: int = 0
    address: int = 0
    has_ended: bool = False
    released: int = 0


class Bench:
    """The unit between wavefronts and what sends their outputs."""

    def __init__(self, seed: int, **settings: int) -> None:
        self.config = r700_array(**settings)
        self.unit: Any = WavefrontEnd(self.config)
        self.draw = np.random.default_rng(seed)
        self.lanes = settings["lanes"]
        self.segments = settings["wavefront"] // self.lanes
        self.waves: dict[int, Wavefront] = {}
        self.offered: int | None = None
        self.handing: deque[tuple[int, int]] = deque()
        """Wave slot and segment of what is to be handed over."""
        self.sending: deque[tuple[int, int]] = deque()
        self.seen: Counter[str] = Counter()
        self.waited = 0

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _mask(self) -> int:
        return int.from_bytes(self.draw.bytes(8), "little") % (1 << self.config.wavefront)

    async def run(self, context: Any) -> None:
        """Until so many wavefronts have gone."""
        unit = self.unit
        while self.seen["free"] < ENDS:
            begun = self._begin(context)
            self._offer(context)
            can_retire = self._chance(0.6)
            context.set(unit.can_retire, can_retire)
            done = self._release(context)
            self._look(context)
            self._see_fault(context)
            self._see_retired(context, can_retire)
            self._see_end(context)
            self._see_free(context, done)
            if begun is not None:
                self.waves[begun[0]] = begun[1]
            await context.tick()

    def _begin(self, context: Any) -> tuple[int, Wavefront] | None:
        """Perhaps a wavefront takes a wave slot; what it says of no wavefront is anything."""
        draw, free = self.draw, [wave for wave in range(self.config.threads) if wave not in self.waves]
        begins = bool(free) and self._chance(0.5)
        wave = int(draw.choice(free)) if begins else int(draw.integers(self.config.threads))
        wavefront = Wavefront(i=int(draw.integers(1 << 12)), j=int(draw.integers(1 << 12)), covered=self._mask())
        given = {"i": wavefront.i, "j": wavefront.j, "covered": wavefront.covered}
        context.set(self.unit.wavefront, {"valid": int(begins), "wave": wave, "wavefront": given})
        return (wave, wavefront) if begins else None

    def _offer(self, context: Any) -> None:
        """A wavefront comes to its end, and waits."""
        draw, running = self.draw, [wave for wave, each in self.waves.items() if not each.has_ended]
        if self.offered is None and running and self._chance(0.5):
            self.offered = int(draw.choice(running))
            each = self.waves[self.offered]
            each.valid_mask, each.pc = self._mask(), int(draw.integers(1 << WORD_BITS + 1))
            if self._chance(0.4):
                each.status = PROBLEMS[int(draw.integers(len(PROBLEMS)))]
                each.client = BusClient(int(draw.integers(len(BusClient))))
                each.address = int(draw.integers(1 << ADDRESS_BITS))
        end = self.unit.end
        context.set(end.valid, self.offered is not None)
        if self.offered is not None:
            each = self.waves[self.offered]
            problem = {"status": each.status, "client": each.client, "address": each.address}
            context.set(
                end.payload,
                {"wave": self.offered, "valid_mask": each.valid_mask, "pc": each.pc, "problem": problem},
            )  # fmt: skip

    def _context(self, wave: int, segment: int) -> int:
        return wave * self.segments + segment

    def _release(self, context: Any) -> tuple[int, int] | None:
        """Perhaps a segment is done, the one that was handed over first."""
        done = self.sending.popleft() if self.sending and self._chance(0.5) else None
        wave, segment = done or (int(self.draw.integers(self.config.threads)), self.segments - 1)
        faulted = done is not None and self.waves[wave].status is not Status.OK
        context.set(
            self.unit.released,
            {"valid": int(done is not None), "context": self._context(wave, segment), "faulted": int(faulted)},
        )
        return done

    def _look(self, context: Any) -> None:
        """Read the states of segments that have ended."""
        ended = [wave for wave, each in self.waves.items() if each.has_ended]
        for row, state in zip(self.unit.contexts, self.unit.states, strict=True):
            if not ended:
                continue
            wave, segment = int(self.draw.choice(ended)), int(self.draw.integers(self.segments))
            context.set(row, self._context(wave, segment))
            each, own = self.waves[wave], (1 << self.lanes) - 1
            # Segments are beside each other, each of two rows.
            found = [context.get(value) for value in (state.i, state.j, state.covered, state.valid_mask)]
            shift = segment * self.lanes
            masks = (each.covered, each.valid_mask)
            expected = [each.i + segment * self.lanes // 2, each.j, *(mask >> shift & own for mask in masks)]
            assert found == expected, f"segment {segment} of {each}"
            self.seen["states"] += 1

    def _see_fault(self, context: Any) -> None:
        """A wavefront that stops is reported when it is taken."""
        unit, taken = self.unit, self.offered is not None and context.get(self.unit.end.ready)
        each = self.waves[self.offered] if self.offered is not None and taken else None
        fails = each is not None and each.status is not Status.OK
        assert bool(context.get(unit.fault.valid)) == fails
        if each is not None and fails:
            fault = context.get(unit.fault.payload)
            assert (fault.status, fault.client, fault.i, fault.j) == (each.status, each.client, each.i, each.j)
            assert fault.pc == each.pc % (1 << WORD_BITS) | each.address << WORD_BITS
            self.seen["faults"] += 1

    def _see_retired(self, context: Any, can_retire: bool) -> None:
        """Segments come in order."""
        retire = context.get(self.unit.retire)
        self.waited = self.waited + 1 if self.handing and can_retire and not retire.valid else 0
        assert self.waited < DEADLINE, "a segment is not handed over"
        if not retire.valid:
            return
        assert self.handing, "a segment too many"
        wave, segment = self.handing[0]
        assert (retire.context, bool(retire.faulted)) == (
            self._context(wave, segment),
            self.waves[wave].status is not Status.OK,
        )
        if can_retire:
            self.sending.append(self.handing.popleft())

    def _see_end(self, context: Any) -> None:
        if self.offered is not None and context.get(self.unit.end.ready):
            self.waves[self.offered].has_ended = True
            self.handing += [(self.offered, segment) for segment in range(self.segments)]
            self.offered, self.waited = None, 0
        elif self.offered is not None and not self.handing:
            self.waited += 1
            assert self.waited < DEADLINE, "a wavefront is not taken"

    def _see_free(self, context: Any, done: tuple[int, int] | None) -> None:
        """With its last segment a wavefront has gone."""
        free, wave = self.unit.free, None
        if done is not None:
            each = self.waves[done[0]]
            each.released += 1
            wave = done[0] if each.released == self.segments else None
        assert bool(context.get(free.valid)) == (wave is not None)
        if wave is not None:
            assert context.get(free.wave) == wave
            del self.waves[wave]
            self.seen["free"] += 1


def check(seed: int, **settings: int) -> None:
    """Wavefronts of a machine."""
    bench = Bench(seed, **settings)
    simulate(bench.unit, bench.run)
    assert bench.seen["faults"] > ENDS // 5 and bench.seen["states"] > ENDS


def compare() -> None:
    """What the ordinary suite compares."""
    for seed, machine in enumerate(MACHINES):
        check(seed, **machine)


def test_wavefronts_end_segment_by_segment() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 44))
def test_many_more_ends(seed: int) -> None:
    check(seed, **MACHINES[seed % len(MACHINES)])
