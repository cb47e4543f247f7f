"""Jobs that draw with a vertex and a pixel program in assembly."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.r700.torus import torus
from ctm.sim.assembler import AssemblyError
from ctm.sim.elf import write
from ctm.sim.files import write_file
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.draws import PixelInput, pipeline
from ctm.tb.cli.invocation import report

JOB = torus.FOLDER / "torus.toml"
SOURCES = ("torus_vs.s", "torus_ps.s")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the example."""
    for name in (JOB.name, *SOURCES, *torus.inputs()):
        shutil.copy(torus.FOLDER / name, tmp_path / name)
    return tmp_path


def changed(folder: Path, old: str, new: str, name: str = JOB.name) -> Path:
    """The job, with something else in it or in a source."""
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new))
    return folder / JOB.name


def test_the_program_is_the_one_that_python_links() -> None:
    executable = load_job(JOB).launches[0].program.executable
    linked = pipeline(
        vertex=torus.VERTEX, pixel=torus.PIXEL, inputs=[PixelInput(parameter=0)], constant_base=1, depth=True,
        names=SOURCES,
    )  # fmt: skip
    assert write(executable) == write(linked)


def test_engines_draw_the_same_picture_as_with_the_executable(folder: Path) -> None:
    executable = load_job(folder / JOB.name).launches[0].program.executable
    write_file(folder / "torus.elf", write(executable))
    report("run", folder / JOB.name, "-o", folder / "golden", "--engine", "golden")
    report("run", folder / JOB.name, "-o", folder / "fast", "--engine", "fast")
    text = (folder / JOB.name).read_text()
    _, _, behind = text.partition("[domain]")
    (folder / JOB.name).write_text('[program]\nfile = "torus.elf"\n[domain]' + behind)
    report("run", folder / JOB.name, "-o", folder / "linked", "--engine", "fast")
    for name in ("torus.png", "depth.npy"):
        golden, fast, elf = ((folder / each / name).read_bytes() for each in ("golden", "fast", "linked"))
        assert golden == fast == elf
    depth = np.load(folder / "golden" / "depth.npy")
    assert 0.2 < np.mean(depth < 1) < 0.5


def test_inputs_are_those_that_the_example_makes() -> None:
    for name, array in torus.inputs().items():
        kept = np.load(torus.FOLDER / name)
        assert kept.dtype == array.dtype and kept.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('pixel = "torus_ps.s"\n', "", ":1: program: vertex and pixel go together"),
        ('vertex = "torus_vs.s"\npixel', 'file = "torus_vs.s"\n#', ":1: program: constant_base is for a draw's vertex"),
        ('vertex = "torus_vs.s"', 'vertex = "none.s"', ":2: program.vertex: there is no file '"),
        ('vertex = "torus_vs.s"', 'vertex = "torus_ps.s"', ":1: program: the vertex program must say .stage vs"),
        ("parameter = 0", "paramter = 0", ":7: program.registers[0].paramter: unknown key; did you mean 'parameter'?"),
        ("parameter = 0", "parameter = 32", ":7: program.registers[0].parameter: must be less than 32, not 32"),
        ("constant_base = 1 ", "constant_base = 16", ":4: program.constant_base: must be less than 16, not 16"),
        ("[[program.registers]]", "face = [5]\n[[program.registers]]", "takes two numbers [register, channel]"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(folder: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(JobError) as found:
        load_job(changed(folder, old, new))
    assert message in str(found.value)


def test_sources_without_a_draw_are_an_error(folder: Path) -> None:
    text = (folder / JOB.name).read_text()
    begin, end = text.index("[draw]"), text.index("[constants]")
    (folder / JOB.name).write_text(text[:begin] + text[end:])
    with pytest.raises(JobError, match=r"\[program\] vertex and pixel need \[draw\]"):
        load_job(folder / JOB.name)


@pytest.mark.parametrize("name", SOURCES)
def test_an_error_of_a_source_names_its_line(folder: Path, name: str) -> None:
    job = changed(folder, ".pack\n", ".pack\nMULL R1.x, R1.x, R1.x\n", name)
    with pytest.raises(AssemblyError) as found:
        load_job(job)
    line = (folder / name).read_text().splitlines().index("MULL R1.x, R1.x, R1.x") + 1
    assert str(found.value).startswith(f"{folder / name}:{line}:1: ")
