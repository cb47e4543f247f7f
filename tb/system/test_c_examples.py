"""Examples in C: the results of the hand-written programs beside them, whatever the size of a wavefront."""

import shutil
from pathlib import Path

import pytest

from ctm.examples.catalogue import FOLDER, R700_REFERENCES, REFERENCES, job
from ctm.sim.compiler import compile_kernel
from ctm.sim.elf import write
from ctm.sim.jobs.loading import load_job
from ctm.tb.system.example_runs import assert_holds, outputs, run

ALL = {**REFERENCES, **R700_REFERENCES}
IN_C = ("blackscholes", "blur", "nbody", "r700/mandelbrot", "r700/matmul", "r700/sha256")

FLOATS = ("blackscholes", "blur", "nbody")


def test_all_sources_are_of_examples_that_are_tried() -> None:
    found = {str(path.parent.relative_to(FOLDER)) for path in FOLDER.rglob("*_c.toml")}
    assert found == set(IN_C)


def holds(name: str, *, engine: str, group: int | None = None) -> None:
    path = job(name)
    loaded = load_job(path.with_name(f"{path.stem}_c.toml"))
    assert not loaded.warnings
    found = outputs(loaded, run(loaded, group=group, engine=engine))
    assert_holds(found, ALL[name].expected(ALL[name].inputs()))


@pytest.mark.parametrize("name", IN_C)
def test_result_is_that_of_numpy(name: str) -> None:
    holds(name, engine="fast")


@pytest.mark.parametrize("name", FLOATS)
def test_result_on_r5xx_cores_is_that_of_numpy(name: str, tmp_path: Path) -> None:
    """Through an executable, which brings the kernel's numbers along."""
    folder = tmp_path / name
    shutil.copytree(FOLDER / name, folder)
    compiled = compile_kernel(folder / f"{name}.c", isa="r5xx")
    (folder / "kernel.elf").write_bytes(write(compiled.executable))
    text = (folder / f"{name}_c.toml").read_text().replace(f'"{name}.c"', '"kernel.elf"')
    (folder / "job.toml").write_text(text)
    loaded = load_job(folder / "job.toml")
    assert loaded.kinds[0] == "r5xx"
    assert_holds(outputs(loaded, run(loaded, engine="fast")), ALL[name].expected(ALL[name].inputs()))


@pytest.mark.long
@pytest.mark.parametrize("name", IN_C)
def test_result_is_that_of_numpy_for_every_wavefront_and_without_hazards(name: str) -> None:
    for size in (4, 16, 64):
        holds(name, engine="golden", group=size)
