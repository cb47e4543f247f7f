"""The kernels of tb/data/kernels: what each runs on, and how exact it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctm.tb.compiler.host import Launch

FOLDER = Path(__file__).parents[1] / "data" / "kernels"

_Plane = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def _between(low: float, high: float) -> _Plane:
    return lambda generator, shape: generator.uniform(low, high, (*shape, 4))


def _whole(low: int, high: int) -> _Plane:
    return lambda generator, shape: generator.integers(low, high, (*shape, 4)).astype(float)


@dataclass(frozen=True, kw_only=True)
class Case:
    """The domain [height, width], inputs, float constants, dwords of memory; tolerance, relative above 1.

    `bits` are the outputs that hold integers: their words are compared.
    """

    shape: tuple[int, int] = (16, 16)
    inputs: Mapping[int, _Plane] = field(default_factory=dict)
    constants: tuple[tuple[float, ...], ...] = ((0, 0, 0, 0),)
    tolerance: float = 0.0
    bits: tuple[int, ...] = ()
    dwords: int = 0

    def launch(self) -> Launch:
        """With inputs that are the same each time."""
        generator = np.random.default_rng(1)
        inputs = {number: plane(generator, self.shape).astype(np.float32) for number, plane in self.inputs.items()}
        height, width = self.shape
        constants = np.array(self.constants, np.float32).view(np.uint32)
        return Launch(width=width, height=height, inputs=inputs, constants=constants, dwords=self.dwords)


CASES: Mapping[str, Case] = {
    "saxpy": Case(inputs={0: _between(-5, 5), 1: _between(-9, 9)}, constants=((2.5, 0, 0, 0),)),
    "mandelbrot": Case(shape=(32, 32)),
    "blackscholes": Case(inputs={0: _between(0.1, 80)}, constants=((0.05, 0, 0, 0),), tolerance=2e-4),
    "nbody": Case(shape=(1, 64), inputs={0: _between(0.1, 4)}, constants=((0.01, 0.001, 64, 0),), tolerance=1e-5),
    "matmul": Case(inputs={0: _between(0, 1), 1: _between(0, 1)}),
    "sobel": Case(shape=(24, 24), inputs={0: _between(-1, 1)}, tolerance=1e-6),
    "sobel_unrolled": Case(shape=(24, 24), inputs={0: _between(-1, 1)}, tolerance=1e-6),
    "exits": Case(shape=(24, 24), inputs={0: _between(-1, 1)}),
    "hash": Case(shape=(32, 32), bits=(0,)),
    "gcd": Case(shape=(32, 32), bits=(0,)),
    "collatz": Case(shape=(16, 32), bits=(0,)),
    "prefix": Case(shape=(8, 32), inputs={0: _whole(0, 10)}),
    "sort4": Case(inputs={0: _between(-1, 1)}),
    "bits": Case(shape=(32, 32), bits=(0, 1)),
    "divisions": Case(shape=(32, 32), bits=(0, 1)),
    "rotations": Case(shape=(32, 32), bits=(0,)),
    "functions": Case(shape=(32, 32), tolerance=1e-5),
    "scatter": Case(inputs={0: _between(-1, 1)}, dwords=512),
    "local": Case(inputs={0: _between(-1, 1)}, bits=(1,)),
}
"""By the names of files and kernels."""
