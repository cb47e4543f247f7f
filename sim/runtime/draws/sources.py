"""The programs of a draw from assembly."""

from collections.abc import Sequence

from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.assembler import assemble
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.elf.r700.usage import usage
from ctm.sim.runtime.draws.interpolation import PixelInput, PixelInputs
from ctm.sim.runtime.draws.linking import Linkable, VertexOutputs, link


def pipeline(
    *,
    vertex: str,
    pixel: str,
    inputs: Sequence[PixelInput] = (),
    parameters: int = 1,
    constant_base: int = 0,
    position: int | None = None,
    face: tuple[int, int] | None = None,
    points: bool = False,
    point_size: bool = False,
    depth: bool = False,
    texture_base: int = 0,
    names: tuple[str, str] = ("VS program", "PS program"),
) -> Executable:
    """The executable of a draw, of a vertex and a pixel program in assembly.

    Parameters
    ----------
    vertex, pixel
        Sources in the R700's language; see docs/draws.md for what each begins with.
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
    names
        What messages and line tables call the two sources.

    Raises
    ------
    AssemblyError
        A source is wrong.
    ValueError
        The programs do not fit together.
    """
    first = _stage(vertex, DrawStage.VS, names[0])
    last = _stage(pixel, DrawStage.PS, names[1])
    return link(
        vertex=Linkable.of(first, constant_base=constant_base),
        pixel=Linkable.of(last),
        inputs=PixelInputs(
            inputs=inputs, position=position, face=face, points=points, depth=depth and not usage(last.code, 0, 0).depth
        ),
        outputs=VertexOutputs(parameters=parameters, misc=point_size),
        texture_base=texture_base,
    )


def _stage(source: str, stage: DrawStage, name: str) -> Executable:
    program = assemble(source, name=name, language="r700")
    assert isinstance(program, Executable)
    if program.stage is not stage:
        raise ValueError(f"the {stage.value} program must say .stage {stage.name.lower()}")
    return program
