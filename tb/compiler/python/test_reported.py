"""Kernels that others wrote and that were silently wrong, or rejected without a reason, are what they are in Python."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import KernelError
from ctm.sim.runtime import Device
from ctm.tb.compiler.python.agreement import ENGINES, ISAS, device
from ctm.tb.compiler.python.modules import HEAD, module

KERNELS = {
    "outside": "a = p.x - 8\n    return 1 if a < 0 or a >= 5 else 0",
    "branch": "a = p.x - 8\n    if a < -2 or a > 3:\n        return a * 3\n    return a - 5",
    "negated": "a = p.x - 8\n    return 1 if not 2 < a <= 10 else 0",
    "neither": "a = p.x\n    return 1 if a != 3 and a != 4 else 0",
    "loop": "a, n = p.x - 8, 0\n    while (a < -2 or a > 3) and n < 20:\n        a += 1\n        n += 1\n    return n",
    "inside": "a = p.x - 8\n    return 1 if 0 <= a < 5 else 0",
    "choose": "return -1 if p.x > 5 else 0",
    "not_found": "at = -1\n    if p.x > 5:\n        at = 0\n    return at",
    "negative": "return -(p.x > 5) * 0.5",
    "less_one": "return (p.x > 5) - 1",
    "doubled": "return p.x * 2 if p.x > 5 else p.x",
    "sign_of": "x = p.x - 4\n    return (x > 0) - (x < 0)",
    "first_two": "a = p.x - 4\n    return 5 if a == 0 or a == 1 else 7",
    "factor": "return (8 if p.x != 3 else 2) * (p.x - p.y)",
    "differs": "x = texel(image, p).x\n    return 1 if x < 1 or x > 1 else 0",
    "is_near": "x = texel(image, p).x\n    return 1 if not (x < 1 or x > 1) else 0",
    "finite": "x = texel(image, p).x\n    return 1 if abs(x) < math.inf else 0",
    "rounded": "x = texel(image, p).x\n    return floor(x), ceil(x), trunc(x)",
    "least": "x = texel(image, p).x\n    return min(x, 1.0), min(1.0, x), max(x, 1.0), clamp(x, 0.0, 1.0)",
}
OF_BITS = {
    "squares": "x = p.x * 12345\n    return (x * x) & 0x7FFFFFFF",
    "generator": "s = p.x + 1\n    s = (s * 1103515245 + 12345) & 0x7FFFFFFF\n"
    "    return (s * 1103515245 + 12345) & 0x7FFFFFFF",
    "crc": "c = uint(p.x * 77777777)\n    for _ in range(8):\n"
    "        c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1\n    return c",
}
IMAGE = np.array([[0, 1, 2, np.nan, np.inf, -np.inf, 2.5, -0.5]], np.float32)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> object:
    texts = (
        f"\n\n@ctm.kernel\ndef {name}(p: ivec2, image: Image):\n    {body}\n"
        for name, body in {**KERNELS, **OF_BITS}.items()
    )
    return module(tmp_path_factory.mktemp("kernels"), HEAD + "".join(texts))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("name", [*KERNELS, *OF_BITS])
def test_a_kernel_is_what_it_is_in_python(kernels: object, name: str, isa: str) -> None:
    if isa == "r5xx" and name in OF_BITS:
        pytest.skip("whole numbers of R5xx cores have no such bits")
    launch = getattr(kernels, name)[len(IMAGE[0]) if "image" in KERNELS.get(name, "") else 16, 1]
    expected = launch.in_python(IMAGE)
    for engine in ENGINES:
        found = launch(IMAGE, device=device(isa, engine))
        for one, other in zip(
            *(each if isinstance(each, tuple) else (each,) for each in (found, expected)), strict=True
        ):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other, equal_nan=True), (engine, one, other)


@pytest.mark.parametrize("name", OF_BITS)
def test_numbers_that_r5xx_cores_cannot_hold_are_errors(kernels: object, name: str) -> None:
    with pytest.raises(KernelError, match="R5xx cores hold whole numbers as floats"):
        getattr(kernels, name)[1, 1](IMAGE, device=device("r5xx", "golden"))


def test_a_loop_runs_all_of_its_rounds(tmp_path: Path) -> None:
    """R5xx cores have loops of 255 rounds: three of them, one in the other, make 70,000."""
    text = (
        "{}\n\n@ctm.kernel\ndef {}(p: ivec2):\n    s = 0\n    for i in range({}):\n        s += i % 2\n    return s\n"
    )
    counted = module(tmp_path, text.format(HEAD, "counted", 70000), "counted").counted
    assert counted[1, 1](device=Device("fast")).tolist() == [[35000]]
    endless = module(tmp_path, text.format(HEAD, "endless", 20_000_000), "endless").endless
    with pytest.raises(KernelError, match="a loop of 20000000 rounds: R5xx cores can have 16581375 here"):
        endless.program("r5xx")


def test_a_loop_with_two_ends_runs_all_of_its_rounds(tmp_path: Path) -> None:
    """Rounds that are left out, and as many rounds as two loops have."""
    text = """
@ctm.kernel
def k(p: ivec2):
    n = i = 0
    while i < 70000:
        i += 1
        if i == p.x:
            continue
        n += 1
    for j in range(65025):
        if j == 70000 + p.x:
            return n, j
    return n, -1
"""
    found = module(tmp_path, HEAD + text).k[2, 1](device=Device("fast"))
    assert [each.tolist() for each in found] == [[[70000, 69999]], [[-1, -1]]]
