"""Computes a sliced value again from what the slice lists: everything else is random."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.debug.slicing.cell import FLOATS, ITEMS, MEMORY, PRIMITIVE, Cell, words
from ctm.sim.debug.slicing.probing import Probe, unclean
from ctm.sim.debug.slicing.slicer import Slice, Slicer
from ctm.sim.debug.undo import Kept
from ctm.sim.golden.dpp.batch import Batch
from ctm.sim.golden.dpp.inputs import ranges
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_MOST_STEPS = 100_000
_BANKS, _ROWS = 6, 16
"""Of the constants of a primitive: more rows than any draw has."""


def targets_of(slicer: Slicer, lane: int) -> list[Cell]:
    """What decides a lane's elements of all outputs; of a lane that was killed, only that."""
    batch = slicer.track.last
    valid = Cell("valid_mask", (), lane)
    if not batch.valid_mask[lane]:
        return [valid]
    indices = list(np.ndindex(*batch.written.shape[:2]))
    stored = [Cell("outputs", index, lane) for index in indices if batch.written[(*index, lane)]]
    return [*stored, *(Cell("written", index, lane) for index in indices), valid]


def items_of(launch: ThreadLaunch, slicer: Slicer, lane: int) -> list[Cell]:
    """The dwords that the thread of a lane stored in the ring, of which none is 0."""
    item = launch.written[slicer.track.last.i[lane]]
    first = 4 * int(slicer.track.last.i[lane]) * item.size
    return [Cell(MEMORY, (first + 4 * dword, 4, ITEMS)) for dword in np.flatnonzero(item).tolist()]


def wrong(launch: Launch[Any], probe: Probe, begin: Batch[Any], found: Slice, lane: int, seed: int) -> list[Cell]:
    """The targets of a slice that are others if what it does not list is random; `begin` is the wavefront's start."""
    random = np.random.default_rng(seed)
    files = [(FLOATS, (number,)) for number in range(len(probe.constants.all_floats()))]
    if isinstance(launch, PixelLaunch):
        files += [(PRIMITIVE, row) for row in np.ndindex(_BANKS, _ROWS) if row[0]]
    for file, row in files:
        for channel in range(4):
            cell = Cell(file, (*row, channel))
            if cell not in found.constants:
                probe.put(cell, int(random.integers(1 << 32)))
    kept = Kept.of_outputs(launch)
    with _random_inputs(launch, probe, found, random):
        last = _run(probe, _random_start(begin, found, lane, random))
    again = {cell: words(last, cell)[0] if cell.is_state else probe.word(cell) for cell in found.targets}
    kept.restore()
    return [cell for cell, word in found.targets.items() if again[cell] != word]


@contextmanager
def _random_inputs(launch: Launch[Any], probe: Probe, found: Slice, random: np.random.Generator) -> Iterator[None]:
    kept: list[tuple[npt.NDArray[Any], int, int, npt.NDArray[Any]]] = []
    if isinstance(launch, ThreadLaunch) and launch.ring is not None:
        kept.append((launch.ring, 0, launch.ring.size, launch.ring.copy()))
        launch.ring[:] = random.integers(0, 1 << 32, launch.ring.size)
    for buffer in launch.buffers if isinstance(launch, ThreadLaunch) else ():
        memory, first, end = launch.memory.bytes, buffer.address, buffer.address + buffer.size
        kept.append((memory, first, end, memory[first:end].copy()))
        memory[first:end] = random.integers(0, 256, end - first)
    for number in sorted(launch.program.cached_inputs):
        memory = launch.inputs.cached[number].bytes
        for first, end in ranges(launch.inputs.buffers[number]):
            kept.append((memory, first, end, memory[first:end].copy()))
            memory[first:end] = random.integers(0, 256, end - first)
    for cell, word in found.elements.items():
        probe.put(cell, word)
    yield
    for memory, first, end, was in kept:
        memory[first:end] = was


def _random_start(begin: Batch[Any], found: Slice, lane: int, random: np.random.Generator) -> Batch[Any]:
    """The wavefront's start with random registers but for the first one, which has the position in the domain."""
    batch = begin.copy()
    bits = batch.temporaries.view(np.uint32)
    for number, channel, other in np.ndindex(*bits.shape):
        if number and Cell("temporaries", (number, channel), other) not in found.start:
            bits[number, channel, other] = random.integers(1 << 32)
    if all(cell.lane == lane for cell in found.start):
        # Others do what this lane does: with inputs of their own they could go round for ever.
        for array in (batch.temporaries, batch.i, batch.j):
            array[...] = array[..., lane : lane + 1]
    unclean(batch)
    return batch


def _run(probe: Probe, batch: Batch[Any]) -> Batch[Any]:
    for _ in range(_MOST_STEPS):
        ((batch, has_ended),) = probe.step_states(batch)
        if has_ended:
            return batch
    raise AssertionError("the wavefront does not end")
