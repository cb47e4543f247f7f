"""What each transcendental operation computes: its exact values in float64, and its results that are known exactly.

float64's functions are off by less than 2^-50 of their result, which is 2^-26 ulp of a float32.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ctm.sim.golden import fp

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]
Rule = tuple[Mask, Words]

SIGN, INFINITY, NAN, ONE = np.uint32(0x80000000), np.uint32(0x7F800000), np.uint32(0x7FFFFFFF), np.uint32(0x3F800000)
SMALLEST_NORMAL = np.uint32(0x00800000)
ZERO = np.uint32(0)


class Operand:
    """Words taken apart: `sign` bit, `magnitude`, biased `exponent`, `value` with denormals as zeros of their sign."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.sign = words & SIGN
        self.magnitude = words & ~SIGN
        self.exponent = self.magnitude >> np.uint32(23)
        self.is_zero = self.magnitude < SMALLEST_NORMAL
        self.is_nan = self.magnitude > INFINITY
        self.is_power_of_two = (
            (self.magnitude & np.uint32(0x007FFFFF) == 0) & ~self.is_zero & (self.magnitude < INFINITY)
        )
        with np.errstate(invalid="ignore"):
            self.value = np.where(self.is_zero, self.sign, words).view(np.float32).astype(np.float64)


def _everywhere(x: Operand, word: np.uint32) -> Words:
    return np.full(x.words.shape, word, np.uint32)


def _rcp_rules(x: Operand) -> list[Rule]:
    return [
        (x.is_nan, _everywhere(x, NAN)),
        (x.is_zero, x.sign | INFINITY),
        (x.magnitude == INFINITY, x.sign),
        (x.is_power_of_two, x.sign | (np.uint32(254) - x.exponent) << np.uint32(23)),
        # Above 2^126 every result is a denormal, and so a zero.
        ((x.magnitude > np.uint32(0x7E800000)) & (x.magnitude < INFINITY), x.sign),
    ]


def _rsq_rules(x: Operand) -> list[Rule]:
    return [
        (x.is_nan | (x.sign != 0), _everywhere(x, NAN)),
        (x.is_zero, _everywhere(x, INFINITY)),
        (x.words == INFINITY, _everywhere(x, ZERO)),
        # 4^k: an even exponent, so an odd biased one.
        (
            x.is_power_of_two & (x.exponent & np.uint32(1) != 0) & (x.sign == 0),
            (np.uint32(190) - (x.exponent >> np.uint32(1))) << np.uint32(23),
        ),
    ]


def _ex2_rules(x: Operand) -> list[Rule]:
    small = x.is_nan | (np.abs(x.value) > 1000)
    whole = np.where(small, 0.0, x.value)
    return [
        (x.is_nan, _everywhere(x, NAN)),
        (x.value >= 128, _everywhere(x, INFINITY)),
        (x.value < -126, _everywhere(x, ZERO)),
        (
            (whole == np.floor(whole)) & (x.value >= -126) & (x.value < 128),
            (np.clip(whole, -126, 127).astype(np.int32) + 127).astype(np.uint32) << np.uint32(23),
        ),
    ]


def _ln2_rules(x: Operand) -> list[Rule]:
    return [
        (x.is_nan | (x.sign != 0), _everywhere(x, NAN)),
        (x.is_zero, _everywhere(x, SIGN | INFINITY)),
        (x.words == INFINITY, _everywhere(x, INFINITY)),
        (x.is_power_of_two & (x.sign == 0), (x.exponent.astype(np.float32) - np.float32(127)).view(np.uint32)),
    ]


def _revolutions(x: Operand) -> Doubles:
    """Argument reduced to [-1/2, 1/2] revolutions, exactly; 0 where it is not finite."""
    value = np.where(x.magnitude < INFINITY, x.value, 0.0)
    return value - np.rint(value)


def _wave_rules(x: Operand, phase: int, zero: Words) -> list[Rule]:
    quarters = 4 * _revolutions(x)
    whole = quarters == np.floor(quarters)
    quadrant = (np.where(whole, quarters, 0.0).astype(np.int32) + phase) & 3
    table = np.array([0, ONE, 0, SIGN | ONE], np.uint32)[quadrant]
    return [
        (x.magnitude >= INFINITY, _everywhere(x, NAN)),
        (whole & (x.magnitude < INFINITY), np.where(quadrant & 1 == 0, zero, table)),
    ]


@dataclass(frozen=True, kw_only=True)
class Function:
    """One operation and what it promises.

    Errors are below 1 ulp, or not above 1 `unit`: the latter for all results where `relative_from` is None, else for
    those whose exact value is smaller than `relative_from`. `direction` is 1 for an increasing function, -1 for one
    that decreases on each side of 0, 0 for neither. f(-x) is f(x) times `parity`, if that is not 0.
    """

    name: str
    compute: Callable[[Floats], Floats]
    exact: Callable[[Operand], Doubles]
    rules: Callable[[Operand], list[Rule]]
    direction: int = 0
    parity: int = 0
    relative_from: float | None = 0.0
    unit: float = 0.0


FUNCTIONS = {
    function.name: function
    for function in (
        Function(name="RCP", compute=fp.rcp, exact=lambda x: 1 / x.value, rules=_rcp_rules, direction=-1, parity=-1),
        Function(name="RSQ", compute=fp.rsq, exact=lambda x: 1 / np.sqrt(x.value), rules=_rsq_rules, direction=-1),
        Function(name="EX2", compute=fp.ex2, exact=lambda x: np.exp2(x.value), rules=_ex2_rules, direction=1),
        Function(
            name="LN2",
            compute=fp.ln2,
            exact=lambda x: np.log2(x.value),
            rules=_ln2_rules,
            direction=1,
            relative_from=2.0**-6,
            unit=2.0**-28,
        ),
        Function(
            name="SIN",
            compute=fp.sin,
            exact=lambda x: np.sin(2 * np.pi * _revolutions(x)),
            rules=lambda x: _wave_rules(x, 0, x.sign),
            parity=-1,
            relative_from=None,
            unit=2.0**-23,
        ),
        Function(
            name="COS",
            compute=fp.cos,
            exact=lambda x: np.cos(2 * np.pi * _revolutions(x)),
            rules=lambda x: _wave_rules(x, 1, _everywhere(x, ZERO)),
            parity=1,
            relative_from=None,
            unit=2.0**-23,
        ),
    )
}
