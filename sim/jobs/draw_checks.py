"""What a job says of its draw that no engine does, and what is likely not meant."""

from collections.abc import Iterator

import numpy as np

from ctm.rtl.isa.conditional import ConditionalLocation, ConditionalTest
from ctm.rtl.isa.draws import POINT_STEPS, PrimitiveType
from ctm.rtl.isa.formats import ELEMENTS
from ctm.rtl.isa.r700.exports import FIRST_POSITION, ExportType
from ctm.rtl.isa.r700.pipeline import OutputPrimitive, Pipeline
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.words import words
from ctm.sim.golden.draw.topology import TOPOLOGIES
from ctm.sim.jobs.program_file import ProgramFile
from ctm.sim.jobs.reading import Key
from ctm.sim.jobs.schema import Draw, Job
from ctm.sim.jobs.takes import PROGRAM, shown

_LINES = tuple(kind for kind in TOPOLOGIES if kind.name.startswith("LINE"))
_MOST_VERTICES = 1 << 27
"""Vertices of a draw, those of all instances: engines `golden` and `fast` keep some 40 bytes of each."""
_SIZE = FIRST_POSITION + 1
"""ARRAY_BASE of the vector that has a point's size."""


def draw_errors(job: Job, program: ProgramFile) -> Iterator[tuple[Key, str]]:
    """What is wrong with the draw of a job, by keys."""
    draw, executable = job.draw, program.executable
    if draw is None or not isinstance(executable, Executable) or executable.pipeline is None:
        return
    yield from _primitive_errors(draw, executable.pipeline)
    test = job.conditional
    if test is not None and test.location is ConditionalLocation.PE and test.test is not ConditionalTest.ALWAYS:
        yield ("conditional", "location"), 'the test of a draw is made after its pixel program: "DPP"'
    if not draw.discard:
        yield from _viewport_errors(draw)
    if draw.add:
        for ordinal, output in enumerate(job.outputs):
            if not ELEMENTS[output.format].is_float:
                yield ("outputs", ordinal, "format"), f"a draw with add has FLOAT32 formats, not {output.format.name}"
    bound = {buffer.index for buffer in draw.buffers}
    missing = sorted(executable.front_usage.vertex_buffers - bound)
    if missing:
        yield ("draw", "buffers"), f"{program.front_name} fetches from vertex buffer {missing[0]}, which is not bound"


def _primitive_errors(draw: Draw, pipeline: Pipeline) -> Iterator[tuple[Key, str]]:
    kind = PrimitiveType(draw.primitive)
    if kind in _LINES and pipeline.geometry is None and not draw.discard:
        yield ("draw", "primitive"), f"lines are drawn by a geometry program only; there is {_drawn(pipeline)}"
    elif pipeline.geometry is not None and pipeline.output is OutputPrimitive.LINESTRIP and not draw.discard:
        yield ("draw", "discard"), "the geometry program emits lines, which are not drawn: discard = true keeps streams"
    vertices = draw.count * draw.instances
    if vertices > _MOST_VERTICES:
        key = "instances" if draw.instances > 1 else "count"
        yield ("draw", key), f"count x instances is at most {_MOST_VERTICES:,} vertices, not {vertices:,}"


def _viewport_errors(draw: Draw) -> Iterator[tuple[Key, str]]:
    for axis, (scale, _) in {"x": draw.viewport_x, "y": draw.viewport_y, "z": draw.viewport_z}.items():
        if not np.isfinite(scale):
            yield ("draw", f"viewport_{axis}"), f"its scale must be finite, not {shown(scale)}"
        elif axis != "z" and np.float32(scale) == 0:
            yield ("draw", f"viewport_{axis}"), "the viewport has no size: its scale is 0"


def _size_doubts(draw: Draw) -> Iterator[tuple[Key, str]]:
    if isinstance(draw.point_size, float):
        drawn = round(POINT_STEPS * draw.point_size) / POINT_STEPS
        if drawn != draw.point_size:
            yield ("draw", "point_size"), f"is rounded to 1/{POINT_STEPS} pixel: points of {drawn} pixels are drawn"


def draw_doubts(job: Job, program: ProgramFile) -> Iterator[tuple[Key, str]]:
    """What is likely not meant in a draw whose programs are two sources, by keys."""
    draw, executable, name = job.draw, program.executable, program.front_name
    if draw is None:
        return
    yield from _size_doubts(draw)
    if program.vertex is None or not isinstance(executable, Executable) or executable.pipeline is None:
        return
    exports = {
        (word.fields["type"], word.fields["array_base"] + number)
        for word in words(executable.code, executable.pipeline.vertex.start)
        if word.is_pixel_export
        for number in range(word.fields["burst_count"] + 1)
    }
    if (ExportType.POS.value, FIRST_POSITION) not in exports and not draw.discard:
        yield ("program", "vertex"), f"{name} exports no POS{FIRST_POSITION}, so nothing is drawn"
    if draw.point_size == PROGRAM and (ExportType.POS.value, _SIZE) not in exports:
        yield ("draw", "point_size"), f"{name} exports no POS{_SIZE}, whose x is the size, so all sizes are 0"
    for number, register in enumerate(job.program.registers):
        key = "program", "registers", number
        if register.parameter is not None and (ExportType.PARAM.value, register.parameter) not in exports:
            yield (*key, "parameter"), f"{name} exports no PARAM{register.parameter}, so the register is 0"
        if register.sprite and draw.primitive is not PrimitiveType.POINTLIST:
            yield (*key, "sprite"), f"only points have it, and the primitive is {PrimitiveType(draw.primitive).name}"


def _drawn(pipeline: Pipeline) -> str:
    """Primitives that a program draws."""
    return ", ".join(kind.name for kind in TOPOLOGIES if pipeline.geometry is not None or kind not in _LINES)
