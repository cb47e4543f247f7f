"""A draw's programs: the pixel program as compiled code, the others on the golden model."""

from typing import Any, NamedTuple

import numpy as np

from ctm.sim.engines.fast.arrangement import Arranged, Layout
from ctm.sim.engines.fast.compiler import Code
from ctm.sim.engines.fast.core import Compiling
from ctm.sim.engines.fast.parameters import SLOTS, UNITS, Slot, Table
from ctm.sim.engines.fast.program import FallBackError, Prepared
from ctm.sim.engines.fast.r700.preparation import prepare_pixels
from ctm.sim.engines.fast.r700.translation import Drawn
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.counters import Counters
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Shaded
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.draw.strips import Strips
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r700.draws.stages import R700Stages

_UNLIMITED = (1 << 63) - 1


class _Ready(NamedTuple):
    """The compiled pixel program, its parameters but for the strips, and arrays that they point at."""

    prepared: Prepared
    code: Code
    table: Table
    kept: list[Any]


class FastStages(R700Stages):
    """See `R700Stages`; what cannot be compiled runs as there."""

    def __init__(
        self,
        core: ArrayCore[Any, Any],
        state: State,
        draws: DrawState,
        start: Start,
        compiling: Compiling,
    ) -> None:
        super().__init__(core, state, draws, start)
        self._compiling = compiling
        self._ready: _Ready | None = None

    def begin_pixels(self, shaded: Shaded, shapes: Shapes) -> None:
        """See `Stages.begin_pixels`."""
        super().begin_pixels(shaded, shapes)
        drawn = Drawn(shaded.parameters.shape[1], self._draws.raster.add)
        try:
            prepared = prepare_pixels(self.pixel_launch, self._compiling.host, drawn)
        except FallBackError as reason:
            self._compiling.remark(str(reason))
            self._ready = None
            return
        table = prepared.table.copy()
        vertices = np.concatenate([shapes.corners, shapes.provoking[:, None]], axis=1).astype(np.int32)
        arrays = {
            Slot.VERTICES: np.ascontiguousarray(vertices),
            Slot.RECORDS: np.ascontiguousarray(shapes.record, np.float32),
            Slot.PARAMETERS: np.ascontiguousarray(shaded.parameters, np.float32),
        }
        for slot, array in arrays.items():
            table[slot] = array.ctypes.data
        for slot, bound in zip((Slot.DEPTH_LOW, Slot.DEPTH_HIGH), self._draws.viewport.z_range, strict=True):
            table[slot] = int(bound.view(np.uint32))
        table[Slot.LIMIT] = self.pixel_launch.watchdog or _UNLIMITED
        code = self._compiling.code(prepared)
        table[Slot.CODE] = code.address
        self._ready = _Ready(prepared, code, table, list(arrays.values()))

    def pixels(self, strips: Strips) -> None:
        """See `Stages.pixels`."""
        ready, count, lanes = self._ready, strips.shape.size, self._core.lanes
        if ready is None:
            super().pixels(strips)
            return
        layout = Layout(
            vectors=count,
            places=np.arange(count),
            i=np.ascontiguousarray(strips.i[::lanes], np.int32),
            j=np.ascontiguousarray(strips.j[::lanes], np.int32),
            covered=np.ascontiguousarray(strips.covered.reshape(count, lanes), np.uint8),
        )
        edges = np.ascontiguousarray(
            strips.edges.reshape(3, count, lanes)[[1, 2, 0]].transpose(1, 0, 2).astype(np.float32)
        )
        shape = np.ascontiguousarray(strips.shape, np.int32)
        table = ready.table.copy()
        assert layout.covered is not None
        for slot, array in (
            (Slot.EDGES, edges), (Slot.SHAPES, shape), (Slot.ORIGIN_I, layout.i), (Slot.ORIGIN_J, layout.j),
            (Slot.COVERED, layout.covered),
        ):  # fmt: skip
            table[slot] = array.ctypes.data
        table[Slot.VECTORS] = count
        tables = Arranged.of(layout, table, 1).begin(1)
        ((address, done),) = tables.items()
        self._compiling.workers.submit(ready.code, tables)
        self._compiling.workers.wait(address)
        _, groups, lane_instructions, *issued = done[Slot.NANOSECONDS : Slot.ISSUED + UNITS].tolist()
        units = dict(zip(ready.prepared.units, issued, strict=False))
        self._core.counters.add(Counters(groups=groups, issued=units, lane_instructions=lane_instructions))
        returned = int(done[Slot.RETURNED_COUNT])
        order = np.arange(self._strips, self._strips + count)
        if returned:
            chosen = np.zeros(count, bool)
            chosen[done[SLOTS:].view(np.int32)[:returned]] = True
            self.run_strips(strips.select(chosen, lanes), order[chosen])
        self._strips += count
