"""The R700's programs of a draw; see `Stages`."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation
from ctm.rtl.isa.draws import LEAST_RING_ITEMS, PrimitiveType, Ring
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.r700.pipeline import DrawStage, Pipeline
from ctm.sim.fault import MachineError
from ctm.sim.golden.dpp.core import ArrayCore
from ctm.sim.golden.dpp.launch import Launch
from ctm.sim.golden.draw.error import bad_draw
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emission, Emitted, Floats, Integers, Shaded, Words
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.draw.strips import Strips, strips_of
from ctm.sim.golden.draw.vertices import Assembly
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.golden.pe.processor import BATCH_LANES
from ctm.sim.golden.pe.state import State
from ctm.sim.golden.r700.draws.pixels import PixelLaunch
from ctm.sim.golden.r700.draws.primitives import PrimitiveConstants
from ctm.sim.golden.r700.draws.threads import Emits, ThreadLaunch
from ctm.sim.golden.r700.image import pipeline_in
from ctm.sim.golden.r700.instruction import PARAMETER_TARGET, POSITION_TARGET
from ctm.sim.golden.r700.program import Program

_CORNER_REGISTERS = ((0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 2))
"""Where a geometry program finds the ring offsets of its vertices."""


class R700Stages:
    """The programs of one draw on a core; see `Stages`."""

    def __init__(self, core: ArrayCore[Program, Any], state: State, draws: DrawState, start: Start) -> None:
        self._core = core
        self._draws = draws
        self._start = start
        self._image = core.image(state)
        self._pipeline: Pipeline = pipeline_in(self._image)
        self._state = state
        self._constants = core.constants(state)
        self._errors: list[tuple[int, MachineError]] = []
        """Of pixel programs, with the index of the strip in the draw."""
        pipeline = self._pipeline
        self.clip_distances, self.cull_distances = pipeline.clip_distances, pipeline.cull_distances
        self.has_geometry = pipeline.geometry is not None
        self.by_primitive = pipeline.primitive_number and not self.has_geometry
        self.output = PrimitiveType[pipeline.output.name]
        self._check()

    def _check(self) -> None:
        if self.has_geometry:
            self._check_ring(Ring.ES_GS, self._pipeline.vertex_item)
            self._check_ring(Ring.GS_VS, self._pipeline.geometry_item)
        state, conditional = self._state, self._state.conditional
        if conditional.location is ConditionalLocation.PE and not conditional.passes_all:
            raise bad_draw("the conditional test of a draw is made after its pixel program: set_cond_loc DPP")
        formats = [output.element.is_float for output in state.outputs if output.width_limit]
        if self._draws.raster.add and not all(formats):
            raise bad_draw("targets that add have a FLOAT32 format, as all outputs that have columns")
        scale = self._draws.viewport.scale
        if not (np.isfinite(scale).all() and scale[:2].all()) and not self._draws.raster.discard:
            raise bad_draw("the viewport has no size: set_vport and set_vport_z come before start_draw")

    def _program(self, stage: DrawStage, primitives: PrimitiveConstants | None = None) -> Program:
        return Program(image=self._image, constants=self._constants, stage=stage, primitives=primitives)

    def _base(self, program: Program) -> dict[str, Any]:
        """What the launches of all stages have."""
        common = self._core.launch_of(self._state, program)
        assert program.stage is not None
        return {name: getattr(common, name) for name in Launch.__dataclass_fields__} | {"stage": program.stage.name}

    def batched(self, assembly: Assembly) -> Assembly:
        """See `Stages.batched`: all vertices together."""
        return assembly

    def emission_batched(self, emission: Emission) -> Emission:
        """See `Stages.emission_batched`: all vertices together."""
        return emission

    def vertices(self, assembly: Assembly) -> Shaded:
        """See `Stages.vertices`."""
        program = self._program(DrawStage.VS)
        registers = {(0, 0): assembly.index, (0, 3): assembly.instance}
        if self.by_primitive:
            registers[0, 2] = assembly.primitive
        launch = self._launch(program, assembly.index.size, registers)
        self._run(launch, lambda thread: _vertex("VS", assembly, thread))
        return self._shaded(launch)

    def geometry(self, assembly: Assembly) -> Emitted:
        """See `Stages.geometry`."""
        pipeline = self._pipeline
        registers = {(0, 0): assembly.index, (0, 3): assembly.instance}
        vertex = self._launch(self._program(DrawStage.ES), assembly.index.size, registers, item=pipeline.vertex_item)
        self._run(vertex, lambda thread: _vertex("ES", assembly, thread))
        threads = assembly.provoking.size
        offsets = {
            register: (assembly.corners[:, corner] - assembly.first) * pipeline.vertex_item
            for corner, register in zip(range(assembly.corners.shape[1]), _CORNER_REGISTERS, strict=False)
        }
        emits = Emits(threads, pipeline.most_emitted)
        geometry = self._launch(
            self._program(DrawStage.GS), threads, {**offsets, (0, 2): assembly.number}, item=pipeline.geometry_item,
            ring=vertex.written.ravel(), ring_starts=assembly.first * pipeline.vertex_item, emits=emits,
        )  # fmt: skip
        self._run(geometry, lambda thread: f"GS, primitive {thread}")
        self._ring = geometry.written.ravel()
        return Emitted(count=emits.count, cut=emits.cut)

    def copies(self, emission: Emission) -> Shaded:
        """See `Stages.copies`."""
        pipeline, threads, numbers = self._pipeline, emission.thread, emission.number
        offset = (threads - emission.first) * pipeline.geometry_item + numbers * pipeline.emitted_item
        launch = self._launch(
            self._program(DrawStage.DC), threads.size, {(0, 0): offset}, ring=self._ring,
            ring_starts=emission.first * pipeline.geometry_item,
        )  # fmt: skip
        self._run(launch, lambda thread: f"DC, vertex {int(numbers[thread])} of primitive {int(threads[thread])}")
        return self._shaded(launch)

    def _check_ring(self, ring: Ring, item: int) -> None:
        dwords, needed = self._draws.rings[ring], item * max(self._core.lanes, LEAST_RING_ITEMS)
        if dwords < needed:
            raise bad_draw(
                f"ring {ring.value} ({ring.name}) has {dwords} dwords, and a wavefront of items takes {needed}"
            )

    def _launch(
        self,
        program: Program,
        threads: int,
        registers: Mapping[tuple[int, int], Integers],
        *,
        item: int = 0,
        ring: Words | None = None,
        ring_starts: Integers | None = None,
        emits: Emits | None = None,
    ) -> ThreadLaunch:
        streams = tuple(
            (np.zeros((threads, stream.stride), np.uint32), np.zeros((threads, stream.stride), bool))
            for stream in self._draws.streams
        )
        return ThreadLaunch(
            **self._base(program),
            threads=threads,
            registers={
                register: values for register, values in registers.items() if register[0] < program.information.gprs
            },
            results=np.zeros((len(program.outputs), threads, CHANNELS), np.float32),
            buffers=tuple(self._draws.buffers),
            first_instance=self._start.first_instance,
            written=np.zeros((threads, item), np.uint32),
            ring=ring,
            ring_starts=ring_starts,
            streams=streams,
            emits=emits,
        )

    def _run(self, launch: ThreadLaunch, name: Callable[[int], str]) -> None:
        """Run all threads of a launch; `name` says what a thread is."""
        self.run_wavefronts(launch, np.arange(len(self._threads(launch))), name)

    def _threads(self, launch: ThreadLaunch) -> Integers:
        """The thread of each lane of wavefronts, [wavefronts, lanes]; from `launch.threads` on there is none."""
        lanes = self._core.lanes
        return np.arange(-(-launch.threads // lanes) * lanes).reshape(-1, lanes)

    def run_wavefronts(self, launch: ThreadLaunch, wavefronts: Integers, name: Callable[[int], str]) -> None:
        """Run the threads of some wavefronts, ascending.

        Raises
        ------
        MachineError
            That of the first one that failed, after all have run.
        """
        run, threads = self._core.run(launch), self._threads(launch)
        most = max(1, BATCH_LANES // self._core.lanes)
        for first in range(0, wavefronts.size, most):
            order = wavefronts[first : first + most]
            i = threads[order].ravel()
            run.execute(order, i, np.zeros_like(i), i < launch.threads)
        error = run.finish()
        if error is not None:
            raise error if error.i is None else _located(error, name(error.i))

    def _shaded(self, launch: ThreadLaunch) -> Shaded:
        outputs, threads = launch.program.outputs, launch.threads

        def output(target: int) -> Floats:
            if target in outputs:
                found: Floats = launch.results[outputs.index(target)]
                return found
            return np.zeros((threads, CHANNELS), np.float32)

        pipeline, following = self._pipeline, POSITION_TARGET + 1
        beside = []
        for is_there in (pipeline.misc, *pipeline.distance_vectors):
            beside.append(output(following) if is_there else np.zeros((threads, CHANNELS), np.float32))
            following += is_there
        parameters = np.stack([output(PARAMETER_TARGET + row) for row in range(pipeline.parameters)], axis=1)
        return Shaded(
            position=output(POSITION_TARGET), beside=np.stack(beside), parameters=parameters, streams=launch.streams
        )

    def pixels(self, shaded: Shaded, shapes: Shapes, domain: Domain) -> None:
        """See `Stages.pixels`."""
        launch, first = self.pixel_launch(), 0
        for strips in strips_of(shapes, domain, self._core.lanes, BATCH_LANES):
            self.run_strips(launch, shaded, shapes, strips, np.arange(first, first + strips.shape.size))
            first += strips.shape.size
        self.raise_errors()

    def pixel_launch(self) -> PixelLaunch:
        """What the pixel program reads and writes, as it is now; without strips."""
        return PixelLaunch(
            **self._base(self._program(DrawStage.PS)), strips=None, order=np.arange(0),
            z_range=self._draws.viewport.z_range, adds=self._draws.raster.add,
        )  # fmt: skip

    def run_strips(self, launch: PixelLaunch, shaded: Shaded, shapes: Shapes, strips: Strips, order: Integers) -> None:
        """Run the pixel program for strips with these indices in the draw, [strips], and store its outputs."""
        primitives = PrimitiveConstants(
            shaded.parameters, strips.shape, shapes.corners, shapes.provoking, shapes.record, order
        )
        program = replace(launch.program, primitives=primitives)
        launch = replace(launch, program=program, strips=strips, order=order, ended=[])
        run = self._core.run(launch)
        run.execute(order, strips.i, strips.j, strips.covered)
        fault, error = run.fault, run.finish()
        launch.store()
        if error is None:
            return
        if fault is None:
            self._errors.append((int(order[0]), error))
        else:
            primitive = int(shapes.primitive[strips.shape[int(np.searchsorted(order, fault.order))]])
            where = f"PS, strip of pixel ({error.i}, {error.j}) of primitive {primitive}"
            self._errors.append((fault.order, _located(error, where)))

    def raise_errors(self) -> None:
        """Raise the error of the first strip whose pixel program failed, if there is one."""
        if self._errors:
            raise min(self._errors, key=itemgetter(0))[1]


def _vertex(stage: str, assembly: Assembly, thread: int) -> str:
    return f"{stage}, vertex {int(assembly.index[thread])} of instance {int(assembly.instance[thread])}"


def _located(error: MachineError, where: str) -> MachineError:
    """The error with what its thread is."""
    return replace(error, place=f"{error.place} of the {where}")
