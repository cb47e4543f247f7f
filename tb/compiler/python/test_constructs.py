"""Random kernels of what translations get wrong give on every core and engine what they give in plain Python."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.sim.compiler import KernelError, compile_translation
from ctm.sim.fault import MachineError
from ctm.tb.compiler.python.agreement import ISAS, device
from ctm.tb.compiler.python.construct_file import HEIGHT, WIDTH, file, images
from ctm.tb.compiler.python.construct_kernels import ConstructKernel
from ctm.tb.compiler.python.mistakes import MISTAKES
from ctm.tb.compiler.python.modules import module
from ctm.tb.compiler.tally import Tally
from ctm.tb.lib.some import fewer, only

Arrays = tuple[np.ndarray[Any, Any], ...]
_REASONS = (
    "512 instructions", "loops deeper than 4", "too long", "more than 128 registers",
    "its loops and conditions are too entangled", "more registers than there are", "LLVM's back end fails at arrays",
)  # fmt: skip
"""What a core or LLVM cannot do; each is a sentence that a user sees."""
_TOLERANCE = 2e-5
"""Of powers, the last result of all."""
_LIMIT = 500
"""Within so many kernels a mistake of the translation is found."""
_IN_A_FILE = 20
_QUICK = (
    "an int is compared as a uint", "arguments have names of users", "results in plain Python are cut", "a truth is -1",
)  # fmt: skip
"""Those that are found within the first few."""


def outcomes(seeds: Sequence[int], folder: Path, isa: str, engines: Sequence[str]) -> Iterator[tuple[set[str], bool]]:
    """Compare kernels: of each its constructs, and whether it is right.

    AssertionError at one that is wrong, or unsupported for a reason that is not listed.
    """
    is_whole = isa == "r700"
    kernels = {f"k{seed}": ConstructKernel(seed, is_whole=is_whole) for seed in seeds}
    texts = {name: kernel.text(name) for name, kernel in kernels.items()}
    names, given = module(folder, file(texts.values(), is_whole=is_whole)), images()
    for name, text in texts.items():
        kernel = getattr(names, name)
        try:
            # These are not kept in a user's own cache.
            kernel._programs[isa] = compile_translation(kernel._translation, isa=isa).executable
        except KernelError as error:
            assert re.match(rf"{folder}/kernels\.py:\d+: ", str(error)), error
            assert any(reason in str(error) for reason in _REASONS), f"{name}: {error}\n{text}"
            yield kernels[name].constructs, False
            continue
        launch = kernel[WIDTH, HEIGHT]
        expected = launch.in_python(*given)
        for engine in engines:
            found = launch(*given, device=device(isa, engine))
            assert not differences(found, expected), f"{name} on {engine}: {differences(found, expected)}\n{text}"
        yield kernels[name].constructs, True


def differences(found: Arrays, expected: Arrays) -> list[str]:
    """The results that differ, with the first pixel and what it holds."""
    tolerances = [0.0] * (len(expected) - 1) + [_TOLERANCE]
    texts = []
    for number, (one, other, tolerance) in enumerate(zip(found, expected, tolerances, strict=True)):
        assert one.dtype == other.dtype
        is_wrong = ~np.isclose(one, other, rtol=tolerance, atol=tolerance / 1e6, equal_nan=True)
        if is_wrong.any():
            j, i = np.argwhere(is_wrong)[0][:2]
            texts.append(f"result {number} at ({i}, {j}) is {one[j, i]}, in Python {other[j, i]}")
    return texts


def run(seeds: Sequence[int], folder: Path, isa: str, engines: Sequence[str]) -> Tally:
    """What became of these kernels; AssertionError as `outcomes`."""
    tally = Tally()
    for constructs, is_right in outcomes(seeds, folder, isa, engines):
        tally.add(constructs, is_right=is_right)
    return tally


def found_within(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """How many kernels find a mistake of the translation; None if so many do not."""
    isa, plant = MISTAKES[name]
    plant(monkeypatch)
    count = 0
    for first in range(0, _LIMIT, _IN_A_FILE):
        try:
            for _ in outcomes(range(first, first + _IN_A_FILE), folder, isa, ["golden"]):
                count += 1
        except (AssertionError, MachineError):
            return count + 1
    return None


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("first", only(range(0, 150, 25), (0,)))
def test_a_few(tmp_path: Path, isa: str, first: int) -> None:
    assert run(range(first, first + fewer(25)), tmp_path, isa, ["golden"]).right >= fewer(25) - 2


@pytest.mark.slow
@pytest.mark.parametrize("isa", ISAS)
def test_a_few_that_are_compiled_again(tmp_path: Path, isa: str) -> None:
    assert run(range(150, 154), tmp_path, isa, ["fast"]).right >= 3


@pytest.mark.long
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("first", range(1000, 6000, 500))
def test_many(tmp_path: Path, isa: str, first: int) -> None:
    run(range(first, first + 500), tmp_path, isa, ["golden", "fast"]).check()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in _QUICK else pytest.mark.long) for name in MISTAKES]
)
def test_mistakes_of_the_translation_are_found(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_within(name, tmp_path, monkeypatch)
