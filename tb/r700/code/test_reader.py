"""CodeReader: every core gets the lines that it requests, and no others."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from amaranth import Value

from ctm.rtl.border.lines import CODE_LINES, LINE_ADDRESS_BITS, LINE_BITS
from ctm.rtl.config import ArrayConfig, MachineConfig
from ctm.rtl.r700.code.reader import CodeReader
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

TAGS = range(2)
"""A core's."""
LINES = fewer(300)
CORES = (1, 3, 6)
"""Of which the last ones want more lines than there may be."""


@dataclass(frozen=True, kw_only=True)
class Wish:
    """A line that a core wants."""

    core: int
    tag: int
    line: int
    uncached: int

    @property
    def response(self) -> tuple[int, bool]:
        """Memory's response: the bits, and whether it is an error."""
        draw = np.random.default_rng((self.line, self.uncached))
        return int.from_bytes(draw.bytes(LINE_BITS // 8), "little"), bool(draw.random() < 0.2)


class Bench:
    """The reader between cores and a memory that responds in any order."""

    def __init__(self, seed: int, cores: int, latency: int) -> None:
        array = ArrayConfig(instruction_set="r700", cores=cores)
        self.unit: Any = CodeReader(MachineConfig(array=array))
        self.draw, self.cores, self.latency = np.random.default_rng(seed), cores, latency
        self.offers: list[Wish | None] = [None] * cores
        self.in_flight: dict[int, tuple[Wish, int]] = {}
        """By memory's tag: the request, and the first cycle in which its response may come."""
        self.passed = np.zeros((cores, cores), int)
        """[waiting core, core that went first]"""
        self.waits: tuple[int, int] | None = None
        """What was asked for and not taken."""
        self.responds: int | None = None
        """Memory's tag of the response that came in the cycle before."""
        self.done, self.most = np.zeros(cores, int), 0

    def _chance(self, probability: float) -> bool:
        return bool(self.draw.random() < probability)

    def _wish(self, core: int) -> Wish | None:
        """Something for one of its tags that is free."""
        used = {wish.tag for wish, _ in self.in_flight.values() if wish.core == core}
        free = [tag for tag in TAGS if tag not in used]
        if not free or not self._chance(0.7):
            return None
        tag, line = int(self.draw.choice(free)), int(self.draw.integers(1 << LINE_ADDRESS_BITS))
        return Wish(core=core, tag=tag, line=line, uncached=int(self._chance(0.3)))

    async def run(self, context: Any) -> None:
        """Until all lines were read."""
        unit, cycle, idle = self.unit, 0, 0
        while self.done.sum() < LINES:
            cycle += 1
            ready, due = self._chance(0.8), self._due(cycle)
            context.set(unit.lines.request.ready, ready)
            for core, port in enumerate(unit.cores):
                wish = self.offers[core] = self.offers[core] or self._wish(core)
                context.set(port.request.valid, wish is not None)
                if wish is not None:
                    payload = {"line": wish.line, "uncached": wish.uncached, "tag": wish.tag}
                    context.set(port.request.payload, payload)
            self._respond(context, due)
            self._see_responses(context, self.responds)
            went = self._see_request(context, ready, cycle)
            if self.responds is not None:
                self.done[self.in_flight.pop(self.responds)[0].core] += 1
            self.responds = due
            idle = 0 if went or due is not None else idle + 1
            assert idle < 4 * self.latency + 40, "nothing goes on"
            await context.tick()

    def _due(self, cycle: int) -> int | None:
        """The tag of a response that comes."""
        found = [tag for tag, (_, first) in self.in_flight.items() if first <= cycle and tag != self.responds]
        return int(self.draw.choice(found)) if found and self._chance(0.7) else None

    def _respond(self, context: Any, due: int | None) -> None:
        """Memory's side. Its outputs are random without a response."""
        response = self.unit.lines.response
        context.set(response.valid, due is not None)
        tag = int(self.draw.integers(CODE_LINES)) if due is None else due
        bits, error = (0, 0) if due is None else self.in_flight[due][0].response
        context.set(Value.cast(response.payload.tag), tag)
        context.set(response.payload.bits, bits)
        context.set(response.payload.error, error)

    def _see_responses(self, context: Any, responds: int | None) -> None:
        """The core that requested a line gets it in the cycle after memory's response, and no other core."""
        wish = None if responds is None else self.in_flight[responds][0]
        for core, port in enumerate(self.unit.cores):
            response, own = port.response, wish is not None and wish.core == core
            assert bool(context.get(response.valid)) == own, f"core {core}"
            if wish is not None and own:
                bits, error = wish.response
                assert context.get(Value.cast(response.payload.tag)) == wish.tag
                assert bool(context.get(response.payload.error)) == error
                assert context.get(response.payload.bits) == bits

    def _see_request(self, context: Any, ready: bool, cycle: int) -> bool:
        """One of the lines that are wanted is asked for, if another one may be; whether it was taken."""
        request = self.unit.lines.request
        waiting = [core for core, wish in enumerate(self.offers) if wish is not None]
        valid = bool(context.get(request.valid))
        assert valid == (bool(waiting) and len(self.in_flight) < CODE_LINES)
        taken = [core for core in waiting if context.get(self.unit.cores[core].request.ready)]
        assert len(taken) == (valid and ready)
        asked = context.get(request.payload.line), context.get(request.payload.uncached)
        assert self.waits is None or (valid and asked == self.waits), "another line is asked for"
        self.waits = asked if valid and not ready else None
        if not taken:
            return False
        wish, tag = self.offers[taken[0]], context.get(Value.cast(request.payload.tag))
        assert wish is not None and asked == (wish.line, wish.uncached)
        assert tag not in self.in_flight, "two requests have the same tag"
        self.in_flight[tag] = wish, cycle + 1 + int(self.draw.integers(self.latency))
        self.most = max(self.most, len(self.in_flight))
        self._round_robin(wish.core)
        return True

    def _round_robin(self, core: int) -> None:
        """No core goes twice while another one waits."""
        self.offers[core] = None
        self.passed[core] = 0
        self.passed[[other for other, wish in enumerate(self.offers) if wish is not None], core] += 1
        assert self.passed.max() <= 1, "a core waits too long"


def check(seed: int, cores: int, latency: int) -> None:
    """Cores read lines of a memory."""
    bench = Bench(seed, cores, latency)
    simulate(bench.unit, bench.run)
    assert min(bench.done) > 0
    assert bench.most == min(CODE_LINES, cores * len(TAGS)) or latency < CODE_LINES


def compare() -> None:
    """What the ordinary suite compares."""
    for cores in CORES:
        for latency in (1, 30):
            check(cores, cores, latency)


@pytest.mark.slow
def test_cores_get_their_lines() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 50))
def test_many_more_lines(seed: int) -> None:
    check(seed, 1 + seed % 16, 1 + seed % 3 * 20)
