"""Compiled programs of examples/compiled as jobs, and the results that a software renderer had for them.

The format of the files: tb/data/r5xx/shaders/README.md.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from ctm.examples.catalogue import FOLDER
from ctm.examples.expectation import Array
from ctm.rtl.isa.formats import DataFormat
from ctm.sim.elf import read_shader
from ctm.sim.elf.r5xx.executable import Executable
from ctm.sim.jobs.constants import ConstantFiles
from ctm.sim.jobs.destinations import destinations
from ctm.sim.jobs.loading import Launch, LoadedJob
from ctm.sim.jobs.program_file import ProgramFile
from ctm.sim.jobs.schema import Domain, Input, Job, Output, Program
from ctm.sim.runtime import Layout
from ctm.sim.runtime.prologue.r5xx import with_prologue

PROGRAMS = ("mandelbrot", "sincos")
OUTPUT = "colours.npy"
_CHAOTIC_SHARE = 0.03
"""Pixels that a program with chaotic iterations may get differently."""


@dataclass(frozen=True)
class Compiled:
    """A compiled program as a job, and its file."""

    job: LoadedJob
    document: dict[str, Any]
    expected: tuple[Array, ...]
    """Results of different renderers, float32 [height, width, 4]: either is right."""

    @property
    def allowed_share(self) -> float:
        """Share of the pixels that may be wrong."""
        return _CHAOTIC_SHARE if self.document["chaotic"] else 0.0

    def errors(self, found: Array) -> Array:
        """How far each pixel is off, relative to what is allowed: wrong where it is above 1, [height, width]."""
        tolerance = self.document["relative_tolerance"]
        errors = [np.abs(found - values) / np.maximum(1, np.abs(values)) / tolerance for values in self.expected]
        least: Array = np.min([error.max(axis=2) for error in errors], axis=0)
        return least


def load_compiled(name: str) -> Compiled:
    """The program `name` after a prologue that loads its temporaries."""
    path = FOLDER / "compiled" / f"{name}.json"
    text = path.read_text(encoding="utf-8")
    document = json.loads(text)
    with np.load(path.with_suffix(".npz")) as archive:
        arrays = dict(archive)
    shader = read_shader(text)
    temporaries = {int(key.removeprefix("temp")): key for key in arrays if key.startswith("temp")}
    assert isinstance(shader.executable, Executable)
    executable, indices = with_prologue(shader.executable, sorted(temporaries))
    width, height = document["grid"]
    form = DataFormat.FLOAT32_4
    layout = Layout(width=width, height=height, format=form)
    inputs = tuple(Input(index=indices[number], file=key, format=form) for number, key in temporaries.items())
    output = Output(index=0, file=OUTPUT, shape=(height, width), format=form)
    domain = Domain(i=(0, width - 1), j=(0, height - 1))
    job = Job(program=Program(file=path.name), domain=domain, inputs=inputs, outputs=(output,))
    constants = ConstantFiles(floats=dict(shader.float_constants), ints=dict(shader.int_constants))
    program = ProgramFile(path=path, executable=executable)
    loaded = LoadedJob(
        job=job,
        path=path,
        files=destinations(job, path.parent),
        launches=(Launch(section=job.launches[0], program=program, constants=constants),),
        inputs=tuple((section, layout, arrays[section.file]) for section in inputs),
        outputs=((output, layout, np.zeros((height, width, 4), np.float32)),),
        conditional=None,
    )
    expected = tuple(arrays[key][0] for key in ("expected", "expected_second") if key in arrays)
    return Compiled(loaded, document, expected)
