"""Random kernels of what compilers get wrong elsewhere give on every core and engine what the host gives."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.sim.fault import MachineError
from ctm.tb.compiler import core, device_core
from ctm.tb.compiler.comparison import differences
from ctm.tb.compiler.construct_kernels import PRELUDE, ConstructKernel, launch
from ctm.tb.compiler.host import Library
from ctm.tb.compiler.mistakes import MISTAKES
from ctm.tb.compiler.tally import Tally
from ctm.tb.lib.some import fewer, only

ISAS = ("r5xx", "r700")
_REASONS = (
    "512 instructions", "loops deeper than 4", "too long", "more than 128 registers",
    "its loops and conditions are too entangled", "more registers than there are",
)  # fmt: skip
"""What a core or LLVM cannot do; each is a sentence that a user sees."""
_LIMIT = 500
"""Within so many kernels a mistake of the compiler is found."""


def run(seeds: Sequence[int], folder: Path, isa: str, engines: Sequence[str] = ("golden", "fast")) -> Tally:
    """Compare kernels; AssertionError at the first that is wrong, or unsupported for a reason that is not listed."""
    kernels = {f"k{seed}": ConstructKernel(seed, is_whole=isa == "r700") for seed in seeds}
    texts = {name: kernel.text(name) for name, kernel in kernels.items()}
    host, where, tally = Library([PRELUDE + "".join(texts.values())], folder), launch(), Tally()
    for name, text in texts.items():
        try:
            program = compile_kernel(Source(PRELUDE + text, "k.c"), isa=isa).executable
        except KernelError as error:
            assert re.match(r"k\.c:\d+", str(error)), error
            assert any(reason in str(error) for reason in _REASONS), f"{name}: {error}"
            tally.add(kernels[name].constructs, is_right=False)
            continue
        expected = host.run(name, where, core.UNTOUCHED)
        for engine in engines:
            assert differences(device_core.run(program, where, engine=engine), expected) == 0, (name, engine, text)
        tally.add(kernels[name].constructs, is_right=True)
    return tally


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("first", only(range(0, 200, 25), (0,)))
def test_a_few(tmp_path: Path, isa: str, first: int) -> None:
    assert run(range(first, first + fewer(25)), tmp_path, isa, ["golden"]).right >= fewer(25) - 2


@pytest.mark.slow
@pytest.mark.parametrize("isa", ISAS)
def test_a_few_that_are_compiled_for_the_computer(tmp_path: Path, isa: str) -> None:
    assert run(range(500, 505), tmp_path, isa, ["fast"]).right >= 4


@pytest.mark.long
@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("first", range(1000, 4000, 500))
def test_many(tmp_path: Path, isa: str, first: int) -> None:
    run(range(first, first + 500), tmp_path, isa).check()


@pytest.mark.long
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_the_compiler_are_found(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    isa, plant = MISTAKES[name]
    plant(monkeypatch)
    with pytest.raises((AssertionError, MachineError)):
        run(range(_LIMIT), tmp_path, isa, ["golden"])
