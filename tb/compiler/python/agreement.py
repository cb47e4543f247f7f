"""Kernels whose results are compared with plain Python's, on each engine that a test need not wait for."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.sim.runtime import Device
from ctm.tb.compiler.python.modules import HEAD, module

ISAS = ("r700", "r5xx")
ENGINES = ("golden", "fast")
WIDTH, HEIGHT = 8, 3
PARAMETERS = "pixel: ivec2, f: float, g: int, h: uint"
ARGUMENTS = (2.5, -3, 7)
FIRST = ("i, j = pixel.x, pixel.y", "x, y, n, u = i / 2 - 1, j / 4, i - 4, uint(i)", "inf = f * 1e300 * 1e300")
"""Lines that all kernels here begin with; Python's infinity takes two steps."""


@cache
def device(isa: str, engine: str) -> Device:
    """A device that ends what does not end by itself."""
    return Device(engine, PRESETS[DEFAULT_PRESETS[isa]], watchdog=1 << 16)


def cases(bodies: dict[str, str], always: int) -> list[Any]:
    """Kernels by their names on each instruction set; the first ones always, the others in long tests."""
    return [
        pytest.param(what, isa, marks=[] if number < always else pytest.mark.long)
        for number, what in enumerate(bodies)
        for isa in ISAS
    ]


def kernel(folder: Path, body: str, prelude: str = "") -> Any:
    """The kernel with these lines after the first ones, in a file that begins with a prelude."""
    lines = "".join(f"    {line}\n" for line in (*FIRST, *body.split("\n")))
    return module(folder, f"{HEAD}{prelude}\n\n@ctm.kernel\ndef k({PARAMETERS}):\n{lines}").k


def agree(folder: Path, body: str, isa: str, *, prelude: str = "", tolerance: float = 0.0) -> None:
    """Compare a kernel's results on each engine with those of plain Python."""
    launch = kernel(folder, body, prelude)[WIDTH, HEIGHT]
    expected = launch.in_python(*ARGUMENTS)
    for engine in ENGINES:
        found = launch(*ARGUMENTS, device=device(isa, engine))
        pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
        for number, (one, other) in enumerate(pairs):
            assert one.dtype == other.dtype, number
            assert np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True), (engine, number, one, other)
