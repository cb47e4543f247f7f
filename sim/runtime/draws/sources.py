"""The programs of a draw from assembly."""

from collections.abc import Sequence

from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.rtl.isa.r700.program import ProgramType
from ctm.sim.assembler import assemble
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.usage import usage
from ctm.sim.runtime.draws.interpolation import PixelInput, PixelInputs
from ctm.sim.runtime.draws.linking import Linkable, VertexOutputs, link


def pipeline(
    *,
    vertex: str | Executable,
    pixel: str | Executable,
    inputs: Sequence[PixelInput] = (),
    parameters: int = 1,
    constant_base: int = 0,
    position: int | None = None,
    face: tuple[int, int] | None = None,
    points: bool = False,
    point_size: bool = False,
    depth: bool = False,
    texture_base: int = 0,
) -> Executable:
    """The executable of a draw, of a vertex and a pixel program in assembly.

    Parameters
    ----------
    vertex, pixel
        Sources in the R700's language, or programs that are `assembled`; see docs/draws.md for what each begins with.
    inputs
        What registers 0, 1, ... of the pixel program are.
    parameters
        Vectors that the vertex program exports, PARAM0 on.
    constant_base
        The line of 16 float constants in which those of the vertex program begin; those of the pixel program are the
        first ones.
    position, face
        Registers of the pixel program that get (x + 0.5, y + 0.5, z, w), and of which a channel gets 1.0 or -1.0.
    points, point_size
        Points are drawn; the vertex program exports their size.
    depth
        The interpolated depth is exported for the conditional test.
    texture_base
        Resource number of input 0.

    Raises
    ------
    AssemblyError
        A source is wrong.
    ValueError
        The programs do not fit together.
    """
    first = assembled(vertex, DrawStage.VS, "VS program") if isinstance(vertex, str) else vertex
    last = assembled(pixel, DrawStage.PS, "PS program") if isinstance(pixel, str) else pixel
    bases = {program.texture_base for program in (first, last)} - {0} or {texture_base}
    if len(bases) > 1:
        raise ValueError("vertex and pixel program say different .texture_base")
    return link(
        vertex=Linkable.of(first, constant_base=constant_base),
        pixel=Linkable.of(last),
        inputs=PixelInputs(
            inputs=inputs,
            position=position,
            face=face,
            points=points,
            depth=depth and not usage(last.code, last.start, 0).depth,
        ),
        outputs=VertexOutputs(parameters=parameters, misc=point_size),
        texture_base=bases.pop(),
    )


def assembled(source: str, stage: DrawStage, name: str) -> Executable:
    """One program of a draw, from assembly.

    Raises
    ------
    AssemblyError
        The source is wrong.
    ValueError
        It is no program of this stage, or has a directive that no program of a draw has.
    """
    program = assemble(source, name=name, language="r700")
    assert isinstance(program, Executable)
    if program.stage is not stage:
        said = "" if program.stage is None else f", not .stage {program.stage.name.lower()}"
        raise ValueError(f"the {stage.value} program must say .stage {stage.name.lower()}{said}")
    directives = {
        ".memory": program.memory, ".scratch": program.scratch, ".lds": program.lds_dwords,
        ".type cs": program.type is not ProgramType.PS,
    }  # fmt: skip
    for directive, said_so in directives.items():
        if said_so:
            raise ValueError(f"a program of a draw has no {directive}")
    return program
