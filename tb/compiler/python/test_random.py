"""Random kernels give on cores what they give in plain Python."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.compiler import KernelError
from ctm.sim.runtime import Device
from ctm.tb.compiler.python.modules import module
from ctm.tb.compiler.python.random_kernels import PRELUDE, SIZE, RandomPythonKernel, picture

_BATCH = 30
_REASONS = (
    "512 instructions", "loops deeper than 4", "too long", "registers",
    "LLVM's back end for the R700 cannot compile this",
)  # fmt: skip
"""What a core or LLVM cannot do; each is a sentence that a user sees."""


def run(seeds: range, folder: Path, isa: str, engine: str = "golden") -> Counter[str]:
    """Compare random kernels; how often each thing happened: "right", or a refusal by its sentence."""
    texts = [RandomPythonKernel(seed, bits=isa == "r700").text(f"k{seed}") for seed in seeds]
    kernels = module(folder, PRELUDE + "".join(texts))
    device = Device(engine, PRESETS[DEFAULT_PRESETS[isa]], watchdog=1 << 16)
    found: Counter[str] = Counter()
    for seed in seeds:
        launch = getattr(kernels, f"k{seed}")[SIZE, SIZE]
        arguments = picture(), 1.375, [5, -3]
        try:
            results = launch(*arguments, device=device)
        except KernelError as error:
            assert re.match(rf"{folder}/kernels\.py:\d+: ", str(error)), error
            reasons = [reason for reason in _REASONS if reason in str(error)]
            assert reasons, f"seed {seed}: {error}"
            found[reasons[0]] += 1
            continue
        for number, (one, other) in enumerate(zip(results, launch.in_python(*arguments), strict=True)):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other), f"seed {seed}, output {number}"
        found["right"] += 1
    return found


@pytest.mark.parametrize(("isa", "first"), [("r700", 0), ("r5xx", 1000)])
def test_a_few(tmp_path: Path, isa: str, first: int) -> None:
    """Of what they are made; there are more kernels in `test_constructs`."""
    assert run(range(first, first + 2), tmp_path, isa)["right"] == 2


@pytest.mark.parametrize(("isa", "seed"), [("r700", 175), ("r5xx", 1155)])
def test_what_was_wrong_once(tmp_path: Path, isa: str, seed: int) -> None:
    """An instruction among control flow that looks like a NOP; -1 - x, of which LLVM makes ~x."""
    assert run(range(seed, seed + 1), tmp_path, isa)["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 180, _BATCH))
@pytest.mark.parametrize(("isa", "offset"), [("r700", 0), ("r5xx", 1000)])
def test_many(tmp_path: Path, isa: str, offset: int, first: int) -> None:
    found = run(range(offset + first, offset + first + _BATCH), tmp_path, isa)
    assert found["right"] >= 0.8 * _BATCH, found
