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


def job(name: str) -> Path:
    """The job of an example."""
    return FOLDER / name / f"{name}.toml"
