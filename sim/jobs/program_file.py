"""Program files of a job: a source, an executable, or the words of a compiled shader."""

from dataclasses import dataclass
from pathlib import Path

from ctm.sim.assembler import assemble
from ctm.sim.elf import ElfError, Executable, ShaderError, read, read_shader
from ctm.sim.files import read_file, read_text
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.runtime.prologue.compiled import ready


@dataclass(frozen=True, kw_only=True)
class ProgramFile:
    """An executable, where it comes from, and the constants that its file gives values to."""

    path: Path
    executable: Executable
    constants: ConstantFiles = ConstantFiles()


def load_program(path: Path) -> ProgramFile:
    """Load a program by the ending of its name.

    Raises
    ------
    ValueError
        The file cannot be read, is malformed, or has another ending.
    AssemblyError
        The source is wrong.
    """
    try:
        if path.suffix == ".s":
            return ProgramFile(path=path, executable=assemble(read_text(path), name=str(path)))
        if path.suffix == ".elf":
            return ProgramFile(path=path, executable=read(read_file(path)))
        if path.suffix == ".json":
            shader = read_shader(read_file(path))
            executable, _ = ready(shader)
            constants = ConstantFiles(floats=dict(shader.float_constants), ints=dict(shader.int_constants))
            return ProgramFile(path=path, executable=executable, constants=constants)
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'") from None
    except OSError as error:
        raise ValueError(f"cannot read '{path}': {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"'{path}' is not UTF-8 text (byte {error.start})") from None
    except (ElfError, ShaderError) as error:
        raise ValueError(f"'{path}': {error}") from None
    hint = "; ctm import makes an .elf of it" if path.suffix == ".o" else ""
    raise ValueError(f"'{path}' must end in .s, .elf or .json{hint}")
