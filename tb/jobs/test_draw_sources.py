"""Jobs that draw with a vertex and a pixel program in assembly."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from ctm.examples.r700.torus import torus
from ctm.rtl.isa.r700.pipeline import DrawStage
from ctm.sim.assembler import AssemblyError
from ctm.sim.elf import write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.files import write_file
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime.draws import PixelInput, pipeline
from ctm.sim.runtime.draws.sources import assembled
from ctm.tb.cli.invocation import error_line, report

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
    vertex, pixel = (
        assembled(text, stage, name)
        for text, stage, name in zip((torus.VERTEX, torus.PIXEL), (DrawStage.VS, DrawStage.PS), SOURCES, strict=True)
    )
    linked = pipeline(vertex=vertex, pixel=pixel, inputs=[PixelInput(parameter=0)], constant_base=1, depth=True)
    assert write(executable) == write(linked)


@pytest.mark.slow
def test_engines_draw_the_same_picture_as_with_the_executable(folder: Path) -> None:
    executable = load_job(folder / JOB.name).launches[0].program.executable
    write_file(folder / "torus.elf", write(executable))
    report("run", folder / JOB.name, "-o", folder / "golden", "--engine", "golden")
    report("run", folder / JOB.name, "-o", folder / "fast", "--engine", "fast")
    text = (folder / JOB.name).read_text()
    _, _, domain = text.partition("[domain]")
    (folder / JOB.name).write_text('[program]\nfile = "torus.elf"\n[domain]' + domain)
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
        (
            'vertex = "torus_vs.s"',
            'vertex = "torus_ps.s"',
            ":2: program.vertex: the vertex program must say .stage vs, not .stage ps",
        ),
        ('pixel = "torus_ps.s"', 'pixel = "torus.c"', ":3: program.pixel: '"),
        ('pixel = "torus_ps.s"', 'pixel = "torus.c"', "' must end in .s: a draw's programs are sources in assembly"),
        ("constant_base = 1 ", "isa = 'r700' ", ":1: program: isa is for kernels; vertex and pixel are sources"),
        ("constant_base = 1 ", "constant_base = 15 ", "torus_vs.s uses float constant 240, which is not bound"),
        ("constant_base = 1 ", "constant_base = 1\nposition = 0 ", ":1: program: position is R0, which registers[0]"),
        (
            "constant_base = 1 ",
            "constant_base = 1\nface = [0, 3] ",
            ":1: program: face is R0, which registers[0] begins",
        ),
        ("constant_base = 1 ", "position = 4\nface = [4, 0] ", ":1: program: position and face are both R4"),
        (
            "constant_base = 1 ",
            "position = 119 ",
            ":1: program: R119 is the last register that the pixel program begins",
        ),
        ("parameter = 0 ", "parameter = 0\ndefault = 0 ", "program.registers[0]: parameter and default exclude each"),
        ("parameter = 0 ", "flat = true\nlinear = true ", "program.registers[0]: flat and linear exclude each other"),
        (
            '"TRILIST"',
            '"LINELIST"',
            ":14: draw.primitive: lines are drawn by a geometry program only; there is POINTLIST, ",
        ),
        ('"TRILIST"', '"QUADLIST"', ":14: draw.primitive: must be one of POINTLIST, "),
        (
            "count = 12288",
            "count = 12288\ninstances = 12000",
            ":16: draw.instances: count x instances is at most 134,217,728 vertices, not 147,456,000",
        ),
        (
            "count = 12288",
            "count = 134217729",
            ":15: draw.count: count x instances is at most 134,217,728 vertices, not 134,217,729",
        ),
        (
            "count = 12288",
            "count = 12288\nadd = true",
            "outputs[0].format: a draw with add has FLOAT32 formats, not UIN",
        ),
        (
            'location = "DPP"',
            'location = "PE"',
            "conditional.location: the test of a draw is made after its pixel program",
        ),
        (
            'index = 0\nfile = "vertices',
            'index = 1\nfile = "vertices',
            "torus_vs.s fetches from vertex buffer 0, which is not",
        ),
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


def test_errors_of_both_sources_are_named(folder: Path) -> None:
    for name in SOURCES:
        job = changed(folder, ".pack\n", ".pack\nMULL R1.x, R1.x, R1.x\n", name)
    with pytest.raises(AssemblyError) as found:
        load_job(job)
    assert [Path(error.file).name for error in found.value.errors] == list(SOURCES)
    assert all(f"{folder / name}:" in str(found.value) for name in SOURCES)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (".isa r700\n", "", "' does not begin with .isa r700, so it is no program of a draw"),
        (".stage ps\n", "", ":3: program.pixel: the pixel program must say .stage ps"),
        (".stage ps", ".stage ps\n.scratch", ":3: program.pixel: a program of a draw has no .scratch"),
        (".stage ps", ".stage ps\n.lds 64", ":3: program.pixel: a program of a draw has no .lds"),
        (".stage ps", ".stage ps\n.type cs", ":3: program.pixel: a program of a draw has no .type cs"),
        ("C3.x", "C4.x", "constants: torus_ps.s uses float constant 4, which is not bound"),
    ],
)
def test_a_source_that_no_draw_has_is_named(folder: Path, old: str, new: str, message: str) -> None:
    job = changed(folder, old, new, "torus_ps.s")
    if "constant" in message:
        np.save(folder / "few.npy", np.zeros((4, 4), np.float32))
        changed(folder, 'float = "constants.npy"', 'float = "few.npy"')
        changed(folder, "constant_base = 1", "constant_base = 0")
        changed(folder, "C6.", "C3.", "torus_vs.s")
        changed(folder, "C5.", "C3.", "torus_vs.s")
        changed(folder, "C4.", "C3.", "torus_vs.s")
    with pytest.raises(JobError) as found:
        load_job(job)
    assert message in str(found.value)


def test_a_constant_beyond_the_last_one_is_an_error(folder: Path) -> None:
    changed(folder, "constant_base = 1", "constant_base = 15")
    job = changed(folder, "C6.", "C20.", "torus_vs.s")
    with pytest.raises(JobError, match="C20 is float constant 260 with constant base 15, and the last one is 255"):
        load_job(job)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("parameter = 0 ", "parameter = 5 ", ":7: program.registers[0].parameter: torus_vs.s exports no PARAM5, so"),
        ("parameter = 0 ", "sprite = true ", ":7: program.registers[0].sprite: only points have it, and the primitive"),
        ("count = 12288", 'count = 3\npoint_size = "program"', "draw.point_size: torus_vs.s exports no POS61, whose x"),
        (
            "count = 12288",
            "count = 3\npoint_size = 0.06",
            "draw.point_size: is rounded to 1/8 pixel: points of 0.0",
        ),
    ],
)
def test_what_is_likely_not_meant_is_a_warning(folder: Path, old: str, new: str, message: str) -> None:
    assert not load_job(folder / JOB.name).warnings
    (warning,) = load_job(changed(folder, old, new)).warnings
    assert message in warning


def test_a_vertex_program_without_a_position_draws_nothing(folder: Path) -> None:
    job = changed(folder, "EXPORT_DONE POS60, R3\n", "", "torus_vs.s")
    (warning,) = load_job(job).warnings
    assert warning.endswith(":2: program.vertex: torus_vs.s exports no POS60, so nothing is drawn")
    changed(folder, "count = 12288", "count = 12288\ndiscard = true")
    assert not load_job(job).warnings


def executable_of(job: Path) -> Executable:
    """The program of a job's launch."""
    found = load_job(job).launches[0].program.executable
    assert isinstance(found, Executable)
    return found


def test_a_program_begins_where_its_source_says(folder: Path) -> None:
    linked = executable_of(folder / JOB.name)
    for name, stage in zip(SOURCES, ("vs", "ps"), strict=True):
        job = changed(folder, f".stage {stage}\n", f".stage {stage}\n.start main\nKILL\nmain:\n", name)
    started = executable_of(job)
    assert started.pipeline is not None and linked.pipeline is not None
    assert started.pipeline.vertex.start == linked.pipeline.vertex.start + 1
    report("run", job, "-o", folder / "started", "--engine", "fast")
    report("run", JOB, "-o", folder / "plain", "--engine", "fast")
    for name in ("torus.png", "depth.npy"):
        assert (folder / "started" / name).read_bytes() == (folder / "plain" / name).read_bytes()


def test_the_texture_base_is_that_of_the_source(folder: Path) -> None:
    job = changed(folder, ".stage ps\n", ".stage ps\n.texture_base 5\n", "torus_ps.s")
    assert executable_of(job).texture_base == 5
    changed(folder, ".stage vs\n", ".stage vs\n.texture_base 3\n", "torus_vs.s")
    with pytest.raises(JobError, match=r"vertex and pixel program say different \.texture_base"):
        load_job(job)


@pytest.mark.parametrize("draws", [False, True])
def test_one_program_of_a_draw_is_no_file_of_a_job(folder: Path, draws: bool) -> None:
    text = (folder / JOB.name).read_text()
    begin, end = text.index("[program]"), text.index("[domain]")
    text = text[:begin] + '[program]\nfile = "torus_ps.s"\n' + text[end:]
    if not draws:
        text = text[: text.index("[draw]")] + text[text.index("[constants]") :]
    (folder / JOB.name).write_text(text)
    with pytest.raises(JobError, match=r":2: program\.file: torus_ps\.s is one program of a draw: it is named as"):
        load_job(folder / JOB.name)


def test_one_program_of_a_draw_is_not_assembled_alone(folder: Path) -> None:
    (folder / "gs.s").write_text(".isa r700\n.stage gs\nLOOP\nENDLOOP\n")
    problem = error_line("asm", folder / "gs.s", "-o", folder / "gs.elf")
    assert problem.endswith("gs.s: it is one program of a draw: docs/draws.md links it with the others\n")
    problem = error_line("asm", folder / "torus_vs.s", "-o", folder / "vs.elf")
    assert problem.endswith("torus_vs.s: it is one program of a draw: name it as vertex or pixel of a job\n")
    assert not (folder / "vs.elf").exists()
