"""Operations on 32-bit integers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ctm.sim.golden.fp.words import Floats
from ctm.sim.golden.r700.formulas.kinds import Value

Signed = npt.NDArray[np.int32]
Unsigned = npt.NDArray[np.uint32]


def _signed(formula: Callable[..., Any]) -> Value:
    return _on(np.int32, formula)


def _unsigned(formula: Callable[..., Any]) -> Value:
    return _on(np.uint32, formula)


def _on(kind: type[np.int32 | np.uint32], formula: Callable[..., Any]) -> Value:
    """A formula of integers of one type, which wraps."""

    def value(*operands: Floats, clean: bool = False) -> Floats:
        result: Floats = formula(*(x.view(kind) for x in operands)).view(np.float32)
        return result

    return value


def _high_product(wide: type[np.int64 | np.uint64]) -> Callable[..., Unsigned]:
    """The upper half of the exact product."""

    def formula(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> Unsigned:
        product = np.multiply(a, b, dtype=wide)
        np.right_shift(product, 32, out=product)
        half: Unsigned = product.astype(np.uint32)
        return half

    return formula


def _reciprocal(x: Signed | Unsigned) -> npt.NDArray[np.float64]:
    # A quotient that is not an integer lies further from the next one than float64 rounds.
    with np.errstate(divide="ignore"):
        quotient: npt.NDArray[np.float64] = np.divide(2.0**32, x)
    return quotient


def _reciprocal_int(x: Signed) -> Signed:
    return np.clip(_reciprocal(x), -(2.0**31), 2.0**31 - 1).astype(np.int32)


def _reciprocal_uint(x: Unsigned) -> Unsigned:
    return np.minimum(_reciprocal(x), 2.0**32 - 1).astype(np.uint32)


VALUES: dict[str, Value] = {
    "AND_INT": _unsigned(np.bitwise_and),
    "OR_INT": _unsigned(np.bitwise_or),
    "XOR_INT": _unsigned(np.bitwise_xor),
    "NOT_INT": _unsigned(np.invert),
    "ADD_INT": _unsigned(np.add),
    "SUB_INT": _unsigned(np.subtract),
    "MAX_INT": _signed(np.maximum),
    "MIN_INT": _signed(np.minimum),
    "MAX_UINT": _unsigned(np.maximum),
    "MIN_UINT": _unsigned(np.minimum),
    # numpy shifts every bit out for counts above 31, and takes a negative count for a large one.
    "ASHR_INT": _signed(np.right_shift),
    "LSHR_INT": _unsigned(np.right_shift),
    "LSHL_INT": _unsigned(np.left_shift),
    "MULLO_INT": _unsigned(np.multiply),
    "MULLO_UINT": _unsigned(np.multiply),
    "MULHI_INT": _signed(_high_product(np.int64)),
    "MULHI_UINT": _unsigned(_high_product(np.uint64)),
    "RECIP_INT": _signed(_reciprocal_int),
    "RECIP_UINT": _unsigned(_reciprocal_uint),
}
