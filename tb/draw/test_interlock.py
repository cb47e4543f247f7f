"""The interlock: no two strips of the same pixels in flight, every strip once and in order, and none for ever."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.draw.interlock import Interlock
from ctm.tb.draw import interlock_proof
from ctm.tb.draw.interlock_proof import CONFIG, TICKETS, InterlockProof
from ctm.tb.lib.planting import Fault, FaultyLoader
from ctm.tb.lib.proving import needs_prover, proves
from ctm.tb.lib.streams import simulate

PORTS = ("i", "j", "offers", "takes", "ends", "ticket", "watched")
STRIPS = 400
BUGS = {
    "pixels are not kept": ("Value.cast(pair).eq(own)", "Value.cast(pair).eq(0)"),
    "conflicts are not looked at": ("strip.valid & ~conflicts & ", "strip.valid & "),
    "a ticket is free too early": ("(busy | Mux(grants, free, 0)) & ~ends", "Mux(grants, free, 0)"),
    "an end is lost": ("& ~ends", ""),
    "a grant is lost": ("granted.valid.eq(grants | (granted.valid & ~granted.ready))", "granted.valid.eq(grants)"),
}


def broken(bug: str) -> type[Interlock]:
    """The interlock with a bug."""
    loader = FaultyLoader(Fault("rtl.draw.interlock", *BUGS[bug]))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    found: type[Interlock] = module.Interlock
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


def run(interlock: Any, seed: int) -> None:
    """Offer strips of few pixels, take and end them at random; the order at each pixel and all strips are kept."""
    generator = np.random.default_rng(seed)
    strips = [(int(generator.integers(3)) * 8, int(generator.integers(3)) * 2, number) for number in range(STRIPS)]

    async def bench(context: Any) -> None:
        waiting, given, in_flight = list(strips), [], {}
        for _ in range(40 * STRIPS):
            if len(given) == STRIPS and not in_flight:
                break
            offers = bool(waiting) and (context.get(interlock.strip.valid) or generator.random() < 0.8)
            context.set(interlock.strip.valid, int(offers))
            if offers:
                i, j, number = waiting[0]
                context.set(interlock.strip.payload.i, i)
                context.set(interlock.strip.payload.j, j)
                context.set(interlock.strip.payload.covered, number % (1 << 16))
            takes = int(generator.random() < 0.6)
            context.set(interlock.granted.ready, takes)
            ends = bool(in_flight) and generator.random() < 0.3
            ticket = int(generator.choice(list(in_flight))) if ends else 0
            context.set(interlock.ended.valid, int(ends))
            context.set(interlock.ended.ticket, ticket)
            if offers and context.get(interlock.strip.ready):
                waiting.pop(0)
            if takes and context.get(interlock.granted.valid):
                found = context.get(interlock.granted.payload)
                pair = (found.strip.i, found.strip.j)
                assert found.ticket not in in_flight and pair not in in_flight.values()
                in_flight[found.ticket] = pair
                given.append((*pair, found.strip.covered))
            if ends:
                del in_flight[ticket]
            await context.tick()
        assert given == strips
        context.set(interlock.ended.valid, 0)
        await context.tick()
        assert context.get(interlock.idle)

    simulate(interlock, bench)


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
