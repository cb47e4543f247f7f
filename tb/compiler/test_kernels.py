"""Kernels on R700 cores give what the same C gives on the host."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.elf import Executable
from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library, Results
from ctm.tb.compiler.study import CASES, FOLDER
from ctm.tb.lib.some import some
from ctm.tb.r700.hardware.machine import compare

OBJECTS = Path(__file__).parents[1] / "data" / "r700" / "llvm"
OTHERS = sorted(path.stem for path in (OBJECTS / "c").glob("*.c"))
_UNWRITTEN = -777.0


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """All kernels of tb/data/kernels."""
    assert {path.stem for path in FOLDER.glob("*.c")} == set(CASES)
    return Library([(FOLDER / f"{name}.c").read_text() for name in CASES], tmp_path_factory.mktemp("host"))


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_is_what_it_is_on_the_host(name: str, host: Library) -> None:
    case = CASES[name]
    launch = case.launch()
    compiled = compile_kernel(FOLDER / f"{name}.c")
    assert (compiled.name, compiled.warnings) == (name, ())
    expected = host.run(name, launch, core.UNTOUCHED)
    for wavefront in (4, 16, 64):
        found = core.run(compiled.executable, launch, wavefront=wavefront)
        assert differences(found, expected, tolerance=case.tolerance, bits=case.bits) == 0


def test_all_others_are_there() -> None:
    assert len(OTHERS) == 16


def other(name: str) -> tuple[Executable, Launch]:
    """A kernel for another driver, and what it ran on there."""
    text = (OBJECTS / "c" / f"{name}.c").read_text()
    program = compile_kernel(Source(text, f"{name}.c", FOLDER)).executable
    document = json.loads(next(OBJECTS.glob(f"{name}_llvm*.json")).read_text())
    with np.load(next(OBJECTS.glob(f"{name}_llvm*.npz"))) as arrays:
        inputs = {number: arrays[f"texture{number}"] for number in range(4) if f"texture{number}" in arrays}
    width, height = document["grid"]
    constants = np.zeros((256, 4), np.uint32)
    for row, words in document["constants"].items():
        constants[int(row)] = [int(word, 16) for word in words]
    return program, Launch(width=width, height=height, inputs=inputs, constants=constants)


@pytest.mark.parametrize("name", OTHERS)
def test_a_kernel_for_another_driver_gives_what_it_gave_there(name: str) -> None:
    """By names of functions that stand in one header of tb/data/kernels."""
    program, launch = other(name)
    document = json.loads(next(OBJECTS.glob(f"{name}_llvm*.json")).read_text())
    with np.load(next(OBJECTS.glob(f"{name}_llvm*.npz"))) as arrays:
        expected = arrays["expected"]
    found = core.run(program, launch)
    words = np.full_like(found.outputs, core.UNTOUCHED)
    words[: len(expected)] = np.where(expected == _UNWRITTEN, np.uint32(core.UNTOUCHED), expected.view(np.uint32))
    bits = [number for number, kind in enumerate(document["compare"]) if kind == "bits"]
    wanted = Results(outputs=words, conditional=found.conditional, memory=found.memory)
    assert differences(found, wanted, tolerance=document["relative_tolerance"], bits=bits) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", some([*CASES, *OTHERS], 8))
def test_a_kernel_leaves_in_hardware_what_it_leaves_in_the_golden_model(name: str) -> None:
    program, launch = (
        other(name) if name in OTHERS else (compile_kernel(FOLDER / f"{name}.c").executable, CASES[name].launch())
    )
    assert compare(core.job(program, launch)).error is None
