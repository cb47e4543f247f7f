"""The examples by name, each with its reference."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from ctm.examples.bitonic import reference as bitonic
from ctm.examples.blackscholes import reference as blackscholes
from ctm.examples.blur import reference as blur
from ctm.examples.early_out import reference as early_out
from ctm.examples.mandelbrot import reference as mandelbrot
from ctm.examples.matmul import reference as matmul
from ctm.examples.nbody import reference as nbody
from ctm.examples.r700.bitonic import reference as r700_bitonic
from ctm.examples.r700.compaction import reference as r700_compaction
from ctm.examples.r700.mandelbrot import reference as r700_mandelbrot
from ctm.examples.r700.matmul import reference as r700_matmul
from ctm.examples.r700.reduction import reference as r700_reduction
from ctm.examples.r700.saxpy import reference as r700_saxpy
from ctm.examples.r700.sha256 import reference as r700_sha256
from ctm.examples.saxpy import reference as saxpy
from ctm.examples.transpose import reference as transpose

FOLDER = Path(__file__).resolve().parent

REFERENCES: Mapping[str, ModuleType] = {
    "saxpy": saxpy,
    "matmul": matmul,
    "mandelbrot": mandelbrot,
    "blur": blur,
    "bitonic": bitonic,
    "nbody": nbody,
    "blackscholes": blackscholes,
    "early_out": early_out,
    "transpose": transpose,
}
"""Each has `inputs()`, arrays by file, and `expected(inputs)`, an `Expectation` by output file."""

R700_REFERENCES: Mapping[str, ModuleType] = {
    "r700/saxpy": r700_saxpy,
    "r700/matmul": r700_matmul,
    "r700/mandelbrot": r700_mandelbrot,
    "r700/sha256": r700_sha256,
    "r700/bitonic": r700_bitonic,
    "r700/compaction": r700_compaction,
    "r700/reduction": r700_reduction,
}
"""The same of those for R700 cores."""


def job(name: str) -> Path:
    """The job of an example."""
    return FOLDER / name / f"{Path(name).name}.toml"
