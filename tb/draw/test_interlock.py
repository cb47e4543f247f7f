"""The interlock: no two strips of the same pixels in flight, every strip once and in order, and none for ever."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.border.shading import RECORDS
from ctm.rtl.draw.interlock import Interlock
from ctm.tb.draw import interlock_proof
from ctm.tb.draw.interlock_proof import CONFIG, TICKETS, InterlockProof
from ctm.tb.lib.planting import Fault, faulty_module
from ctm.tb.lib.proving import needs_prover, proves
from ctm.tb.lib.some import fewer
from ctm.tb.lib.streams import simulate

PORTS = ("i", "j", "covered", "offers", "takes", "ends", "ticket", "watched", "lane")
STRIPS = fewer(400)
BUGS = {
    "pixels are not kept": ("Value.cast(pair).eq(own)", "Value.cast(pair).eq(0)"),
    "lanes are not kept": ("lanes.eq(covered)", "lanes.eq(0)"),
    "only strips alike wait": ("(lanes & covered).any()", "(lanes == covered)"),
    "conflicts are not looked at": ("strip.valid & ~conflicts & ", "strip.valid & "),
    "a ticket is free too early": ("(busy | Mux(grants, free, 0)) & ~ends", "Mux(grants, free, 0)"),
    "an end is lost": ("& ~ends", ""),
    "a grant is lost": ("granted.valid.eq(grants | (granted.valid & ~granted.ready))", "granted.valid.eq(grants)"),
}


def broken(bug: str) -> type[Interlock]:
    """The interlock with a bug."""
    found: type[Interlock] = faulty_module(Fault("rtl.draw.interlock", *BUGS[bug])).Interlock
    return found


def proof(mode: str, depth: int, folder: Path) -> bool:
    unit = InterlockProof()
    return proves(unit, [getattr(unit, name) for name in PORTS], folder, mode=mode, depth=depth)


@needs_prover
def test_the_order_is_proved(tmp_path: Path) -> None:
    assert proof("prove", 2, tmp_path / "prove")


@needs_prover
def test_the_proof_is_not_empty(tmp_path: Path) -> None:
    assert proof("cover", 12, tmp_path / "cover")


@needs_prover
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_has_a_counterexample(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interlock_proof, "Interlock", broken(bug))
    assert not proof("bmc", 12, tmp_path / "bmc")


@dataclass
class Bench:
    """Strips of few pixels, offered, taken and ended at random; what each cycle has to show is known."""

    interlock: Any
    generator: np.random.Generator
    waiting: list[dict[str, Any]]
    given: list[dict[str, Any]] = field(default_factory=list)
    in_flight: dict[int, dict[str, Any]] = field(default_factory=dict)
    """By their tickets, from the cycle on in which they are granted."""
    granted: int | None = None
    """The ticket of the one that waits to be taken."""

    async def cycle(self, context: Any) -> None:
        """Drive a cycle, see that it is right, and keep what it did."""
        interlock, generator = self.interlock, self.generator
        if self.granted is not None:
            found = context.get(interlock.granted.payload)
            wanted = self.in_flight.get(found.ticket)
            if wanted is None:
                # It was granted in the last cycle.
                wanted = self.in_flight[found.ticket] = self.in_flight.pop(_NEW)
            self.granted = found.ticket
            assert fields_of(found.strip) == wanted
        offers = bool(self.waiting) and (context.get(interlock.strip.valid) or generator.random() < 0.8)
        takes, is_granted = generator.random() < 0.6, self.granted is not None
        ready = [ticket for ticket in self.in_flight if ticket != self.granted]
        ends = bool(ready) and generator.random() < 0.3
        ticket = int(generator.choice(ready)) if ends else int(generator.integers(TICKETS))
        context.set(interlock.strip.valid, int(offers))
        if offers:
            context.set(interlock.strip.payload, interlock.strip.payload.shape().const(self.waiting[0]))
        context.set(interlock.granted.ready, int(takes))
        context.set(interlock.ended, {"valid": int(ends), "ticket": ticket})
        pairs = len(self.in_flight)
        is_free = offers and not any(shares(self.waiting[0], strip) for strip in self.in_flight.values())
        grants = is_free and pairs < TICKETS and (takes or not is_granted)
        assert context.get(interlock.granted.valid) == is_granted
        assert context.get(interlock.strip.ready) == grants
        assert context.get(interlock.idle) == (not pairs and not offers)
        assert context.get(interlock.record_ended.valid) == ends
        if ends:
            assert context.get(interlock.record_ended.record) == self.in_flight.pop(ticket)["constants"]["record"]
        if self.granted is not None and takes:
            self.given.append(self.in_flight[self.granted])
            self.granted = None
        if grants:
            self.in_flight[_NEW] = self.waiting.pop(0)
            self.granted = _NEW
        await context.tick()


_NEW = -1
"""Stands for a ticket that is not allocated yet."""


def shares(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two strips have a pixel in common."""
    return (one["i"], one["j"]) == (other["i"], other["j"]) and bool(one["covered"] & other["covered"])


def fields_of(strip: Any) -> dict[str, Any]:
    """What the test sets of a strip."""
    constants = {"record": int(strip.constants.record), "provoking": int(strip.constants.provoking)}
    return {"i": int(strip.i), "j": int(strip.j), "covered": int(strip.covered), "constants": constants}


def run(interlock: Any, seed: int) -> None:
    """Give the interlock strips until all were granted, in their order, and have ended."""
    generator = np.random.default_rng(seed)
    pairs = generator.integers([0, 0], [4096 // 8, 4096 // 2], (int(generator.choice([2, 9, 30])), 2)) * (8, 2)
    strips = [
        {
            "i": int(i), "j": int(j), "covered": int(generator.choice([0x00FF, 0xFF00, 0x0F30, 0x8001, 0xFFFF])),
            "constants": {"record": int(generator.integers(RECORDS)), "provoking": int(generator.integers(64))},
        }
        for i, j in pairs[generator.integers(len(pairs), size=STRIPS)]
    ]  # fmt: skip
    bench = Bench(interlock, generator, list(strips))

    async def testbench(context: Any) -> None:
        for _ in range(40 * STRIPS):
            if len(bench.given) == STRIPS and not bench.in_flight:
                break
            await bench.cycle(context)
        assert bench.given == strips
        await bench.cycle(context)

    simulate(interlock, testbench)


@pytest.mark.parametrize("seed", range(3))
def test_strips_are_given_once_in_order_and_apart(seed: int) -> None:
    interlock = Interlock(CONFIG)
    assert len(interlock.pairs) == TICKETS
    run(interlock, seed)


@pytest.mark.parametrize("bug", BUGS)
def test_bugs_are_found_by_simulation_too(bug: str) -> None:
    interlock = broken(bug)
    with pytest.raises(AssertionError):
        for seed in range(3):
            run(interlock(CONFIG), seed)
