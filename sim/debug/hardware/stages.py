"""The programs of a draw on the golden model, in the batches of the hardware."""

from typing import Any

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.draws import Ring
from ctm.sim.debug.draws import Drawing, DrawnStages
from ctm.sim.debug.hardware.batches import Batches, BatchLimits, wavefronts_of
from ctm.sim.golden.draw.stages import Emission, Integers
from ctm.sim.golden.draw.state import DrawState
from ctm.sim.golden.draw.topology import Primitives
from ctm.sim.golden.draw.vertices import Assembly
from ctm.sim.golden.r700.draws.threads import ThreadLaunch


class BatchedStages(DrawnStages):
    """Stages whose wavefronts have the threads of the hardware's; see `DrawnStages`.

    A thread is one time that a vertex is shaded, or a primitive of a geometry program. The drawing's `batches` are the
    threads with which batches of vertices, and runs of the geometry program, begin.
    """

    def __init__(
        self, config: MachineConfig, drawing: Drawing, core: Any, state: Any, draws: DrawState, start: Any
    ) -> None:
        super().__init__(drawing, core, state, draws, start)
        self._vertices = config.pipeline.vertices
        self._streams_out = any(stream.dwords and stream.stride for stream in draws.streams)

    def batched(self, assembly: Assembly) -> Assembly:
        """See `Stages.batched`; batches end with their instance."""
        most = self._fitting(Ring.ES_GS, self._pipeline.vertex_item) if self.has_geometry else self._vertices
        limits = self._limits(most, self._streams_out and not self.has_geometry)
        sections = assembly.instance[assembly.corners[:, 0]]
        keys = np.arange(assembly.index.size)
        found = Batches.of(assembly.corners, assembly.provoking, keys, sections, limits)
        self._drawing.batches["ES" if self.has_geometry else "VS"] = found.begins
        if self.has_geometry:
            self._drawing.batches["GS"] = self._runs(found.primitives, assembly.provoking.size)
        index, instance, primitive = (
            each[found.vertices] for each in (assembly.index, assembly.instance, assembly.primitive)
        )
        return Assembly(
            index=index, instance=instance, primitive=primitive, corners=found.corners, provoking=found.provoking,
            number=assembly.number, first=found.first,
        )  # fmt: skip

    def emission_batched(self, emission: Emission) -> Emission:
        """See `Stages.emission_batched`; batches end with their run of the geometry program."""
        pipeline, primitives, runs = self._pipeline, emission.primitives, self._drawing.batches["GS"]
        keys = emission.thread * pipeline.geometry_item + emission.number * pipeline.emitted_item
        run = np.searchsorted(runs, emission.thread, side="right") - 1
        limits = self._limits(self._vertices, self._streams_out)
        sections = run[primitives.corners[:, 0]]
        found = Batches.of(primitives.corners, primitives.provoking, keys, sections, limits)
        self._drawing.batches["DC"] = found.begins
        return Emission(
            thread=emission.thread[found.vertices], number=emission.number[found.vertices],
            first=runs[run[found.vertices]], primitives=Primitives(found.corners, found.provoking),
        )  # fmt: skip

    def _limits(self, most: int, is_streamed: bool) -> BatchLimits:
        """Vertices that are streamed out are those of one primitive each."""
        return BatchLimits(vertices=self._vertices, most=most, reuses=not is_streamed)

    def _runs(self, primitives: Integers, count: int) -> Integers:
        """The first primitives of runs of the geometry program, of batches that begin with these of `count`."""
        fitting = self._fitting(Ring.GS_VS, self._pipeline.geometry_item)
        ends = np.append(primitives, count)[1:]
        return np.concatenate([np.arange(*bounds, fitting) for bounds in zip(primitives, ends, strict=True)])

    def _fitting(self, ring: Ring, item: int) -> int:
        """The items that a ring holds, as far as the vertex store does."""
        return min(self._vertices, self._draws.rings[ring] // item) if item else self._vertices

    def _threads(self, launch: ThreadLaunch) -> Integers:
        return wavefronts_of(self._drawing.batches[str(launch.stage)], launch.threads, self._core.lanes)
