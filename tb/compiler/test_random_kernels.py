"""Random kernels give on R700 cores what the same C gives on the host, or are unsupported for a listed reason."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctm.tb.compiler import core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.host import Launch, Library, Results
from ctm.tb.compiler.outcomes import R700_REASONS, outcomes
from ctm.tb.compiler.random_kernels import PRELUDE, RandomKernel

_BATCH = 50


def run(seeds: range, folder: Path, *, arrays: bool) -> Counter[str]:
    """Compare kernels; how often each thing happened: "right", or a refusal by its sentence."""
    texts = {f"k{seed}": RandomKernel(seed, arrays=arrays).text(f"k{seed}") for seed in seeds}
    host = Library([PRELUDE + "".join(texts.values())], folder)

    def wrong(program: Any, where: Launch, expected: Results) -> int:
        return differences(core.run(program, where), expected, bits=(0,))

    return outcomes(texts, host, isa="r700", reasons=R700_REASONS, wrong=wrong)


@pytest.mark.slow
@pytest.mark.parametrize("arrays", [False, True])
def test_a_few(tmp_path: Path, arrays: bool) -> None:
    found = run(range(6), tmp_path, arrays=arrays)
    assert found["right"] >= 5, found


@pytest.mark.parametrize("seed", [11153, 11204])
def test_what_was_wrong_once(tmp_path: Path, seed: int) -> None:
    """A sum of products of numbers, and one of two elements of an array."""
    assert run(range(seed, seed + 1), tmp_path, arrays=True)["right"] == 1


@pytest.mark.long
@pytest.mark.parametrize("first", range(10_000, 12_000, _BATCH))
def test_many(tmp_path: Path, first: int) -> None:
    """Half of them have arrays."""
    found = run(range(first, first + _BATCH), tmp_path, arrays=bool(first // _BATCH % 2))
    assert found["right"] >= _BATCH - 4, found
