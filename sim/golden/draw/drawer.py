"""Draws: from indices to stored pixels. Source: docs/draws.md."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ctm.rtl.isa.draws import POINT_STEPS, PrimitiveType
from ctm.rtl.isa.limits import ADDRESS_SPACE, WORD_BYTES
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden.draw import setup
from ctm.sim.golden.draw.error import bad_draw
from ctm.sim.golden.draw.setup import Shapes
from ctm.sim.golden.draw.stages import Emission, Emitted, Shaded, Stages
from ctm.sim.golden.draw.state import DrawState, Start
from ctm.sim.golden.draw.topology import DRAWN, Primitives, primitives_of
from ctm.sim.golden.draw.vertices import Assembly, Integers, assemble, check_assembled
from ctm.sim.golden.pe.domain import Domain
from ctm.sim.memory import Memory

Progress = Callable[[int], None]


class Drawer:
    """Executes draws."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def draw(self, stages: Stages, state: DrawState, start: Start, domain: Domain) -> None:
        """Draw, and keep in `state` how far streams are filled.

        Raises
        ------
        MachineError
            The draw is not one that the machine does, or a program failed.
        """
        _check_drawn(stages, state)
        if start.count == 0 or start.instances == 0:
            return
        with np.errstate(all="ignore"):
            assembly = assemble(self._memory, state, start, by_primitive=stages.by_primitive)
            if not assembly.provoking.size:
                return
            shaded, primitives, numbers = self._before_raster(stages, state, stages.batched(assembly))
            self._stream_out(state, shaded, primitives)
            if not state.raster.discard and primitives.provoking.size:
                stages.pixels(shaded, shapes_of(stages, state, shaded, primitives, numbers), domain)

    def _before_raster(
        self, stages: Stages, state: DrawState, assembly: Assembly
    ) -> tuple[Shaded, Primitives, Integers]:
        """The shaded vertices, the primitives that they form, and the number that each has for a pixel program."""
        if not stages.has_geometry:
            return stages.vertices(assembly), Primitives(assembly.corners, assembly.provoking), assembly.number
        emission = stages.emission_batched(_emission(stages, state, stages.geometry(assembly)))
        primitives = emission.primitives
        return stages.copies(emission), primitives, np.zeros(primitives.provoking.size, np.int64)

    def _stream_out(self, state: DrawState, shaded: Shaded, primitives: Primitives) -> None:
        """Write the vertices of primitives, in order; one that does not fit into every stream is not written at all."""
        enabled = [number for number, stream in enumerate(state.streams) if stream.dwords and stream.stride]
        used = [stream for stream, (_, written) in enumerate(shaded.streams) if stream in enabled and written.any()]
        if not used:
            return
        corners = primitives.corners.shape[1]
        space = min(
            (state.streams[stream].dwords - state.streams[stream].filled) // (corners * state.streams[stream].stride)
            for stream in enabled
        )
        vertices = primitives.corners[: max(space, 0)].ravel()
        for stream in used:
            target = state.streams[stream]
            words, written = (values[vertices] for values in shaded.streams[stream])
            number, dword = np.nonzero(written)
            address = target.base + WORD_BYTES * (target.filled + number * target.stride + dword)
            kept = self._memory.keep(BusClient.OUTPUT, address % ADDRESS_SPACE, WORD_BYTES, np.ones(address.size, bool))
            dwords = self._memory.view(np.uint32)
            dwords[(address % ADDRESS_SPACE // WORD_BYTES)[kept]] = words[number, dword][kept]
            state.streams[stream] = replace(target, filled=target.filled + vertices.size * target.stride)


def _emission(stages: Stages, state: DrawState, emitted: Emitted) -> Emission:
    """The vertices that geometry programs emitted, thread after thread, and their primitives."""
    threads = np.repeat(np.arange(emitted.count.size), emitted.count)
    numbers = np.arange(threads.size) - np.repeat(np.cumsum(emitted.count) - emitted.count, emitted.count)
    begins = (numbers == 0) | emitted.cut[threads, numbers]
    lengths = np.diff(np.append(np.flatnonzero(begins), threads.size))
    primitives = primitives_of(stages.output, lengths, provoking_last=state.raster.provoking_last)
    return Emission(thread=threads, number=numbers, first=np.zeros_like(threads), primitives=primitives)


def _check_drawn(stages: Stages, state: DrawState) -> None:
    """Reject lines, which are assembled and not drawn, and primitives that are not assembled."""
    assembled = check_assembled(state)
    kind = stages.output if stages.has_geometry else assembled
    lines = (PrimitiveType.LINELIST, PrimitiveType.LINESTRIP, PrimitiveType.LINELOOP)
    adjacent = (PrimitiveType.LINELIST_ADJ, PrimitiveType.LINESTRIP_ADJ)
    if kind in (*lines, *adjacent) and not state.raster.discard:
        raise bad_draw(f"{kind.name} is not drawn")


def shapes_of(stages: Stages, state: DrawState, shaded: Shaded, primitives: Primitives, numbers: Integers) -> Shapes:
    """What is drawn of primitives of shaded vertices, points or triangles."""
    raster, viewport = state.raster, state.viewport
    count = primitives.corners.shape[1]
    corners = primitives.corners[:, DRAWN[count]]
    size = shaded.beside[0, :, 0]
    if not raster.program_point_size:
        size = np.full_like(size, raster.point_radius / POINT_STEPS)
    vertices = setup.Vertices(
        position=shaded.position, distances=np.concatenate(list(shaded.beside[1:]), axis=1), size=size
    )
    if count == 1:
        return setup.points(vertices, corners[:, 0], numbers, raster=raster, viewport=viewport)
    return setup.triangles(
        vertices, corners, primitives.provoking, numbers, raster=raster, viewport=viewport,
        clip_distances=stages.clip_distances, cull_distances=stages.cull_distances,
    )  # fmt: skip
