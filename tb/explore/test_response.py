"""The response to a source: programs of both sets with their lines, errors at their lines, costs, pictures, jobs."""

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ctm.sim.explore import start
from ctm.sim.explore.execution import MOST_PIXELS, sample
from ctm.sim.explore.explorer import explored
from ctm.sim.explore.job import isa_of, program_name
from ctm.sim.explore.request import Explored, Request, Run
from ctm.sim.explore.response import respond
from ctm.sim.jobs.loading import load_job

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NBODY = EXAMPLES / "nbody"
PYTHON = "from ctm import kernel\nfrom ctm.language import vec2\n@kernel\ndef f(p: vec2) -> float:\n"
ADD = "#include <ctm/kernel.h>\nkernel void add(vec2 p) {\n    output(0, texel(0, p) + constant(0));\n}\n"


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


def of(path: Path, **more: object) -> Request:
    """A request for a file, with its job."""
    found = start.of_file(path)
    request = Request(text=found.text, name=found.name, folder=found.folder, job=found.job)
    return replace(request, **more)  # type: ignore[arg-type]


def ran(found: Explored) -> Run:
    assert found.run is not None, found
    return found.run


def picture(run: Run, index: int = 0) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(run.pictures[index].png))))


@pytest.mark.parametrize("name", ["nbody.c", "nbody.py"])
def test_a_kernel_has_programs_of_both_sets(scratch: Path, name: str) -> None:
    request = of(NBODY / name)
    found = respond(request, scratch)
    assert [each.isa for each in found.programs] == ["r5xx", "r700"]
    lines = request.text.split("\n")
    for program in found.programs:
        fetches = {each.line for each in program.instructions if each.text.startswith("TEX")}
        assert fetches and all("texel" in lines[line - 1] for line in fetches)


@pytest.mark.parametrize(("path", "isa"), [("saxpy/saxpy.s", "r5xx"), ("r700/saxpy/saxpy.s", "r700")])
def test_assembly_has_a_program_of_its_own_set(scratch: Path, path: str, isa: str) -> None:
    (program,) = respond(of(EXAMPLES / path), scratch).programs
    assert program.isa == isa and all(each.line for each in program.instructions)


@pytest.mark.parametrize(
    ("name", "text", "line", "column"),
    [
        ("k.c", "#include <ctm/kernel.h>\nkernel void f(vec2 p) {\n    output(0, vec4(q));\n}\n", 3, 20),
        ("k.py", f"{PYTHON}    return q\n", 5, 0),
        ("k.s", ".isa r700\n    NOTHING R0\n", 2, 5),
    ],
)  # fmt: skip
def test_an_error_is_at_its_line_and_column(scratch: Path, name: str, text: str, line: int, column: int) -> None:
    problem = respond(Request(text=text, name=name), scratch).programs[0].problems[0]
    assert problem.line == line and (not column or problem.column == column)


def test_a_warning_is_none_of_the_errors(scratch: Path) -> None:
    text = "#include <ctm/kernel.h>\nkernel void f(vec2 p) {\n    int x = 1.5f;\n    output(0, vec4(x));\n}\n"
    for program in respond(Request(text=text, name="k.c"), scratch).programs:
        assert program.instructions and [(each.line, each.is_warning) for each in program.problems] == [(3, True)]


def test_an_error_in_an_include_names_it(tmp_path: Path, scratch: Path) -> None:
    (tmp_path / "own.h").write_text("int x = y;\n")
    request = Request(text=f'#include "own.h"\n{ADD}', name="k.c", folder=str(tmp_path))
    problem = respond(request, scratch).programs[0].problems[0]
    assert (problem.line, problem.location) == (0, "own.h:1")


def test_costs_are_those_of_the_profile(scratch: Path) -> None:
    """Of an example that has been run by hand: sums over lines and over units are the whole."""
    run = ran(respond(of(NBODY / "nbody.c", isa="r5xx", engine="golden"), scratch))
    assert run.cycles is None and run.extent == "256 pixels, one of 16 launches"
    assert sum(each.issues for each in run.units.values()) == run.whole.issues == run.instructions
    assert sum(each.issues for each in run.lines.values()) == run.whole.issues


def test_pictures_are_those_of_the_whole_job(scratch: Path) -> None:
    run = ran(respond(of(NBODY / "nbody.c", isa="r700", engine="auto", whole=True), scratch))
    assert run.extent == "256 pixels, 16 launches"
    assert picture(run).shape == (16, 16, 3) and "is black" in run.pictures[0].note


def test_a_job_is_made_up(scratch: Path) -> None:
    found = respond(Request(text=ADD, name="k.c", isa="r700", engine="golden"), scratch)
    run = ran(found)
    assert program_name(found.job) == "k.c" and run.extent == "1,024 of 4,096 pixels"
    shades = picture(run)
    # Ramps to the right and downwards, in the sample that ran; 1 is added and 2 is white.
    assert shades[32, 47, 0] > shades[32, 16, 0] > 127 and shades[47, 32, 1] > shades[16, 32, 1] > 127
    assert shades[0, 0].max() == 0


def test_a_name_cannot_add_to_a_job_that_is_made_up(scratch: Path) -> None:
    found = respond(Request(text=ADD, name='k"]\n[x].c', isa="r700"), scratch)
    assert program_name(found.job) == "k____x_.c"


@pytest.mark.parametrize("shape", [(1, 1), (64, 64), (4096, 3), (5, 4000)])
def test_a_sample_lies_in_the_domain(tmp_path: Path, shape: tuple[int, int]) -> None:
    height, width = shape
    (tmp_path / "k.s").write_text("    OUT o0 = MOV(r0)\n")
    job = (
        f'[program]\nfile = "k.s"\n[[passes]]\ndomain_i = [0, {width - 1}]\ndomain_j = [0, {height - 1}]\nrepeat = 3\n'
    )
    job += f'[[outputs]]\nindex = 0\nfile = "y.npy"\nshape = [{height}, {width}]\nformat = "FLOAT32_1"\n'
    (tmp_path / "job.toml").write_text(job)
    (launch,) = sample(load_job(tmp_path / "job.toml")).launches
    (i0, i1), (j0, j1) = launch.section.domain_i, launch.section.domain_j
    assert 0 <= i0 <= i1 < width and 0 <= j0 <= j1 < height and launch.section.repeat == 1
    size = (i1 - i0 + 1) * (j1 - j0 + 1)
    assert min(MOST_PIXELS // 2, width * height) <= size <= MOST_PIXELS


def test_a_job_that_is_wrong_is_told(scratch: Path) -> None:
    request = Request(text=ADD, name="k.c", isa="r700", engine="golden")
    for job, message in (("[program", "'[program'"), ("[program]\nfile = 'k.c'\n", "needs either [domain]")):
        (problem,) = respond(replace(request, job=job), scratch).problems
        assert message in problem.message or "TOML" in problem.message or "Expected" in problem.message
        assert str(scratch) not in problem.message


def test_examples_are_there_in_every_language() -> None:
    found = start.examples()
    assert {"blur, C", "nbody, Python", "r700/sha256, assembly"} <= found.keys()
    assert all(start.of_file(path).job for path in found.values())


def test_the_first_kernel_runs(scratch: Path) -> None:
    begin = start.new()
    run = ran(respond(Request(text=begin.text, name=begin.name, isa="r5xx", engine="auto", whole=True), scratch))
    assert len(np.unique(picture(run))) > 100


@pytest.mark.long
@pytest.mark.parametrize("title", start.examples())
def test_every_example_compiles_and_runs_in_its_limits(title: str) -> None:
    request = of(start.examples()[title])
    programs = [each.isa for each in explored(request).programs if each.instructions]
    wanted = isa_of(request.job)
    isa = wanted if wanted in programs else programs[-1]
    run = ran(explored(replace(request, isa=isa, engine="golden")))
    assert run.lines and run.whole.issues == run.instructions
    assert ran(explored(replace(request, isa=isa, engine="auto", whole=True))).pictures
