"""The notes of a loaded R700 image, taken apart."""

from dataclasses import dataclass
from functools import lru_cache

from ctm.rtl.isa.r700 import program as r700
from ctm.rtl.isa.r700.limits import KCACHE_LINE_ROWS
from ctm.rtl.isa.r700.pipeline import DrawStage, Pipeline, StageProgram, pipeline_of
from ctm.rtl.isa.r700.program import ProgramType
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.golden.pe.loader import Image


@dataclass(frozen=True, kw_only=True)
class Information:
    """What the note "R700 program" says, and of a program of a draw what its stage in the pipeline adds."""

    type: ProgramType
    start: int
    gprs: int
    stack_size: int
    dx10_clamp: bool
    depth: bool
    memory: bool
    scratch: bool
    texture_base: int
    lds_dwords: int
    stage: DrawStage | None = None
    fetch_start: int | None = None
    """Where CALL_FS goes."""
    constant_row: int = 0
    """The program's row 0 of the float constants."""
    first_buffer: int = 0
    """BUFFER_ID of vertex buffer 0."""

    @property
    def is_vertex(self) -> bool:
        """Whether it is run for vertices: it exports positions and parameters, or writes them to a ring."""
        return self.stage in (DrawStage.VS, DrawStage.ES, DrawStage.DC)


def information_of(image: Image) -> Information:
    """The program information of an image.

    Raises
    ------
    MachineError
        BAD_EXECUTABLE: a value is not allowed.
    """
    return _information(image.information, len(image.code), False)


@lru_cache(maxsize=64)
def _information(descriptor: tuple[int, ...], units: int, draws: bool) -> Information:
    found = r700.problem(descriptor, units, draws=draws)
    if found:
        raise MachineError(status=Status.BAD_EXECUTABLE, detail=found)
    return Information(**r700.values_of(descriptor))


def pipeline_in(image: Image) -> Pipeline:
    """The pipeline of an image; errors as `information_of`."""
    if len(image.pipelines) != 1:
        detail = f"it has {len(image.pipelines)} pipeline notes instead of one, which start_draw needs"
        raise MachineError(status=Status.BAD_EXECUTABLE, detail=detail)
    try:
        return pipeline_of(image.pipelines[0], len(image.code))
    except ValueError as error:
        raise MachineError(status=Status.BAD_EXECUTABLE, detail=str(error)) from None


def stage_information(image: Image, stage: DrawStage) -> Information:
    """What the notes say of the program of one stage, which the pipeline has; errors as `information_of`."""
    pipeline = pipeline_in(image)
    pixel = _information(image.information, len(image.code), True)
    programs = {
        DrawStage.VS: pipeline.vertex, DrawStage.ES: pipeline.vertex, DrawStage.GS: pipeline.geometry,
        DrawStage.DC: pipeline.copy,
    }  # fmt: skip
    if stage is DrawStage.PS:
        return _with(pixel, None, stage, None)
    program = programs[stage]
    assert program is not None
    return _with(pixel, program, stage, pipeline.fetch if stage in (DrawStage.VS, DrawStage.ES) else None)


def _with(pixel: Information, program: StageProgram | None, stage: DrawStage, fetch: int | None) -> Information:
    if program is None:
        return Information(**{**vars(pixel), "stage": stage})
    return Information(
        type=ProgramType.PS,
        start=program.start,
        gprs=program.gprs,
        stack_size=program.stack_size,
        dx10_clamp=program.dx10_clamp,
        depth=False,
        memory=False,
        scratch=False,
        texture_base=pixel.texture_base,
        lds_dwords=0,
        stage=stage,
        fetch_start=fetch,
        constant_row=KCACHE_LINE_ROWS * program.constant_base,
        first_buffer=program.first_buffer,
    )
