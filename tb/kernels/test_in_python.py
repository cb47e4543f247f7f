"""Kernels in plain Python give arrays of the types, and of the values as far as they are exact, that devices give."""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ctm.tb.compiler.python.modules import HEAD, module

BODIES = {
    "the larger of a whole number and a float": "return max(0, x / 4 - 1)",
    "a whole number or a float": "return 0 if x < 4 else x / 8",
    "a float or a whole number": "return x / 8 if x < 4 else 1",
    "truth": "return x > 3",
    "truth or a float": "return True if x > 3 else 0.5",
    "a whole number": "return i - 3",
    "one without sign": "return uint(i) * 3",
    "a tuple": "return (0 if i == 0 else 1.5), i, x > 2, vec2(x, 0.25)",
    "a tuple of one": "return (0 if i == 0 else 1.5,)",
    "vectors": "return vec3(0, 0, 0) if i == 0 else vec3(0.5, 1.5, x)",
    "whole vectors": "return ivec2(i, -1)",
    "some dropped": "if i < 3:\n        discard()\n    return x / 8, ivec3(i, 1, 2)",
    "all dropped": "if i < 100:\n        discard()\n    return vec2(x, 0.5), i",
}


def made(folder: Path, body: str) -> ModuleType:
    text = f"@ctm.kernel\ndef k(pixel: ivec2):\n    i = pixel.x\n    x = float(i)\n    {body}\n"
    return module(folder, f"{HEAD}\n{text}")


@pytest.mark.parametrize("isa", ["r700", "r5xx"])
@pytest.mark.parametrize("what", BODIES)
def test_types_and_values_are_those_of_a_device(tmp_path: Path, what: str, isa: str) -> None:
    launch = made(tmp_path, BODIES[what]).k[8, 2]
    found, expected = launch.in_python(), launch(isa=isa)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for one, other in pairs:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one, other)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("isa", ["r700", "r5xx"])
def test_an_undefined_number_is_some_number_without_a_warning(tmp_path: Path, isa: str) -> None:
    found = made(tmp_path, "return i // (i - i)").k[8, 2](isa=isa)
    assert (found.dtype, found.shape) == (np.dtype(np.int32), (2, 8))


def test_numbers_are_rounded_as_they_are_given_to_a_device(tmp_path: Path) -> None:
    text = "@ctm.kernel\ndef k(pixel: ivec2, a: float, p: Image):\n    return a, texel(p, pixel).x * 3\n"
    kernel = module(tmp_path, f"{HEAD}\n{text}").k
    given = 0.1, np.full((1, 1), 0.1, ">f8")
    found, expected = kernel[1, 1].in_python(*given), kernel[1, 1](*given)
    assert found[0][0, 0] == expected[0][0, 0] == np.float32(0.1)
    assert found[1][0, 0] == expected[1][0, 0]


def test_floats_beyond_the_largest_are_infinite_without_a_warning(tmp_path: Path) -> None:
    found = made(tmp_path, "return 1e30 * 1e30 * (x + 1)").k[2, 1].in_python()
    assert np.isinf(found).all()


def test_a_whole_number_of_more_than_32_bits_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OverflowError, match=r"pixel \(1, 0\) gives 4294967296, which is no int of 32 bits"):
        made(tmp_path, "return (i << 16) * 65536").k[2, 1].in_python()


def test_a_kernel_that_is_looked_at_has_the_types_of_all_its_pixels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints, which no core can."""
    body = "print(i)\n    if i == 3:\n        discard()\n    return (0 if i == 0 else 1.5), i, i > 1, vec2(i, 0.5)"
    found = made(tmp_path, body).k[4, 1].in_python()
    assert capsys.readouterr().out.split() == ["0", "1", "2", "3"]
    assert [each.dtype for each in found] == ["f4", "i4", "?", "f4"]
    assert np.array_equal(found[0], [[0, 1.5, 1.5, 0]])
    assert np.array_equal(found[1], [[0, 1, 2, 0]])
    assert np.array_equal(found[2], [[False, False, True, False]])
    assert np.array_equal(found[3], [[[0, 0.5], [1, 0.5], [2, 0.5], [0, 0.0]]])


def test_one_that_drops_all_pixels_is_zero(tmp_path: Path) -> None:
    found = made(tmp_path, "print(i)\n    discard()\n    return 1").k[2, 1].in_python()
    assert (found.dtype, found.tolist()) == (np.float32, [[0, 0]])
