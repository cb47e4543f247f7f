"""Scoreboard against lists of fetches and writes in flight."""

import itertools
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.memory.scoreboard import Scoreboard
from ctm.tb.lib.streams import simulate

CYCLES = 1500


class Wave:
    """Fetches and writes of one wave slot in flight."""

    def __init__(self) -> None:
        self.fetches: list[bool] = []
        """For each outstanding fetch, whether the semaphore waits for it."""
        self.writing = False
        self.made = 0

    def acquire(self) -> None:
        """Take the semaphore for all fetches in flight."""
        self.fetches = [True] * len(self.fetches)

    @property
    def blocked(self) -> bool:
        """Whether the semaphore is taken."""
        return self.writing or any(self.fetches)


def mask(bits: list[bool]) -> int:
    return sum(bit << index for index, bit in enumerate(bits))


def chosen(generator: np.random.Generator, allowed: list[bool], share: float) -> int | None:
    numbers = [number for number, bit in enumerate(allowed) if bit]
    return int(generator.choice(numbers)) if numbers and generator.random() < share else None


@pytest.mark.parametrize(("outstanding", "returns"), [(1, 0.5), (8, 0.3), (8, 0.8), (4, 0.5)])
def test_random_events(outstanding, returns):
    generator = np.random.default_rng(outstanding)
    config = ArrayConfig(threads=4, temporaries=128, lookups=outstanding)
    unit, waves = Scoreboard(config), [Wave() for _ in range(config.threads)]
    seen: set[tuple[bool, bool, bool]] = set()

    async def testbench(context: Any) -> None:
        for number in range(CYCLES):
            full = [len(wave.fetches) == outstanding for wave in waves]
            blocked = [wave.blocked for wave in waves]
            drained = [not wave.fetches and not wave.writing for wave in waves]
            assert context.get(unit.waves.full) == mask(full)
            assert context.get(unit.waves.blocked) == mask(blocked)
            assert context.get(unit.waves.drained) == mask(drained)
            seen.update(zip(full, blocked, drained, strict=True))

            share = returns if number % 300 < 200 else 0.02
            texture = chosen(generator, [not is_full for is_full in full], 0.6)
            returned = chosen(generator, [bool(wave.fetches) for wave in waves], share)
            write = chosen(generator, [not wave.writing for wave in waves], 0.1)
            written = chosen(generator, [wave.writing for wave in waves], 0.3)
            fetches, acquires = generator.random() < 0.8, generator.random() < 0.3
            flags = {"fetches": fetches, "acquires": acquires}
            context.set(unit.texture, {"valid": texture is not None, "wave": texture or 0, **flags})
            for port, chosen_wave in ((unit.returned, returned), (unit.write, write), (unit.written, written)):
                context.set(port, {"valid": chosen_wave is not None, "wave": chosen_wave or 0})
            if texture is not None and fetches:
                assert context.get(unit.entry) == waves[texture].made % outstanding
            await context.tick()

            if returned is not None:
                waves[returned].fetches.pop(0)
            if texture is not None:
                wave = waves[texture]
                wave.fetches += [False] * fetches
                wave.made += fetches
                if acquires:
                    wave.acquire()
            if write is not None:
                waves[write].writing = True
            if written is not None:
                waves[written].writing = False

    simulate(unit, testbench)
    possible = itertools.product((False, True), repeat=3)
    # With one fetch allowed a wave slot that has one in flight is full.
    expected = {(f, b, q) for f, b, q in possible if not (q and (f or b)) and (outstanding > 1 or f or b or q)}
    assert seen == expected
