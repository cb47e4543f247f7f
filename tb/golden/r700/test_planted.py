"""The operands of the tests tell the operations from those that they are easily mistaken for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ctm.sim.golden import fp
from ctm.sim.golden.r700.formulas import INDICES, PREDICATES, REDUCTIONS, VALUES
from ctm.tb.golden.r700 import operations
from ctm.tb.golden.r700.operands import OPERANDS, slots
from ctm.tb.lib.words import bits, check, floats


def signed(x):
    return x.view(np.int32)


def unsigned(x):
    return x.view(np.uint32)


def flushed(*operands):
    return [fp.flush_denormals(x) for x in operands]


def as_float32(result):
    """A result with the machine's denormals and NaNs, rounded on the grid of the denormals before."""
    result = np.array(result, np.float32)
    fp.canonicalise(result)
    return result


def with_denormal_product(a, b, c):
    a, b, c = flushed(a, b, c)
    return as_float32(a * b + c)


def with_denormals(counter):
    return fp.choose(counter <= 0, np.zeros(1, np.float32), as_float32(counter))


def ordered_and_unequal(a, b):
    a, b = flushed(a, b)
    return ((a < b) | (a > b)).astype(np.float32)


def through_float32(x):
    return np.minimum(np.float32(2**32) / unsigned(x).astype(np.float32), np.float64(2**32 - 1)).astype(np.uint32)


MISTAKES: dict[str, tuple[str, Callable[..., Any]]] = {
    "fused": ("MULADD_IEEE", lambda *x: fp.multiply_add(*x, zero_times_anything=False)),
    "denormal product": ("MULADD_IEEE", with_denormal_product),
    "sum without zero rule": ("MULADD", VALUES["MULADD_IEEE"]),
    "sum with zero rule": ("MULADD_IEEE", VALUES["MULADD"]),
    "unscaled": ("MULADD_D2", VALUES["MULADD"]),
    "scaled before the sum": ("MULADD_M2", lambda a, b, c: VALUES["MULADD"](fp.output_modifier(a, 1), b, c)),
    "product without zero rule": ("MUL", VALUES["MUL_IEEE"]),
    "product with zero rule": ("MUL_IEEE", VALUES["MUL"]),
    "grid of the denormals": ("MUL_IEEE", lambda a, b: as_float32(np.multiply(*flushed(a, b)))),
    "light without limits": ("MUL_LIT", lambda a, b, c: VALUES["MUL"](a, b)),
    "MAX's zeros": ("MAX", fp.maximum),
    "MAX's NaN": ("MAX", VALUES["MAX_DX10"]),
    "MIN's NaN": ("MIN_DX10", VALUES["MIN"]),
    "MIN's zeros": ("MIN_DX10", lambda a, b: VALUES["MIN_DX10"](b, a)),
    "NE of NaNs": ("SETNE", ordered_and_unequal),
    "compared denormals": ("SETGT", lambda a, b: (a > b).astype(np.float32)),
    "compared bits": ("SETE_DX10", VALUES["SETE_INT"]),
    "compared as signed": ("SETGT_UINT", VALUES["SETGT_INT"]),
    "tested bits": ("CNDE", VALUES["CNDE_INT"]),
    "tested denormals": ("CNDGT", lambda a, b, c: fp.choose(a > 0, b, c)),
    "fraction up to 1": ("FRACT", lambda x: as_float32(x - np.floor(x))),
    "halves up": ("RNDNE", lambda x: as_float32(np.floor(x + np.float32(0.5)))),
    "towards zero": ("FLOOR", VALUES["TRUNC"]),
    "lost sign of zero": ("CEIL", lambda x: as_float32(np.ceil(flushed(x)[0]) + np.float32(0))),
    "correct root": ("SQRT_IEEE", lambda x: as_float32(np.sqrt(flushed(x)[0]))),
    "infinite logarithm": ("LOG_CLAMPED", VALUES["LOG_IEEE"]),
    "unsigned zero": ("RECIP_FF", lambda x: np.abs(VALUES["RECIP_FF"](x))),
    "rounded to integer": ("FLT_TO_INT", lambda x: fp.to_int32(np.rint(x)).view(np.float32)),
    "negative integer": ("FLT_TO_UINT", VALUES["FLT_TO_INT"]),
    "signed float": ("UINT_TO_FLT", VALUES["INT_TO_FLT"]),
    "truncated float": ("UINT_TO_FLT", lambda x: (unsigned(x) & np.uint32(0xFFFFFF00)).astype(np.float32)),
    "counts modulo 32": ("LSHL_INT", lambda a, b: (unsigned(a) << (unsigned(b) & 31)).view(np.float32)),
    "sign modulo 32": ("ASHR_INT", lambda a, b: (signed(a) >> (signed(b) & 31)).view(np.float32)),
    "logical shift": ("ASHR_INT", VALUES["LSHR_INT"]),
    "signed product": ("MULHI_UINT", VALUES["MULHI_INT"]),
    "reciprocal of a float": ("RECIP_UINT", lambda x: through_float32(x).view(np.float32)),
    "reciprocal of one": ("RECIP_UINT", lambda x: np.where(unsigned(x) == 1, 0, unsigned(VALUES["RECIP_UINT"](x)))),
    "one too small": ("RECIP_UINT", lambda x: unsigned(VALUES["RECIP_UINT"](x)) - np.uint32(1)),
    "rounded down": (
        "RECIP_INT",
        lambda x: np.clip(np.floor(2.0**32 / signed(x)), -(2**31), 2**31 - 1).astype(np.int32),
    ),
    "condition inverted": ("PRED_SETGT", PREDICATES["KILLGT"]),
    "denormal counter": ("PRED_SET_POP", lambda a, b: with_denormals(a - b)),
    "tested as a float": ("PRED_SETGT_PUSH_INT", PREDICATES["PRED_SETGT_PUSH"]),
}


def words_of(results):
    """The result, of a pair the first one, as words."""
    return (results[0] if isinstance(results, tuple) else results).view(np.uint32)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_of_one_slot(mistake):
    name, wrong = MISTAKES[mistake]
    operands = OPERANDS[{**operations.VALUES, **operations.PREDICATES}[name]]
    carriers = [floats(x) for x in operands]
    formulas: dict[str, Callable[..., Any]] = {**VALUES, **PREDICATES}
    with np.errstate(all="ignore"):
        planted, right = wrong(*carriers), formulas[name](*carriers)
    with pytest.raises(AssertionError, match="first at"):
        check(words_of(planted), words_of(right), *operands)


def in_sequence(first, second):
    result = fp.multiply(first[0], second[0], zero_times_anything=False)
    for a, b in zip(first[1:], second[1:], strict=True):
        result = fp.multiply_then_add(a, b, result, zero_times_anything=False)
    return [result]


def other_side(first, second):
    """The X faces mirrored."""
    _, s, _, face = REDUCTIONS["CUBE"](first, second)
    return [as_float32(fp.choose(face < 2, fp.input_modifier(s, 1), s))]


@pytest.mark.parametrize(
    ("name", "slot", "wrong"),
    [
        ("DOT4_IEEE", 0, in_sequence),
        ("DOT4_IEEE", 0, REDUCTIONS["DOT4"]),
        ("CUBE", 1, other_side),
        ("MAX4", 0, lambda first: [VALUES["MAX"](VALUES["MAX"](VALUES["MAX"](*first[:2]), first[2]), first[3])]),
    ],
)
def test_mistakes_of_reductions(name, slot, wrong):
    words = slots(5000, 30)
    sides = [[floats(x) for x in side] for side in (words[:4], words[4:])][: operations.REDUCTIONS[name]]
    with np.errstate(all="ignore"):
        planted = wrong(*sides)[0]
    with pytest.raises(AssertionError, match="first at"):
        check(bits(planted), bits(REDUCTIONS[name](*sides)[slot]), *words)


def test_an_index_rounded_before_its_floor():
    x = floats(OPERANDS[1][0])
    with np.errstate(all="ignore"):
        planted = INDICES["MOVA_FLOOR"](x + np.float32(0.5))
    assert (planted != INDICES["MOVA"](x)).any()
