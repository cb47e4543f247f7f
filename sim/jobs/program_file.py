"""Program files of a job: a source, an executable, or the words of a compiled shader."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctm.rtl.isa.draws import PrimitiveType
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.assembler import assemble
from ctm.sim.assembler.languages import language_of
from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import SUFFIXES, kernel_in
from ctm.sim.elf import ElfError, Executable, ShaderError, read, read_shader
from ctm.sim.elf.r700.executable import Executable as R700Executable
from ctm.sim.elf.sources import shown, with_lines, with_texts
from ctm.sim.files import read_file, read_text
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.schema import Job
from ctm.sim.runtime.draws import PixelInput, pipeline
from ctm.sim.runtime.draws.sources import assembled
from ctm.sim.runtime.prologue.compiled import ready


@dataclass(frozen=True, kw_only=True)
class ProgramFile:
    """An executable, where it comes from, the constants that its file gives values to, and a compiler's warnings.

    `kernel` is which of the file's kernels it is, if the job says that; `vertex` the vertex program's source, of a draw
    with two sources, where `path` is the pixel program's.
    """

    path: Path
    executable: Executable
    kernel: str | None = None
    constants: ConstantFiles = ConstantFiles()
    warnings: tuple[str, ...] = ()
    vertex: Path | None = None

    @property
    def front_name(self) -> str:
        """The name of the file that has the programs in front of a draw's pixel program."""
        return (self.vertex or self.path).name

    def user_of(self, kind: str, index: int) -> str:
        """The name of the file that uses an input or a constant; `kind` is what `Usage` calls them."""
        front = getattr(self.executable, "front_usage", None)
        return self.front_name if front is not None and index in getattr(front, kind, ()) else self.path.name

    @property
    def key(self) -> tuple[Path, str | None]:
        """What tells it from other programs."""
        return self.path, self.kernel


def load_program(folder: Path, name: str, isa: str) -> ProgramFile:
    """Load a program by the ending of its name; a kernel is compiled for an instruction set.

    Raises
    ------
    ValueError
        The file cannot be read, is malformed, or has another ending.
    AssemblyError, KernelError
        The source is wrong.
    ToolchainError
        What compiles kernels is missing.
    """
    file, kernel = kernel_in(name)
    path = folder / file
    with _readable(path):
        if path.suffix in SUFFIXES:
            compiled = compile_kernel(path, isa=isa, name=kernel)
            warnings = tuple(str(warning) for warning in compiled.warnings)
            return program_of(path, _named(compiled.executable, path, file), kernel=kernel, warnings=warnings)
        if path.suffix == ".s":
            return program_of(path, _named(assemble(read_text(path), name=str(path)), path, file))
        if path.suffix == ".elf":
            return program_of(path, with_texts(read(read_file(path)), [path.parent, folder]))
        if path.suffix == ".json":
            shader = read_shader(read_file(path))
            executable, _ = ready(shader)
            constants = ConstantFiles(floats=dict(shader.float_constants), ints=dict(shader.int_constants))
            return ProgramFile(path=path, executable=executable, constants=constants)
    hint = "; ctm import makes an .elf of it" if path.suffix == ".o" else ""
    raise ValueError(f"'{path}' must end in .s, .c, .py, .elf or .json{hint}")


def load_stage(path: Path, stage: DrawStage) -> R700Executable:
    """One program of a draw, from its source.

    Raises
    ------
    ValueError
        The file cannot be read, is no source of an R700 program, or is one of another kind of program.
    AssemblyError
        The source is wrong.
    """
    if path.suffix != ".s":
        raise ValueError(f"'{path}' must end in .s: a draw's programs are sources in assembly")
    with _readable(path):
        text = read_text(path)
    if language_of(text, str(path)) != R700Executable.kind:
        raise ValueError(f"'{path}' does not begin with .isa {R700Executable.kind}, so it is no program of a draw")
    return assembled(text, stage, str(path))


def load_pipeline(folder: Path, job: Job, vertex: R700Executable, pixel: R700Executable) -> ProgramFile:
    """Link the vertex and the pixel program of a job that draws; its path is the pixel program's.

    Raises
    ------
    ValueError
        The programs do not fit together.
    """
    section, draw = job.program, job.draw
    assert section.vertex is not None and section.pixel is not None and draw is not None
    inputs = [PixelInput(**register.model_dump()) for register in section.registers]
    named = [each.parameter for each in inputs if each.parameter is not None]
    files = section.vertex, section.pixel
    first, last = (folder / file for file in files)
    executable: Executable = pipeline(
        vertex=vertex, pixel=pixel, inputs=inputs, parameters=section.parameters or max(named, default=0) + 1,
        constant_base=section.constant_base, position=section.position, face=section.face,
        points=draw.primitive is PrimitiveType.POINTLIST, point_size=draw.point_size == "program",
        depth=job.conditional is not None,
    )  # fmt: skip
    for file in files:
        executable = _named(executable, folder / file, file)
    return program_of(last, executable, vertex=first)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Make a `ValueError` of what may be wrong with a file."""
    try:
        yield
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'") from None
    except OSError as error:
        raise ValueError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"'{path}' is not UTF-8 text (byte {error.start})") from None
    except (ElfError, ShaderError) as error:
        raise ValueError(f"'{path}': {error}") from None


def _named(executable: Executable, path: Path, name: str) -> Executable:
    """The program with the name of its source as the job has it, in its line table."""
    lines = executable.lines
    if lines is None or Path(name).is_absolute():
        return executable
    own = shown(str(path))
    return with_lines(executable, lines.renamed(lambda file: name if file == own else file))


def program_of(path: Path, executable: Executable, **others: Any) -> ProgramFile:
    """The program of a source with the constants that it brings along."""
    own = executable.own_constants
    floats = {index: tuple(words) for index, words in own.floats.items()}
    return ProgramFile(
        path=path, executable=executable, constants=ConstantFiles(floats=floats, ints=dict(own.ints)), **others
    )
