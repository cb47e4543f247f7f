"""What a group makes of masks, predicate and address registers, pixel by pixel: the components of `effects`."""

from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

from ctm.rtl.isa.r700.alu import PredicateSelect
from ctm.rtl.r700.alu.effects import AddressMoves, AddressRegisters, GroupEffects

SLOTS, SIZE, CHANNELS = 5, 8, 4
GROUPS = 300
_MASKS = ("branch_mask", "valid_mask", "cleared", "predicate")


def _mask(pixels: np.ndarray) -> int:
    return int(sum(1 << index for index in np.flatnonzero(pixels)))


def expected_effects(
    effects: list[dict[str, Any]], before: dict[str, np.ndarray], given: dict[str, Any]
) -> dict[str, Any]:
    """Masks after a group, and the pixels in which each slot writes."""
    after = {name: mask.copy() for name, mask in before.items()}
    gates = []
    for slot, effect in enumerate(effects):
        gate = given["executing"].copy()
        if effect["predicate"] is not PredicateSelect.OFF:
            gate &= before["predicate"] == (effect["predicate"] is PredicateSelect.ONE)
        gates.append(gate)
        if effect["kills"]:
            after["valid_mask"] &= ~(gate & given["kill"][slot])
        if effect["sets_predicate"]:
            holds = given["predicate"]
            if effect["updates_predicate"]:
                after["predicate"] = np.where(gate, holds, after["predicate"])
            if effect["updates_execute_mask"]:
                off = gate & ~holds & before["branch_mask"]
                after["branch_mask"] &= ~off
                after["cleared"] |= off
    return {**after, "gates": gates}


def check_effects(seed: int, count: int) -> None:
    """Random groups with at most one PRED_SET."""
    draw, unit = np.random.default_rng(seed), GroupEffects(SIZE)
    port: Any = unit

    async def run(context: Any) -> None:
        for _ in range(count):
            setter = int(draw.integers(SLOTS + 2))
            effects = [
                {
                    "predicate": list(PredicateSelect)[int(draw.choice([0, 0, -1, -2]))],
                    "sets_predicate": slot == setter,
                    "kills": setter >= SLOTS and bool(draw.random() < 0.5),
                    "updates_execute_mask": bool(draw.integers(2)),
                    "updates_predicate": bool(draw.integers(2)),
                }
                for slot in range(SLOTS)
            ]
            before = {name: draw.random(SIZE) < 0.6 for name in _MASKS}
            given = {"executing": draw.random(SIZE) < 0.7, "predicate": draw.random(SIZE) < 0.5}
            given["kill"] = draw.random((SLOTS, SIZE)) < 0.3
            context.set(port.effects, effects)
            context.set(port.before, {name: _mask(mask) for name, mask in before.items()})
            context.set(port.executing, _mask(given["executing"]))
            context.set(port.predicate, _mask(given["predicate"]))
            context.set(port.kill, [_mask(pixels) for pixels in given["kill"]])
            wanted, after = expected_effects(effects, before, given), context.get(port.after)
            for name in _MASKS:
                assert after[name] == _mask(wanted[name]), f"{name}: {effects}"
            assert list(context.get(port.gates)) == [_mask(gate) for gate in wanted["gates"]], effects

    _run(unit, run)


def check_addresses(seed: int, count: int) -> None:
    """Pixels that have the same address registers as the first of those that are asked for."""
    draw, unit = np.random.default_rng(seed), AddressRegisters(SIZE)
    port: Any = unit

    async def run(context: Any) -> None:
        for _ in range(count):
            kept = draw.choice([-256, -1, 0, 255], (CHANNELS, SIZE), p=[0.02, 0.04, 0.9, 0.04])
            pixels, is_set = draw.random(SIZE) < draw.choice([0.2, 0.9]), bool(draw.random() < 0.8)
            context.set(port.kept, kept.tolist())
            context.set(port.is_set, is_set)
            context.set(port.pixels, _mask(pixels))
            if not pixels.any():
                continue
            values = kept * is_set
            first = values[:, np.flatnonzero(pixels)[0]]
            alike = pixels & (values == first[:, None]).all(axis=0)
            assert list(context.get(port.indices)) == first.tolist()
            assert context.get(port.alike) == _mask(alike)

    _run(unit, run)


def check_moves(seed: int, count: int) -> None:
    """Address registers after a group, of which each channel's slot may have a MOVA."""
    draw, unit = np.random.default_rng(seed), AddressMoves(SIZE)
    port: Any = unit

    async def run(context: Any) -> None:
        for _ in range(count):
            kept, indices = draw.integers(-256, 256, (2, CHANNELS, SIZE))
            sets, gates = draw.random(CHANNELS) < 0.5, draw.random((SLOTS, SIZE)) < 0.6
            is_set = bool(draw.random() < 0.7)
            for name, value in {
                "kept": kept.tolist(), "indices": indices.tolist(), "is_set": is_set, "sets": _mask(sets),
                "gates": [_mask(gate) for gate in gates],
            }.items():  # fmt: skip
                context.set(getattr(port, name), value)
            after = np.where(sets[:, None] & gates[:CHANNELS], indices, kept * is_set)
            assert [list(channel) for channel in context.get(port.after)] == after.tolist()

    _run(unit, run)


def _run(unit: Any, testbench: Any) -> None:
    simulator = Simulator(unit)
    simulator.add_testbench(testbench)
    simulator.run()


def compare() -> None:
    """What the ordinary suite compares."""
    check_effects(1, GROUPS)
    check_addresses(2, GROUPS)
    check_moves(3, GROUPS)


def test_every_pixel_has_its_effects() -> None:
    compare()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 13))
def test_many_more_groups(seed: int) -> None:
    check_effects(seed, 20_000)
    check_addresses(seed, 20_000)
    check_moves(seed, 20_000)
