"""The examples by name, each with its reference."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from examples.bitonic import reference as bitonic
from examples.blackscholes import reference as blackscholes
from examples.blur import reference as blur
from examples.early_out import reference as early_out
from examples.mandelbrot import reference as mandelbrot
from examples.matmul import reference as matmul
from examples.nbody import reference as nbody
from examples.saxpy import reference as saxpy
from examples.transpose import reference as transpose

FOLDER = Path(__file__).parent

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
