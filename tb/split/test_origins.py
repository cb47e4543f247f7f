"""Beyond one machine's domains tiles begin at origins, with the bits of one run."""

from pathlib import Path

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER
from ctm.sim.split import plan
from ctm.tb.cli.invocation import error_line, report
from ctm.tb.lib.machines import options
from ctm.tb.split.jobs import blur_in, mandelbrot_in, run_both

BLUR = str(FOLDER / "blur" / "blur.c")
LIMIT = 96
"""Of a machine that is as small as a test."""

WHOLE = """
#include <ctm/kernel.h>
kernel void whole(ivec2 pixel) {
    ivec2 low = ivec2(max(pixel.x - 7, 0), clamp(pixel.y + 2, 1, 100));
    output(0, vec4(texel(0, low).x, pixel.x * 3 + pixel.y, as_float(pixel.x ^ pixel.y), pixel.x > 90 ? 1 : 0));
}
"""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "COORDINATE_LIMIT", LIMIT)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("program", "isa"),
    [("blur.c", "r5xx"), pytest.param("blur.c", "r700", marks=pytest.mark.long), ("blur.py", "r700")],
)
def test_fetches_around_the_pixel_read_a_window(program: str, isa: str, tmp_path: Path) -> None:
    one, split = run_both(blur_in(tmp_path, 130, 210, program=program, isa=isa), tmp_path, 4, "--engine", "fast")
    assert one["programs"] != split["programs"]
    assert all(tile["i"][1] - tile["i"][0] < LIMIT - 4 for tile in split["tiles"])


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("engine", ["golden", "rtl"])
def test_every_engine_begins_at_an_origin(engine: str, tmp_path: Path) -> None:
    run_both(blur_in(tmp_path, 20, 110), tmp_path, 2, "--engine", engine, *options("r5xx"))


@pytest.mark.usefixtures("small")
def test_a_domain_begins_anywhere(tmp_path: Path) -> None:
    path = blur_in(tmp_path, 130, 210)
    path.write_text(path.read_text().replace("i = [0,", "i = [7,").replace("j = [0,", "j = [3,"))
    run_both(path, tmp_path, 9, "--engine", "fast")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("program", ["mandelbrot.c", pytest.param("mandelbrot.py", marks=pytest.mark.long)])
def test_arithmetic_of_the_pixel_is_that_of_one_run(program: str, tmp_path: Path) -> None:
    run_both(mandelbrot_in(tmp_path, 200, program=program), tmp_path, 1, "--engine", "fast")


@pytest.mark.usefixtures("small")
def test_a_pixel_of_integers_has_an_origin_of_integers(tmp_path: Path) -> None:
    path = blur_in(tmp_path, 130, 210, isa="r700")
    (tmp_path / "whole.c").write_text(WHOLE)
    text = path.read_text().replace(BLUR, "whole.c")
    path.write_text(
        text.replace('shape = [130, 210]\nformat = "FLOAT32_1"', 'shape = [130, 210]\nformat = "FLOAT32_4"')
    )
    run_both(path, tmp_path, 4, "--engine", "fast")
    path.write_text(
        path.read_text().replace('isa = "r700"', 'isa = "r5xx"').replace("as_float(pixel.x ^ pixel.y)", "0")
    )
    (tmp_path / "whole.c").write_text(WHOLE.replace("as_float(pixel.x ^ pixel.y)", "0"))
    said = error_line("run", path, "--split", 4, "--workers", 0)
    assert "whole.c:3: beyond the machine's domains an R5xx kernel takes a vec2" in said


@pytest.mark.usefixtures("small")
def test_what_cannot_be_known_is_named_with_its_line(tmp_path: Path) -> None:
    path = blur_in(tmp_path, 130, 210)
    computed = (
        "#include <ctm/kernel.h>\nkernel void far(vec2 pixel) {\n    output(0, texel(0, texel(0, pixel).xy));\n}\n"
    )
    (tmp_path / "far.c").write_text(computed)
    path.write_text(path.read_text().replace(BLUR, "far.c"))
    said = error_line("run", path, "--split", 4, "--workers", 0)
    assert "far.c:3" in said and "which elements of input 0 this fetch reads is not known beforehand" in said
    (tmp_path / "far.c").write_text(computed.replace("texel(0, pixel).xy", "pixel * 9"))
    assert "far.c:3" in error_line("run", path, "--split", 4, "--workers", 0)
    said = error_line("run", mandelbrot_in(tmp_path, 200), "--split", 4, "--workers", 0)
    assert "mandelbrot.s is made already, and only a kernel in C or Python can be compiled so" in said


def test_a_picture_beyond_the_machine_is_that_of_python(tmp_path: Path) -> None:
    """4,200 columns in float32, one operation after the other as on R700 cores."""
    (tmp_path / "wide.c").write_text(
        "#include <ctm/kernel.h>\n"
        "kernel void wide(vec2 pixel) { output(0, texel(0, pixel + vec2(1, -1)).x + pixel.x * 3); }\n"
    )
    path = blur_in(tmp_path, 70, 4200, isa="r700")
    path.write_text(path.read_text().replace(BLUR, "wide.c"))
    said = error_line("run", path)
    assert "must be less than 4096" in said and "ctm run --split N runs a larger one in tiles" in said
    found = report("run", path, "--split", 3, "--workers", 0, "--engine", "fast")
    assert found["status"] == "ok", found
    picture = np.load(tmp_path / "picture.npy")
    j, i = np.indices(picture.shape)
    expected = picture[np.maximum(j - 1, 0), np.minimum(i + 1, 4199)] + i.astype(np.float32) * np.float32(3)
    assert np.array_equal(np.load(tmp_path / "blurred.npy")[:, :, 0], expected)
