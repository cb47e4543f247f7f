"""Programs that Mesa compiled draw what llvmpipe draws, whatever the wavefront's size, on both engines alike."""

from pathlib import Path

import numpy as np
import pytest

from ctm.tb.draws.recorded import COMPILERS, bits, cases, document, judge, make_job, run

WAVEFRONTS = (4, 16, 64)


@pytest.mark.parametrize(("name", "compiler"), cases(COMPILERS[:1]))
def test_a_draw_is_that_of_another_renderer(name: str, compiler: str, tmp_path: Path) -> None:
    job = make_job(name, compiler, tmp_path)
    golden = run(job, "golden", 16)
    assert judge(name, golden) == ""
    fast = run(job, "fast", 16)
    assert bits(fast) == bits(golden)
    assert fast.report.equal_counts == golden.report.equal_counts


@pytest.mark.long
@pytest.mark.parametrize(("name", "compiler"), cases(COMPILERS))
def test_every_compiler_and_wavefront_leaves_the_same_bits(name: str, compiler: str, tmp_path: Path) -> None:
    job = make_job(name, compiler, tmp_path)
    first = bits(run(job, "golden", 16))
    for wavefront in WAVEFRONTS:
        for engine in ("golden", "fast"):
            found = run(job, engine, wavefront)
            assert judge(name, found) == ""
            assert bits(found) == first, (engine, wavefront)


def test_wavefronts_of_every_size_leave_the_same_bits(tmp_path: Path) -> None:
    for name in ("mesh", "gs_variable", "xfb_gs", "clip_near_linear"):
        job = make_job(name, "sfn", tmp_path)
        first, *others = (bits(run(job, "golden", wavefront)) for wavefront in WAVEFRONTS)
        assert all(other == first for other in others), name


def test_the_judge_sees_a_wrong_pixel_depth_and_word(tmp_path: Path) -> None:
    for name, key in (("fuzz_0", 0), ("fuzz_0", "conditional"), ("xfb_tris", "stream 0")):
        found = run(make_job(name, "sfn", tmp_path), "golden", 16)
        assert judge(name, found) == ""
        array = found.outputs[key]
        at = tuple(np.argwhere(array != array.flat[0])[0])
        array[at] += 1
        assert judge(name, found)


def test_what_is_marked_as_compiled_wrongly_is_wrong(tmp_path: Path) -> None:
    marked = [
        (name, compiler) for name in ("gs_instances", "gs_variable") for compiler in document(name)["miscompiled"]
    ]
    assert len(marked) == 4
    for name, compiler in marked:
        assert judge(name, run(make_job(name, compiler, tmp_path), "golden", 16))
