"""Watchdog against plain counts."""

from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.groups.watchdog import Watchdog
from ctm.tb.lib.streams import simulate

CYCLES, PORTS = 2000, 3


@pytest.mark.parametrize("most", [0, 1, 2, 7, 40])
def test_random_instructions(most):
    generator = np.random.default_rng(most)
    config = ArrayConfig(threads=4, temporaries=128)
    unit, executed = Watchdog(config, PORTS), [0] * config.threads
    begun, expired = [False] * config.threads, 0

    async def testbench(context: Any) -> None:
        nonlocal expired
        context.set(unit.most, most)
        for _ in range(CYCLES):
            # Each group executes at most at one port, and begins in no such cycle.
            slots = generator.permutation(config.threads)[:PORTS]
            begins = int(generator.integers(config.threads))
            starts = begins not in slots and (not begun[begins] or generator.random() < 0.1)
            context.set(unit.begin, {"valid": starts, "slot": begins})
            goes = [bool(begun[slot]) and generator.random() < 0.6 for slot in slots]
            for port, (slot, valid) in enumerate(zip(slots, goes, strict=True)):
                context.set(unit.executed[port], {"valid": valid, "slot": int(slot)})
            for port, (slot, valid) in enumerate(zip(slots, goes, strict=True)):
                if valid:
                    executed[slot] += 1
                    assert context.get(unit.expires[port]) == (most != 0 and executed[slot] == most)
                    expired += context.get(unit.expires[port])
            if starts:
                begun[begins], executed[begins] = True, 0
            await context.tick()

    simulate(unit, testbench)
    assert bool(expired) == bool(most)
