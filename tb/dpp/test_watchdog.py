"""Watchdog against plain counters."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.wavefronts.watchdog import Watchdog
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

CYCLES, PORTS = fewer(2000), 3


@pytest.mark.parametrize("most", [0, 1, 2, 7, 40])
def test_random_instructions(most):
    generator = np.random.default_rng(most)
    config = ArrayConfig(threads=4, temporaries=128)
    unit, executed = Watchdog(config, PORTS), [0] * config.threads
    begun, expired = [False] * config.threads, 0
    before: set[int] = set()

    async def testbench(context: Any) -> None:
        nonlocal before, expired
        context.set(unit.most, most)
        for _ in range(CYCLES):
            # Each wavefront executes at most at one port, in every second cycle, and begins in no such cycle.
            waves = generator.permutation(config.threads)[:PORTS]
            begins = int(generator.integers(config.threads))
            starts = begins not in waves and (not begun[begins] or generator.random() < 0.1)
            context.set(unit.begin, {"valid": starts, "wave": begins})
            goes = [bool(begun[wave]) and wave not in before and generator.random() < 0.8 for wave in waves]
            before = {wave for wave, valid in zip(waves, goes, strict=True) if valid}
            for port, (wave, valid) in enumerate(zip(waves, goes, strict=True)):
                context.set(unit.executed[port], {"valid": valid, "wave": int(wave)})
            for port, (wave, valid) in enumerate(zip(waves, goes, strict=True)):
                if valid:
                    executed[wave] += 1
                    assert context.get(unit.expires[port]) == (most != 0 and executed[wave] == most)
                    expired += context.get(unit.expires[port])
            if starts:
                begun[begins], executed[begins] = True, 0
            await context.tick()

    simulate(unit, testbench)
    assert bool(expired) == bool(most)
