"""Names of users meet neither each other, nor those of C or of the translation."""

from pathlib import Path

import numpy as np
import pytest

from ctm.sim.compiler import KernelError
from ctm.sim.compiler.python import in_words_of_python
from ctm.tb.compiler.python.agreement import ISAS, agree, device, kernel
from ctm.tb.compiler.python.modules import HEAD, module

PRELUDE = """
def min(output, constant):
    vec2 = output * 100
    return vec2 + constant


def python_kernel(register, dropped):
    pixel = register
    if pixel > 99:
        discard()
    return pixel + 1, dropped


def t0(r0):
    argument0 = r0 + 1
    return argument0
"""
NAMES = {
    "of the translation": "pixel_ = t0(i)\nt1 = v_t1 = j\nargument1, argument2 = 3, f\n"
    "r0, dropped = python_kernel(i, n)\n"
    "return pixel_ + t1, v_t1 + argument1, argument2, r0 * 10 + dropped",
    "of C": "int_, double, auto, kernel, output, constant, ctm_min = i, j, 1, 2, 3, 4, 5\n"
    "register = typedef = volatile = n\n"
    "return int_ + double + auto, kernel * output, constant + ctm_min, min(register + typedef, volatile)",
    "beyond ASCII": "\u00e91 = i\n\u0e91 = j\ne9 = 3\n_e9_ = 4\na_b = 1\na_5f_b = 2\n\u00fc = x\n"
    "return \u00e91, \u0e91, e9 + 10 * _e9_ + 100 * a_b + 1000 * a_5f_b, \u00fc",
}  # fmt: skip
PARAMETERS = f"""{HEAD}
@ctm.kernel
def main(coordinate: vec2, argument1: float, kernel: Image, v_pixel: int, t0: list[float], argument0: float):
    pixel = texel(kernel, coordinate).x
    argument2 = argument0 * 2
    return pixel + argument1, argument2 + v_pixel, t0[1]
"""
LIVE = f"""{HEAD}
FACTOR = 2


def times(x, factor=FACTOR):
    return x * factor


FACTOR = 3


@ctm.kernel
def k(pixel: ivec2):
    return times(pixel.x), FACTOR
"""


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("what", NAMES)
def test_any_name_may_be_taken(what: str, isa: str, tmp_path: Path) -> None:
    agree(tmp_path, NAMES[what], isa, prelude=PRELUDE)


@pytest.mark.parametrize("isa", ISAS)
def test_parameters_may_have_names_of_the_translation(isa: str, tmp_path: Path) -> None:
    launch = module(tmp_path, PARAMETERS).main[4, 1]
    given = (1.5, np.arange(4.0)[None], 3, [1, 2], 0.5)
    for one, other in zip(launch(*given, device=device(isa, "fast")), launch.in_python(*given), strict=True):
        assert np.array_equal(one, other)


def test_default_values_are_those_of_the_definition(tmp_path: Path) -> None:
    launch = module(tmp_path, LIVE).k[4, 1]
    for one, other in zip(launch(device=device("r700", "fast")), launch.in_python(), strict=True):
        assert np.array_equal(one, other)


def test_a_long_table_is_rejected_by_its_name(tmp_path: Path) -> None:
    body = "s = 0.0\nfor k in range(40):\n    s += WEIGHTS[k] * x\nreturn s"
    text = f"WEIGHTS = ({', '.join(map(str, range(40)))})"
    with pytest.raises(KernelError, match=r"\.py:\d+: the table WEIGHTS is read with a computed index"):
        kernel(tmp_path, body, text).program("r5xx")


def test_messages_speak_python() -> None:
    said = in_words_of_python("an array with a computed index: R5xx cores cannot; #pragma unroll makes indices known")
    assert said == "a list with a computed index: R5xx cores cannot; a loop over unroll(range(...)) makes indices known"
    assert in_words_of_python("loops deeper than 4") == "loops deeper than 4"
