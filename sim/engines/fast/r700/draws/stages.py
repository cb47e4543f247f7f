"""A draw's programs as compiled code."""

from collections.abc import Callable, Iterator, Mapping
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ctm.sim.engines.fast.arrangement import Arranged, Layout
from ctm.sim.engines.fast.compiler import Code
from ctm.sim.engines.fast.core import Compiling
from ctm.sim.engines.fast.parameters import SLOTS, Slot, Table
from ctm.sim.engines.fast.program import FallBackError, Prepared
from ctm.sim.engines.fast.r700.draws.launches import GivenThreads
from ctm.sim.engines.fast.r700.preparation import prepare_pixels, prepare_threads
from ctm.sim.engines.fast.r700.translation import Drawn
from ctm.sim.engines.fast.raster import Found, raster
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Integers, Shaded
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.draw.strips import strips_at
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r700.draws.stages import R700Stages
from ctm.sim.golden.r700.draws.threads import ThreadLaunch

_UNLIMITED = (1 << 63) - 1


_LEAST_VECTORS = 16
"""Vectors that are worth a thread of their own."""
_STRIP_LANES = 1 << 17
"""Pixels whose strips are found and drawn together."""


class _Running(NamedTuple):
    """Strips that are being drawn: what they are, the first one's index in the draw, and the table of the thread."""

    found: Found
    first: int
    address: int
    done: Table


class FastStages(R700Stages):
    """See `R700Stages`; what cannot be compiled runs as there."""

    def __init__(
        self, core: ArrayCore[Any, Any], state: State, draws: DrawState, start: Start, compiling: Compiling
    ) -> None:
        super().__init__(core, state, draws, start)
        self._compiling = compiling

    def _run(self, launch: ThreadLaunch, name: Callable[[int], str]) -> None:
        stage, compiling = launch.program.stage, self._compiling
        assert stage is not None
        if not launch.threads:
            return
        try:
            given = GivenThreads(launch, stage, self._core.lanes)
            prepared = prepare_threads(launch, compiling.host, given.threaded)
        except FallBackError as reason:
            compiling.remark(str(reason))
            super()._run(launch, name)
            return
        code = compiling.code(prepared)
        table = prepared.table.copy()
        table[Slot.THREADS] = given.table.ctypes.data
        table[Slot.I0] = table[Slot.J0] = table[Slot.J1] = 0
        table[Slot.I1] = launch.threads - 1
        table[Slot.LIMIT], table[Slot.CODE] = launch.watchdog or _UNLIMITED, code.address
        table[Slot.VECTORS] = given.vectors
        threads = max(1, min(compiling.workers.threads, given.vectors // _LEAST_VECTORS))
        tables = Arranged.of(_layout(given.vectors), table, threads).begin(threads)
        compiling.workers.submit(code, tables)
        returned = np.sort(np.concatenate([self._ended(address, done, prepared) for address, done in tables.items()]))
        given.take(returned)
        self.run_wavefronts(launch, returned, name)

    def _ended(self, address: int, done: Table, prepared: Prepared) -> Integers:
        """Wait for a thread, and count what its vectors did: the numbers of those that are for the golden model."""
        self._compiling.workers.wait(address)
        self._core.counters.add(prepared.counters(done))
        count = int(done[Slot.RETURNED_COUNT])
        return np.sort(done[SLOTS:].view(np.int32)[:count].astype(np.int64))

    def pixels(self, shaded: Shaded, shapes: Shapes, domain: Domain) -> None:
        """See `Stages.pixels`. While strips are drawn the next ones are found."""
        launch, compiling = self.pixel_launch(), self._compiling
        try:
            drawn = Drawn(shaded.parameters.shape[1], self._draws.raster.add)
            prepared = prepare_pixels(launch, compiling.host, drawn)
        except FallBackError as reason:
            compiling.remark(str(reason))
            super().pixels(shaded, shapes, domain)
            return
        code = compiling.code(prepared)
        kept = _arrays(shaded, shapes)
        table = self._table(prepared, code, kept, launch.watchdog)
        allocated = cycle([Found.empty(_STRIP_LANES // self._core.lanes, self._core.lanes) for _ in range(2)])
        running: _Running | None = None
        first, returned = 0, list[tuple[Found, Integers]]()
        for found in raster(shapes, domain, self._core.lanes, compiling.host, lambda: next(allocated)):
            if running is not None:
                returned += self._taken(running, prepared)
            running = self._begun(code, table, found, first)
            first += found.shape.size
        if running is not None:
            returned += self._taken(running, prepared)
        for given_back, order in returned:
            strips = strips_at(shapes, domain, self._core.lanes, given_back.shape, given_back.i, given_back.j)
            self.run_strips(launch, shaded, shapes, strips, order)
        self.raise_errors()

    def _table(self, prepared: Prepared, code: Code, kept: Mapping[Slot, npt.NDArray[Any]], watchdog: int) -> Table:
        """The parameters of the pixel program but for the strips."""
        table = prepared.table.copy()
        for slot, array in kept.items():
            table[slot] = array.ctypes.data
        for slot, bound in zip((Slot.DEPTH_LOW, Slot.DEPTH_HIGH), self._draws.viewport.z_range, strict=True):
            table[slot] = int(bound.view(np.uint32))
        table[Slot.LIMIT], table[Slot.CODE] = watchdog or _UNLIMITED, code.address
        return table

    def _begun(self, code: Code, table: Table, found: Found, first: int) -> _Running:
        """Begin to draw strips, of which `first` were before."""
        count = found.shape.size
        given = table.copy()
        for slot, array in (
            (Slot.EDGES, found.edges), (Slot.SHAPES, found.shape), (Slot.ORIGIN_I, found.i), (Slot.ORIGIN_J, found.j),
            (Slot.COVERED, found.covered),
        ):  # fmt: skip
            given[slot] = array.ctypes.data
        given[Slot.VECTORS] = count
        layout = Layout(vectors=count, positions=np.arange(count), i=found.i, j=found.j, covered=found.covered)
        tables = Arranged.of(layout, given, 1).begin(1)
        ((address, done),) = tables.items()
        self._compiling.workers.submit(code, tables)
        return _Running(found, first, address, done)

    def _taken(self, running: _Running, prepared: Prepared) -> Iterator[tuple[Found, Integers]]:
        """Wait for strips, count what they did, and give those that are for the golden model, with their indices."""
        numbers = self._ended(running.address, running.done, prepared)
        if numbers.size:
            yield running.found.select(numbers), running.first + numbers


def _layout(vectors: int) -> Layout:
    """Vectors of threads, which are numbered and have no coordinates in a domain."""
    nowhere = np.zeros(0, np.int32)
    return Layout(vectors=vectors, positions=np.arange(vectors), i=nowhere, j=nowhere, covered=None)


def _arrays(shaded: Shaded, shapes: Shapes) -> dict[Slot, npt.NDArray[Any]]:
    """What all strips read: vertices and record of each shape, parameters of each vertex."""
    vertices = np.concatenate([shapes.corners, shapes.provoking[:, None]], axis=1)
    return {
        Slot.VERTICES: np.ascontiguousarray(vertices, np.int32),
        Slot.RECORDS: np.ascontiguousarray(shapes.record, np.float32),
        Slot.PARAMETERS: np.ascontiguousarray(shaded.parameters, np.float32),
    }
