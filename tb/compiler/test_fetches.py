"""What a kernel looks up follows from its source, where it does."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import kernel_fetches
from ctm.sim.compiler.ranges import elements
from ctm.sim.compiler.source import Source

PIXELS = (100, 131), (50, 57)
"""First and last column, first and last row."""


def found(isa: str, x: str, pixel: str = "vec2", constants: dict[int, tuple[int, ...]] | None = None) -> object:
    """The elements that the coordinate `x` is; None where that is not known."""
    text = f"#include <ctm/kernel.h>\nkernel void look({pixel} pixel) {{ output(0, texel(0, {x}, pixel.y)); }}\n"
    made = kernel_fetches(Source(text, "look.c", Path()), isa=isa, constants=constants or {})
    (fetch,) = made.fetches
    assert fetch.location is not None and fetch.location.line == 2
    assert made.is_whole == (pixel == "ivec2")
    return None if fetch.x is None else elements(fetch.x, *PIXELS)


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("pixel.x", (100, 131)),
        ("pixel.x - 3", (97, 128)),
        ("pixel.y * 2 + pixel.x + 1", (201, 246)),
        ("5.0f", (5, 5)),
        ("max(pixel.x - 110, 0.0f)", (0, 21)),
        ("clamp(pixel.x, 105.0f, 120.0f)", (105, 120)),
        ("constant(0).y + pixel.x", (102, 133)),
        ("constant(1).x + pixel.x", None),
        ("pixel.x * pixel.x * pixel.x", None),
    ],
)
def test_coordinates_are_followed_through_arithmetic(isa: str, x: str, expected: object) -> None:
    assert found(isa, x, constants={0: (0, 0x40000000, 0, 0)}) == expected


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("pixel.x - 2", (98, 129)),
        ("pixel.x * 4 + 3", (403, 527)),
        ("pixel.x << 1", (200, 262)),
        ("min(max(pixel.x - 110, 0), 9)", (0, 9)),
        ("(int)(uint)(pixel.x - 4000)", None),
    ],
)
def test_integers_are_followed_where_they_do_not_wrap(x: str, expected: object) -> None:
    made = found("r700", x, "ivec2")
    assert made == expected or (expected is None and made == (-3900, -3869))


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
def test_fractions_have_a_border_for_rounding(isa: str) -> None:
    bounds = found(isa, "pixel.x * 0.1f")
    assert isinstance(bounds, tuple)
    low, high = bounds
    assert 8 <= low <= 9 and 14 <= high <= 16


@pytest.mark.parametrize("isa", ["r5xx", "r700"])
@pytest.mark.parametrize(
    ("factor", "bias"), [(1 / 128, 12582912.0), (0.001, 1000000.0)], ids=["to blocks", "to thousands"]
)
def test_a_factor_after_a_rounded_sum_makes_its_error_larger(isa: str, factor: float, bias: float) -> None:
    """Adding a large number rounds to whole ones: elements far beyond the pixels' own are looked up."""
    made = found(isa, f"((pixel.x * {factor}f + {bias}f) - {bias}f) * {1 / factor:.1f}f")
    columns = np.arange(PIXELS[0][0], PIXELS[0][1] + 1, dtype=np.float32)
    looked_up = ((columns * np.float32(factor) + np.float32(bias)) - np.float32(bias)) * np.float32(1 / factor)
    assert made is None or made[0] <= looked_up.min() <= looked_up.max() <= made[1]  # type: ignore[index]
