"""Examples in C and Python: the results of the hand-written programs beside them, whatever the size of a wavefront."""

import importlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.examples.catalogue import FOLDER, R700_REFERENCES, REFERENCES, job
from ctm.sim.compiler import compile_kernel
from ctm.sim.elf import write
from ctm.sim.jobs.loading import load_job
from ctm.tb.system.example_runs import assert_holds, outputs, run

ALL = {**REFERENCES, **R700_REFERENCES}
KERNELS = ("blackscholes", "blur", "mandelbrot", "nbody", "r700/mandelbrot", "r700/matmul", "r700/sha256")
FLOATS = ("blackscholes", "blur", "nbody")
LANGUAGES = ("c", "py")


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_sources_are_of_examples_that_are_tried(language: str) -> None:
    found = {str(path.parent.relative_to(FOLDER)) for path in FOLDER.rglob(f"*_{language}.toml")}
    assert found == set(KERNELS)


def holds(name: str, language: str, *, engine: str, group: int | None = None) -> None:
    path = job(name)
    loaded = load_job(path.with_name(f"{path.stem}_{language}.toml"))
    assert not loaded.warnings
    found = outputs(loaded, run(loaded, group=group, engine=engine))
    assert_holds(found, ALL[name].expected(ALL[name].inputs()))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", KERNELS)
def test_result_is_that_of_numpy(name: str, language: str) -> None:
    holds(name, language, engine="fast")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FLOATS)
def test_result_on_device_cores_is_that_of_numpy(name: str, language: str, tmp_path: Path) -> None:
    """Through an executable, which brings the kernel's numbers along."""
    folder = tmp_path / name
    shutil.copytree(FOLDER / name, folder)
    compiled = compile_kernel(folder / f"{name}.{language}", isa="r5xx")
    (folder / "kernel.elf").write_bytes(write(compiled.executable))
    text = (folder / f"{name}_{language}.toml").read_text().replace(f'"{name}.{language}"', '"kernel.elf"')
    (folder / "job.toml").write_text(text)
    loaded = load_job(folder / "job.toml")
    assert loaded.kinds[0] == "r5xx"
    assert_holds(outputs(loaded, run(loaded, engine="fast")), ALL[name].expected(ALL[name].inputs()))


@pytest.mark.slow
def test_they_are_called_with_arrays_and_as_plain_python() -> None:
    """Small sections of their domains, as plain Python is slow."""
    calls: dict[str, tuple[tuple[int, int], list[Any]]] = {
        "blackscholes": ((4, 3), ["options.npy", 0.03]),
        "nbody": ((2, 2), ["positions.npy", "velocities.npy", 0.05, 0.1, 16.0, 16.0]),
        "blur": ((5, 4), ["picture.npy"]),
        "mandelbrot": ((3, 3), [(0.25, 0.25, -1.0, -0.5)]),
        "r700/mandelbrot": ((3, 3), [(0.25, 0.25, -1.0, -0.5)]),
        "r700/matmul": ((1, 2), ["a.npy", "b.npy", 32.0]),
        "r700/sha256": ((2, 2), ["blocks.npy", np.array(ALL["r700/sha256"].ROUND_CONSTANTS).reshape(-1, 4)]),
    }
    for name, (size, given) in calls.items():
        arrays = ALL[name].inputs()
        arguments = [arrays[each] if isinstance(each, str) else each for each in given]
        if name == "r700/sha256":
            arguments[0] = arguments[0].view(np.uint32)
        stem = Path(name).name
        kernel = getattr(importlib.import_module(f"ctm.examples.{name.replace('/', '.')}.{stem}"), stem)
        found, expected = kernel[size](*arguments), kernel[size].in_python(*arguments)
        for one, other in zip(
            *((each if isinstance(each, tuple) else (each,)) for each in (found, expected)), strict=True
        ):
            assert one.dtype == other.dtype
            assert np.allclose(one, other, rtol=1e-4, atol=1e-4), name


@pytest.mark.long
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", KERNELS)
def test_result_is_that_of_numpy_for_every_wavefront_and_without_hazards(name: str, language: str) -> None:
    for size in (4, 16, 64):
        holds(name, language, engine="golden", group=size)
