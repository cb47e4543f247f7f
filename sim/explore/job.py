"""The job that runs a kernel: one that stands beside it, or one that is made up for what its program uses."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import DataFormat
from ctm.sim.compiler.source import kernel_in
from ctm.sim.elf import Executable

SIDE = 64
"""Width and height of what a made-up job computes."""
PICTURE = "picture.npy"
"""The input of made-up jobs; where the kernel's folder has none of this name, it is `test_picture`."""
_RINGS = 6.0


def jobs_of(folder: Path, name: str) -> list[Path]:
    """The jobs in a folder that run a file of it, first those of its name."""
    found = []
    for path in sorted(folder.glob("*.toml")):
        try:
            text = path.read_text(encoding="utf-8")
            file = program_name(text)
        except (OSError, ValueError):
            continue
        if file is not None and kernel_in(file)[0] == name and "draw" not in tomllib.loads(text):
            found.append(path)
    return found


def program_name(text: str) -> str | None:
    """The program that a job names, None if it names none; tomllib.TOMLDecodeError: it is no TOML."""
    program = tomllib.loads(text).get("program")
    file = program.get("file") if isinstance(program, dict) else None
    return file if isinstance(file, str) else None


def isa_of(text: str) -> str:
    """The instruction set that a job wants for its kernel, "" if it says none; error as `program_name`."""
    program = tomllib.loads(text).get("program")
    isa = program.get("isa") if isinstance(program, dict) else None
    return isa if isinstance(isa, str) else ""


def made_up(name: str, executable: Executable) -> str:
    """A job for a program: a square, test pictures as its inputs, and 1 for each of its constants."""
    notes = executable.notes
    sections = [f'[program]\nfile = "{_quoted(name)}"', f"[domain]\ni = [0, {SIDE - 1}]\nj = [0, {SIDE - 1}]"]
    picture = DataFormat.FLOAT32_4.name
    for index in notes.inputs:
        sections.append(f'[[inputs]]\nindex = {index}\nfile = "{PICTURE}"\nformat = "{picture}"')
    for index in notes.outputs:
        shape = f"shape = [{SIDE}, {SIDE}]"
        sections.append(f'[[outputs]]\nindex = {index}\nfile = "output{index}.npy"\n{shape}\nformat = "{picture}"')
    own: Any = executable.own_constants
    floats = ", ".join(f"{index} = [1.0, 1.0, 1.0, 1.0]" for index in notes.float_constants if index not in own.floats)
    ints = ", ".join(f"{index} = [8, 0, 1]" for index in notes.int_constants if index not in own.ints)
    lines = [f"{kind} = {{{values}}}" for kind, values in (("float", floats), ("int", ints)) if values]
    if lines:
        sections.append("\n".join(["[constants]", *lines]))
    return "\n\n".join(sections) + "\n"


def test_picture() -> npt.NDArray[np.float32]:
    """A picture [64, 64, 4] of red and green ramps, and rings of blue."""
    j, i = np.indices((SIDE, SIDE), dtype=np.float32) / (SIDE - 1)
    rings = 0.5 + 0.5 * np.sin(_RINGS * 2 * np.pi * np.hypot(i - 0.5, j - 0.5))
    return np.stack([i, j, rings, np.ones_like(i)], axis=-1).astype(np.float32)


def _quoted(name: str) -> str:
    return "".join(each if each.isalnum() or each in "-_. " else "_" for each in name)
