"""``ctm import`` of recorded draws: what it writes, and what it rejects by name."""

import copy
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import PRESETS
from ctm.rtl.isa.r700.pipeline import OutputPrimitive
from ctm.sim.draws.error import DrawError
from ctm.sim.draws.recorded import import_draw
from ctm.sim.elf import read, write
from ctm.sim.elf.r700.executable import Executable
from ctm.sim.jobs.arrays import encoded
from ctm.sim.jobs.error import JobError
from ctm.sim.jobs.loading import load_job
from ctm.sim.runtime import Device
from ctm.sim.runtime.draws import VertexArray
from ctm.tb.cli.invocation import ctm, process
from ctm.tb.draws.recorded import DATA, document, judge, make_job, run

Document = dict[str, Any]


@pytest.mark.slow
def test_a_draw_is_imported_and_run_from_the_command_line(tmp_path: Path) -> None:
    source, folder, out = DATA / "cube_indexed.json", tmp_path / "made", tmp_path / "out"
    imported = process("import", source, "-o", folder)
    assert imported.returncode == 0, imported.stderr
    assert imported.stdout == f"{folder}/cube_indexed.toml: a draw with the programs of sfn\n"
    found = process("run", folder / "cube_indexed.toml", "-o", out, "--png", "--engine", "golden", "--check")
    assert found.returncode == 0, found.stderr
    assert {path.name for path in out.iterdir()} == {"target0.npy", "target0.png", "depth.npy"}
    assert np.load(out / "target0.npy").dtype == np.float32 and np.load(out / "depth.npy").ndim == 2
    assert "equal to the golden model in every bit" in found.stdout


def test_compilers_are_chosen_and_those_that_are_wrong_are_told(tmp_path: Path) -> None:
    found = ctm("import", DATA / "gs_variable.json", "-o", tmp_path, "--compiler", "sb")
    assert found.exit_code == 0
    assert found.stderr == "warning: the programs of sb are marked as compiled wrongly: expect a wrong picture\n"
    found = ctm("import", DATA / "gs_variable.json", "-o", tmp_path, "--compiler", "gcc")
    assert found.exit_code == 2 and "there is no compiler 'gcc' in it, but sfn, sb, nosb" in found.stderr


def test_lines_are_rejected_by_their_name(tmp_path: Path) -> None:
    found = ctm("import", DATA / "lines.json", "-o", tmp_path / "lines")
    assert found.exit_code == 2 and "LINELIST is not drawn" in found.stderr and found.stderr.count("\n") == 1
    assert not (tmp_path / "lines").exists()


def test_hardware_that_does_not_draw_says_so(tmp_path: Path) -> None:
    job = make_job("tri_const", "sfn", tmp_path)
    for engine in ("rtl", "amaranth", "serial"):
        options = ("--port", "/dev/null") if engine == "serial" else ()
        found = ctm("run", job, "--engine", engine, "--preset", "r700", *options)
        assert found.exit_code == 2 and "this machine does not draw: --preset r700-draw does" in found.stderr
    found = ctm("verilog", "--preset", "r700-small", "--testbench", job, "-o", tmp_path / "made")
    assert found.exit_code == 2 and "this machine does not draw" in found.stderr
    assert not (tmp_path / "target0.npy").exists() and not (tmp_path / "made").exists()


def test_what_the_hardware_does_not_draw_is_named(tmp_path: Path) -> None:
    job = make_job("gs_pass", "sfn", tmp_path)
    vertices = ("--preset", "r700-draw", "--set", "pipeline.stages=vertex")
    found = ctm("run", job, "--engine", "rtl", *vertices)
    assert found.exit_code == 2 and "the hardware does not draw with geometry programs" in found.stderr
    found = ctm("verilog", "--testbench", job, "-o", tmp_path / "made", *vertices)
    assert found.exit_code == 2 and "geometry programs" in found.stderr and not (tmp_path / "made").exists()


def test_a_draw_is_traced_and_watched_for_hazards(tmp_path: Path) -> None:
    job = make_job("vs_texture", "sfn", tmp_path)
    for option in (("--trace", tmp_path / "trace.txt"), ("--hazards",)):
        found = ctm("run", job, "--engine", "golden", "-o", tmp_path / "out", *option)
        assert found.exit_code == 0, found.stderr
    assert "CF instruction" in (tmp_path / "trace.txt").read_text()


def test_a_draw_needs_its_buffers_beside_it(tmp_path: Path) -> None:
    shutil.copy(DATA / "tri_const.json", tmp_path)
    found = ctm("import", tmp_path / "tri_const.json", "-o", tmp_path / "made")
    assert found.exit_code == 2 and "there is no file" in found.stderr and "tri_const.npz" in found.stderr


def changed(name: str, change: Callable[[Document], object]) -> str:
    """What is said of a draw that was changed."""
    scene = copy.deepcopy(document(name))
    change(scene)
    with pytest.raises(DrawError) as caught:
        import_draw(DATA / f"{name}.json", scene, None)
    return str(caught.value)


def register(name: str, word: int) -> Callable[[Document], object]:
    """Set a register."""
    return lambda scene: scene["compiled"]["sfn"]["registers"].update({name: f"{word:08x}"})


@pytest.mark.parametrize(
    ("name", "word", "what"),
    [
        ("DB_DEPTH_CONTROL", 0x17, "a stencil test"),
        ("DB_DEPTH_CONTROL", 0x1E, "a depth bounds test"),
        ("DB_SHADER_CONTROL", 0x12, "a stencil value of the program"),
        ("DB_SHADER_CONTROL", 0x110, "a coverage mask of the program"),
        ("DB_ALPHA_TO_MASK", 0xAA01, "alpha to coverage"),
        ("SX_ALPHA_TEST_CONTROL", 8, "an alpha test"),
        ("PA_SC_AA_CONFIG", 1, "multisampling"),
        ("PA_SC_EDGERULE", 0x1234, "another fill rule"),
        ("PA_SC_WINDOW_OFFSET", 1, "a window offset"),
        ("PA_SU_VTX_CNTL", 0x2D, "another snapping of vertices"),
        ("PA_SU_SC_MODE_CNTL", 0x8024C, "polygons as points or lines"),
        ("PA_SU_SC_MODE_CNTL", 0x80A44, "a polygon offset"),
        ("PA_CL_VTE_CNTL", 0x300, "another viewport transformation"),
        ("PA_CL_CLIP_CNTL", 0x01000001, "clip planes of the hardware"),
        ("PA_CL_CLIP_CNTL", 0x01010000, "drawing without clipping"),
        ("PA_CL_CLIP_CNTL", 0, "linear inputs that are not clipped linearly"),
        ("PA_CL_VS_OUT_CNTL", 1 << 17, "edge flags"),
        ("PA_CL_VS_OUT_CNTL", 1 << 18, "layers of a target"),
        ("PA_CL_VS_OUT_CNTL", 1 << 19, "several viewports"),
        ("PA_CL_VS_OUT_CNTL", 1 << 20, "vertices that are killed"),
        ("SPI_PS_IN_CONTROL_0", 0x10008001, "generated parameters"),
        ("SPI_PS_IN_CONTROL_1", 1 << 11, "a face of all bits"),
        ("SPI_PS_INPUT_CNTL_0", 0x2400, "cylinder wrap of an input"),
        ("VGT_MAX_VTX_INDX", 5, "a largest index"),
        ("VGT_GS_MODE", 2, "scenario B of geometry programs"),
        ("CB_COLOR_CONTROL", 0x00550080, "a logic operation"),
        ("CB_COLOR_CONTROL", 0x00CC0090, "a special operation"),
    ],
)
def test_a_state_that_is_not_built_is_rejected_by_its_register(name: str, word: int, what: str) -> None:
    found = changed("tri_smooth", register(name, word))
    assert found == f"{name} is 0x{word:08x}: {what} is not built"


def test_other_blending_is_rejected_for_the_target_that_has_it() -> None:
    def blend(scene: Document) -> None:
        register("CB_COLOR_CONTROL", 0x00CC0180)(scene)
        register("CB_BLEND0_CONTROL", 0x0504)(scene)

    assert changed("tri_smooth", blend) == "CB_BLEND0_CONTROL is 0x00000504: only the blending ONE, ONE, ADD is built"


def at(*path: str, **values: object) -> Callable[[Document], object]:
    """Set values in a table of the document."""

    def change(scene: Document) -> None:
        for key in path:
            scene = scene[key]
        scene.update(values)

    return change


def without(*path: str) -> Callable[[Document], object]:
    """Leave a key out."""

    def change(scene: Document) -> None:
        for key in path[:-1]:
            scene = scene[key]
        del scene[path[-1]]

    return change


PROGRAMS = ("compiled", "sfn", "programs")
REGISTERS = ("compiled", "sfn", "registers")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without(*PROGRAMS, "vs"), "programs.vs: is missing"),
        (without(*PROGRAMS, "ps", "gprs"), "programs.ps: 'gprs' is missing"),
        (at(*PROGRAMS, "ps", dwords=["00"]), "programs.ps: must have dwords in hexadecimal digits"),
        (at(*PROGRAMS, "ps", dwords=["xy", "0"]), "programs.ps: must have dwords in hexadecimal digits"),
        (without(*PROGRAMS), "programs: is missing, or is no table"),
        (at(compiled=3), "compiled: is missing, or is no table"),
        (at(name="a/b"), "name: must be the name of a file"),
        (at("draw", primitive="QUADLIST"), "draw.primitive: QUADLIST is not drawn"),
        (at("draw", primitive="SOUP"), "draw.primitive: SOUP is not drawn"),
        (at("draw", indices=[0, 1, 2], index_bytes=1), "draw.index_bytes: 1 is neither 2 nor 4"),
        (at("vertex_buffers", "0", array="vb9"), "the .npz file has no array 'vb9'"),
        (at(*REGISTERS, CB_COLOR_CONTROL=3), "registers.CB_COLOR_CONTROL: must be a word as a string"),
        (at(*REGISTERS, CB_COLOR_CONTROL="zz"), "registers.CB_COLOR_CONTROL: 'zz' is no hexadecimal word"),
    ],
)
def test_what_is_missing_or_wrong_is_named(change: Callable[[Document], object], message: str) -> None:
    assert message in changed("tri_smooth", change)


def test_a_key_that_is_missing_is_one_line(tmp_path: Path) -> None:
    for key in ("size", "targets", "clear", "draw", "compiled"):
        scene = {name: value for name, value in document("tri_smooth").items() if name != key}
        path = tmp_path / "tri_smooth.json"
        path.write_text(json.dumps(scene))
        shutil.copy(DATA / "tri_smooth.npz", tmp_path)
        found = ctm("import", path, "-o", tmp_path / "made")
        assert found.exit_code == 2 and found.stderr.startswith("error: ") and found.stderr.count("\n") == 1, (
            found.stderr
        )


def test_blending_of_some_targets_is_rejected() -> None:
    def blend(scene: Document) -> None:
        register("CB_COLOR_CONTROL", 0x00CC0180)(scene)
        register("CB_BLEND0_CONTROL", 0x0101)(scene)

    assert "blending of some targets is not built, only of all" in changed("mrt8", blend)


def test_masked_channels_of_targets_are_not_written(tmp_path: Path) -> None:
    scene = copy.deepcopy(document("mrt8"))
    scene["compiled"]["sfn"]["registers"] |= {"CB_TARGET_MASK": "ffffff35", "CB_SHADER_MASK": "fffffff6"}
    for name, contents in import_draw(DATA / "mrt8.json", scene, None).files.items():
        data = contents.encode() if isinstance(contents, str) else contents
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else bytes(encoded(path, data)))
    found, whole = run(tmp_path / "mrt8.toml", "golden", 16), run(make_job("mrt8", "sfn", tmp_path), "golden", 16)
    for target in range(8):
        written = {0: [2], 1: [0, 1]}.get(target, [0, 1, 2, 3])
        mine, its = found.outputs[target], whole.outputs[target]
        assert (its != scene["clear"]).any()
        for channel in range(4):
            expected = its[..., channel] if channel in written else np.full_like(its[..., channel], scene["clear"])
            assert (mine[..., channel] == expected).all(), (target, channel)


def test_an_export_to_a_target_that_is_not_there_is_masked(tmp_path: Path) -> None:
    scene = copy.deepcopy(document("mrt8"))
    scene["targets"] = 3
    for name, contents in import_draw(DATA / "mrt8.json", scene, None).files.items():
        data = contents.encode() if isinstance(contents, str) else contents
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else bytes(encoded(path, data)))
    found, whole = run(tmp_path / "mrt8.toml", "golden", 16), run(make_job("mrt8", "sfn", tmp_path), "golden", 16)
    assert sorted(found.outputs) == [0, 1, 2]
    assert all(found.outputs[target].tobytes() == whole.outputs[target].tobytes() for target in range(3))


def test_a_sampler_is_looked_at_only_where_a_texture_is_sampled(tmp_path: Path) -> None:
    scene = copy.deepcopy(document("vs_texture"))
    scene["textures"][0] |= {"filter": "linear", "wrap": "repeat"}
    # Its program reads elements by their numbers.
    assert import_draw(DATA / "vs_texture.json", scene, None).name == "vs_texture"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count = 36", "count = 37", "draw.count: 37 of 'cube_indexed_indices.npy' are drawn, and it has 36 indices"),
        ("count = 36", "count = -1", "draw.count: must be greater than or equal to 0, not -1"),
        ('primitive = "TRILIST"', 'primitive = "TRILISTS"', "draw.primitive"),
        ('cull = "back"', 'cull = "all"', "draw.cull"),
        ("stride = 16", "stride = -4", "draw.buffers[0].stride: must be greater than or equal to 0, not -4"),
        ("point_size = 1.0", 'point_size = "large"', 'draw.point_size: must be 0..8191.875 pixels, or "program", not'),
        ("point_size = 1.0", 'point_size = "2.5"', "draw.point_size: must be 0..8191.875 pixels"),
        ("point_size = 1.0", "point_size = true", "draw.point_size: must be 0..8191.875 pixels"),
        ("point_size = 1.0", "point_size = 8191.9", "draw.point_size: must be 0..8191.875 pixels"),
        ("point_size = 1.0", "point_size = nan", "draw.point_size: must be 0..8191.875 pixels"),
        ("viewport_x = [", "viewport_x = [1.0, ", "draw.viewport_x: takes two numbers"),
        ("viewport_x = [", "viewport_x = [0.0, 8.0] # ", "draw.viewport_x: the viewport has no size: its scale is 0"),
        ("viewport_y = [", "viewport_y = [nan, 8.0] # ", "draw.viewport_y: its scale must be finite, not nan"),
        ("viewport_z = [", "viewport_z = [inf, 8.0] # ", "draw.viewport_z: its scale must be finite, not inf"),
        ("viewport_z = [", "viewport_z = [1e39, 8.0] # ", "draw.viewport_z[0]: 1e+39 is too large for a float"),
        ("depth_range = [", "depth_range = [true, 1.0] # ", "draw.depth_range[0]: must be a number, not true"),
        ("depth_range = [", 'depth_range = ["0", 1.0] # ', "draw.depth_range[0]: must be a number, not the string"),
        ("cube_indexed_indices.npy", "indices.png", "draw.indices: '"),
        (
            "cube_indexed_vertices0.npy",
            "vertices.png",
            "' is named as a picture, and an .npy file is wanted",
        ),
        ("[draw]", "[drew]", "drew: unknown key; did you mean 'draw'?"),
        ("provoking", "provoked", "draw.provoked: unknown key; did you mean 'provoking'?"),
    ],
)
def test_a_job_that_is_wrong_names_the_key_and_its_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    job = make_job("cube_indexed", "sfn", tmp_path)
    text = job.read_text()
    assert old in text
    job.write_text(text.replace(old, new, 1))
    with pytest.raises(JobError) as caught:
        load_job(job)
    assert message in str(caught.value)
    line = text[: text.index(old)].count("\n") + 1
    assert f"{job}:{line}: " in str(caught.value)


@pytest.mark.parametrize("values", [np.zeros((0, 8), np.float32), np.float32(1.0)])
def test_a_vertex_buffer_has_a_row_at_least(tmp_path: Path, values: Any) -> None:
    job = make_job("cube_indexed", "sfn", tmp_path)
    np.save(tmp_path / "cube_indexed_vertices0.npy", values)
    with pytest.raises(JobError, match=r"draw\.buffers\[0\]\.file: .*; a vertex buffer is an array"):
        load_job(job)
    with pytest.raises(ValueError, match="vertices are an array of numbers with a row at least"):
        VertexArray.of(Device("golden", PRESETS["r700"]), np.asarray(values))


def test_a_stream_is_no_picture(tmp_path: Path) -> None:
    job = make_job("xfb_two", "sfn", tmp_path)
    text = job.read_text()
    job.write_text(re.sub(r'(\[\[draw\.streams\]\][^\[]*?file = ")[^"]*', r"\1stream.png", text, count=1))
    with pytest.raises(JobError, match=r"draw\.streams\[0\]\.file: '.*stream\.png' must end in \.npy"):
        load_job(job)


def test_programs_of_draws_and_others_are_told_apart(tmp_path: Path) -> None:
    job = make_job("tri_smooth", "sfn", tmp_path)
    text = job.read_text()
    job.write_text(text[: text.index("[draw]")])
    with pytest.raises(JobError, match=r"tri_smooth\.elf is the program of a draw: add \[draw\]"):
        load_job(job)
    (tmp_path / "plain.s").write_text(".isa r700\nEXPORT_DONE PIX0, R0\n")
    job.write_text(text.replace("tri_smooth.elf", "plain.s"))
    with pytest.raises(JobError, match=r"plain\.s has no pipeline to draw with"):
        load_job(job)


def test_an_output_of_a_job_does_not_replace_what_is_drawn(tmp_path: Path) -> None:
    job = make_job("tri_smooth", "sfn", tmp_path)
    job.write_text(job.read_text().replace('"target0.npy"', '"tri_smooth_vertices0.npy"'))
    with pytest.raises(JobError, match="would replace draw.buffers"):
        load_job(job)


def test_depth_is_not_read_from_the_file_that_it_is_written_to(tmp_path: Path) -> None:
    job = make_job("cube_indexed", "sfn", tmp_path)
    np.save(tmp_path / "depth.npy", np.zeros((1, 1), np.float32))
    assert judge("cube_indexed", run(job, "golden", 16)) == ""


def test_a_whole_job_is_read_only_after_it_is_right(tmp_path: Path) -> None:
    job = make_job("xfb_two", "sfn", tmp_path)
    job.write_text(job.read_text().replace("limit = ", "limit = 9"))
    with pytest.raises(JobError, match=r"draw\.streams\[0\]: limit 9\d+ is more than the \d+ words"):
        load_job(job)


def test_lines_of_a_geometry_program_are_known_before_anything_runs(tmp_path: Path) -> None:
    job = make_job("gs_pass", "sfn", tmp_path)
    (file,) = tmp_path.glob("*.elf")
    program = read(file.read_bytes())
    assert isinstance(program, Executable) and program.pipeline is not None
    file.write_bytes(write(replace(program, pipeline=replace(program.pipeline, output=OutputPrimitive.LINESTRIP))))
    with pytest.raises(JobError, match=r"draw\.discard: the geometry program emits lines, which are not drawn"):
        load_job(job)
    job.write_text(job.read_text().replace("discard = false", "discard = true"))
    load_job(job)
