"""Inputs of the n-body simulation, and its result by numpy."""

import math

import numpy as np

from ctm.examples.expectation import Array, Expectation

SIDE = 16
STEPS = 16
STEP, SOFTENING = 0.05, 0.1
ROUNDING = 2.0**-24
"""Relative error of one rounding of a float32."""


def inputs(side: int = SIDE) -> dict[str, Array]:
    """Two discs of bodies around a heavy one each, that are about to meet.

    Positions (x, y, z, mass) and velocities (x, y, z, 0) of side^2 bodies, float32 [side, side, 4].
    """
    random, count = np.random.default_rng(4), side * side // 2
    discs = [
        _disc(random, count, centre=(-1.6, -0.4, 0.0), drift=(0.45, 0.1, 0.0), spin=1.0),
        _disc(random, count, centre=(1.6, 0.4, 0.0), drift=(-0.45, -0.1, 0.0), spin=-1.0),
    ]
    positions, velocities = (np.concatenate(fields).reshape(side, side, 4) for fields in zip(*discs, strict=True))
    return {"positions.npy": positions.astype(np.float32), "velocities.npy": velocities.astype(np.float32)}


def _disc(
    random: np.random.Generator, count: int, *, centre: tuple[float, ...], drift: tuple[float, ...], spin: float
) -> tuple[Array, Array]:
    positions, velocities = np.zeros((2, count, 4))
    radius, angle = random.uniform(0.25, 1.2, count), random.uniform(0, 2 * np.pi, count)
    radius[0] = 0.0
    around = np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=1)
    along = np.stack([-np.sin(angle), np.cos(angle), np.zeros(count)], axis=1)
    positions[:, :3] = centre + radius[:, None] * around
    positions[:, 3] = 0.001
    positions[0, 3] = 1.0
    speed = radius * (radius**2 + SOFTENING**2) ** -0.75
    velocities[:, :3] = drift + spin * speed[:, None] * along
    return positions, velocities


def expected(arrays: dict[str, Array], steps: int = STEPS) -> dict[str, Expectation]:
    """Positions and velocities after some steps, float64 of the same shape.

    An acceleration is a float32 sum of n terms of some ten roundings each: off by (n + 10) roundings of the sum of the
    terms' magnitudes at most. These errors add up over the steps; a factor of 2 is for their growth.
    """
    step, softening = (float(np.float32(value)) for value in (STEP, SOFTENING))
    positions, velocities = (
        arrays[name].reshape(-1, 4).astype(np.float64) for name in ("positions.npy", "velocities.npy")
    )
    tolerance = np.zeros((len(positions), 1))
    for _ in range(steps):
        offset = positions[None, :, :3] - positions[:, None, :3]
        square = (offset**2).sum(axis=2) + softening**2
        terms = (positions[:, 3] * square**-1.5)[:, :, None] * offset
        velocities[:, :3] += step * terms.sum(axis=1)
        positions[:, :3] += step * velocities[:, :3]
        tolerance += 2 * step * (len(positions) + 10) * ROUNDING * np.linalg.norm(terms, axis=2).sum(axis=1)[:, None]
    tolerance += steps * ROUNDING * np.abs(velocities).max()
    drift = steps * (step * tolerance + ROUNDING * np.abs(positions).max())
    return {
        "positions_after.npy": Expectation(_grid(positions), _grid(drift)),
        "velocities_after.npy": Expectation(_grid(velocities), _grid(tolerance)),
    }


def _grid(bodies: Array) -> Array:
    side = math.isqrt(len(bodies))
    return bodies.reshape(side, side, -1)
