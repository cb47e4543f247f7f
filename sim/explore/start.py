"""What the page begins with: a file of the user's, an example, or nothing."""

from dataclasses import dataclass
from pathlib import Path

import ctm
from ctm.sim.compiler.source import SUFFIXES, Source, kernel_in
from ctm.sim.explore.job import jobs_of, program_name

_EXAMPLES = Path(ctm.__file__).parent / "examples"
_LANGUAGES = {".c": "C", ".py": "Python", ".s": "assembly"}
ASSEMBLY = ".s"
ENDINGS = (*SUFFIXES, ASSEMBLY)
NEW = """#include <ctm/kernel.h>

// A colour for each pixel of 64 x 64.
kernel void rings(vec2 pixel) {
    vec2 offset = pixel - vec2(32, 32);
    float distance = length(offset);
    float shade = 0.5f + 0.5f * sin(distance);
    output(0, vec4(shade, distance / 45, 0, 1));
}
"""


@dataclass(frozen=True)
class Start:
    """A source with its name, the folder that it is in, and the job that runs it; "" where there is none."""

    text: str
    name: str
    folder: str = ""
    job: str = ""


def of_file(path: Path) -> Start:
    """A file of the user's, with the first job beside it that runs it.

    Raises
    ------
    OSError, KernelError
        It cannot be read, or is no text.
    """
    path = path.absolute()
    text = Source.read(path).text
    found = jobs_of(path.parent, path.name)
    job = found[0].read_text(encoding="utf-8") if found else ""
    return Start(text, path.name, str(path.parent), job)


def new() -> Start:
    """A kernel to begin with."""
    return Start(NEW, "kernel.c")


def examples() -> dict[str, Path]:
    """The sources of the project's examples that a job runs, by what they are called."""
    found: dict[str, Path] = {}
    for job in sorted(_EXAMPLES.rglob("*.toml")):
        file = program_name(job.read_text(encoding="utf-8"))
        name = kernel_in(file)[0] if file else ""
        path = job.parent / name
        if path.suffix in ENDINGS and Path(name).name == name and job in jobs_of(job.parent, name):
            title = f"{path.parent.relative_to(_EXAMPLES)}, {_LANGUAGES[path.suffix]}"
            found[title] = path
    return found
