"""The run of a draw's pixel program: wavefronts of strips, whose outputs are stored in the order of primitives."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.limits import CHANNELS
from ctm.sim.golden import fp
from ctm.sim.golden.dpp.batch import Batch as AnyBatch
from ctm.sim.golden.dpp.batch import Floats, Integers, Mask
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.strips import Strips
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.golden.mc.elements import read, write
from ctm.sim.golden.r700.program import Program
from ctm.sim.golden.r700.state import Batch


class Ended(NamedTuple):
    """Pixels of wavefronts that ended and that may store: order of the wavefront, coordinates, and outputs."""

    order: Integers
    i: Integers
    j: Integers
    outputs: Floats
    written: Mask
    conditional: Floats


@dataclass(frozen=True, kw_only=True)
class PixelLaunch(Launch[Program]):
    """The run of a pixel program for some strips of a draw."""

    strips: Strips | None
    order: Integers
    """Indices of the strips in the draw, ascending."""
    z_range: tuple[np.float32, np.float32]
    adds: bool
    ended: list[Ended] = field(default_factory=list)

    def set_registers(self, batch: Batch) -> None:
        """R0 = edge values 1, 2 and 0 as floats, R1.xy = the pixel's integers."""
        lane = np.arange(self.lanes)
        assert self.strips is not None
        at = (np.searchsorted(self.order, batch.order)[:, None] * self.lanes + lane).ravel()
        batch.temporaries[:2] = 0
        for channel, edge in enumerate((1, 2, 0)):
            batch.temporaries[0, channel] = self.strips.edges[edge, at].astype(np.float32)
        for channel, values in enumerate((batch.i, batch.j)):
            batch.temporaries[1, channel] = values.astype(np.int64).astype(np.uint32).view(np.float32)
        batch.clean[CHANNELS : CHANNELS + 2] = [False] * 2

    def finish(self, batch: AnyBatch[Any]) -> Iterator[tuple[Buffer, Mask]]:
        """Keep what wavefronts leave until all of the strips have run."""
        lanes = np.flatnonzero(batch.covered & batch.valid_mask)
        self.ended.append(Ended(
            np.repeat(batch.order, batch.lanes)[lanes], batch.i[lanes], batch.j[lanes], batch.outputs[..., lanes],
            batch.written[..., lanes], batch.conditional[lanes],
        ))  # fmt: skip
        yield from ()

    def tested(self) -> tuple[Ended, Mask] | None:
        """The pixels that the strips kept, in the order of the draw, and which pass the conditional test.

        Depths of those that pass are stored. None if there are no pixels.
        """
        if not self.ended:
            return None
        columns = zip(*self.ended, strict=True)
        order, i, j, outputs, written, conditional = (np.concatenate(each, axis=-1) for each in columns)
        by = np.argsort(order, kind="stable")
        found = Ended(order[by], i[by], j[by], outputs[..., by], written[..., by], conditional[by])
        self.ended.clear()
        return found, self._tested(found.i, found.j, found.conditional)

    def store(self) -> None:
        """Test and store the outputs of the strips, primitive after primitive."""
        found = self.tested()
        if found is None:
            return
        (_, i, j, outputs, written, _), passed = found
        mask = np.array(self.output_mask)[:, None]
        for register, output in enumerate(self.program.outputs):
            stored = written[register] & passed & mask
            if self.adds:
                self._add(self.outputs[output], i, j, outputs[register], stored)
            else:
                write(self.memory, self.outputs[output], i, j, outputs[register], stored)

    def _tested(self, i: Integers, j: Integers, value: Floats) -> Mask:
        """Which pixels pass the conditional test; those at the same coordinates are tested one after the other."""
        unit = self.conditional
        if unit.location is not ConditionalLocation.DPP or unit.passes_all:
            return np.ones(i.size, bool)
        value = self.clamped(value)
        passed = np.zeros(i.size, bool)
        for layer in _layers(i, j):
            good, stored = unit.decide(self.memory, i[layer], j[layer], value[layer])
            unit.store(self.memory, i[layer][stored], j[layer][stored], value[layer][stored])
            passed[layer] = good
        return passed

    def clamped(self, value: Floats) -> Floats:
        """Depths in their range; denormals compare as zeros, and a NaN is kept."""
        low, high = self.z_range
        number = fp.flush_denormals(value)
        bounds = [fp.flush_denormals(np.array([bound])) for bound in (low, high)]
        found: Floats = np.where(number < bounds[0], low, np.where(number > bounds[1], high, value))
        return found

    def _add(self, buffer: Buffer, i: Integers, j: Integers, values: Floats, mask: Mask) -> None:
        """Add to elements of FLOAT32 formats, pixel after pixel."""
        wanted = np.flatnonzero(mask.any(axis=0))
        for layer in _layers(i[wanted], j[wanted]):
            at = wanted[layer]
            x, y = i[at], j[at]
            inside = (x < buffer.width_limit) & (y < buffer.height_limit)
            at, x, y = at[inside], x[inside], y[inside]
            sums = fp.add(read(self.memory, buffer, x, y), np.ascontiguousarray(values[:, at]))
            write(self.memory, buffer, x, y, sums, mask[:, at])


def _layers(i: Integers, j: Integers) -> Iterator[npt.NDArray[np.signedinteger]]:
    """The first pixel at each coordinate pair, then the second ones, ...: no two of one pair together."""
    key = j.astype(np.int64) << 13 | i
    by = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[by], prepend=-1))
    rank = np.arange(by.size) - np.repeat(starts, np.diff(starts, append=by.size))
    for layer in range(int(rank.max(initial=-1)) + 1):
        yield by[rank == layer]
