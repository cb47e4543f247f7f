"""Measures the transcendental operations over runs of consecutive words.

A word is either special, and then its result is known bit for bit, or its error is measured against float64.
"""

from dataclasses import dataclass, fields

import numpy as np

from ctm.tb.golden.functions import SIGN, Doubles, Floats, Function, Mask, Operand, Words


@dataclass(frozen=True, order=True)
class Worst:
    """A largest error, in ulp or in the function's unit, and the first word that has it."""

    error: float = 0.0
    word: int = 0


@dataclass(kw_only=True)
class Measurement:
    """Counts and worst errors over some words; they add up by `merge`, in any order."""

    words: int = 0
    special: int = 0
    special_wrong: int = 0
    not_monotone: int = 0
    not_symmetric: int = 0
    nearest: int = 0
    relative: Worst = Worst()
    absolute: Worst = Worst()

    def merge(self, other: "Measurement") -> None:
        """Take in another measurement."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if isinstance(mine, int):
                setattr(self, field.name, mine + theirs)
            elif (theirs.error, -theirs.word) > (mine.error, -mine.word):
                setattr(self, field.name, theirs)

    @property
    def measured(self) -> int:
        """Words whose error was measured."""
        return self.words - self.special


def _worst(error: Doubles, words: Words) -> Worst:
    if not error.size:
        return Worst()
    # A result that is a NaN or infinity where it must not be is infinitely wrong.
    error = np.where(np.isnan(error), np.inf, error)
    at = int(np.argmax(error))
    return Worst(float(error[at]), int(words[at]))


def _ulp(exact: Doubles) -> Doubles:
    exponent = exact.view(np.int64) >> 52 & 0x7FF
    return ((exponent - 23) << 52).view(np.float64)


def consecutive(first: int, count: int) -> Words:
    """`count` words from `first` on, and the one after them, for `measure`; the very last word is its own successor."""
    return np.minimum(np.arange(first, first + count + 1, dtype=np.uint64), 0xFFFFFFFF).astype(np.uint32)


def measure(function: Function, words: Words) -> Measurement:
    """Check and measure consecutive `words`; the last one only closes the chain of comparisons for monotony."""
    with np.errstate(all="ignore"):
        result = function.compute(words.view(np.float32))
        steps = np.diff(result.astype(np.float64)) * function.direction
        falling = steps < 0 if words[0] < SIGN else steps > 0
        words, result = words[:-1], result[:-1]
        operand = Operand(words)
        special, expected = _special(function, operand)
        measured = Measurement(
            words=words.size,
            special=int(np.count_nonzero(special)),
            special_wrong=int(np.count_nonzero(special & (result.view(np.uint32) != expected))),
            not_monotone=int(np.count_nonzero(falling)),
            not_symmetric=_asymmetries(function, words, result),
        )
        if measured.measured:
            _measure_errors(function, operand, ~special, result, measured)
    return measured


def _special(function: Function, operand: Operand) -> tuple[Mask, Words]:
    special = np.zeros(operand.words.shape, np.bool_)
    expected = np.zeros(operand.words.shape, np.uint32)
    for where, value in function.rules(operand):
        np.copyto(expected, value, where=where)
        special |= where
    return special, expected


def _asymmetries(function: Function, words: Words, result: Floats) -> int:
    if not function.parity or words[0] >= SIGN:
        return 0
    mirrored = function.compute((words | SIGN).view(np.float32)).view(np.uint32)
    if function.parity < 0:
        mirrored = np.where(np.isnan(result), mirrored, mirrored ^ SIGN)
    return int(np.count_nonzero(mirrored != result.view(np.uint32)))


def _measure_errors(function: Function, operand: Operand, where: Mask, result: Floats, into: Measurement) -> None:
    exact = function.exact(operand)
    difference = np.abs(result.astype(np.float64) - exact)
    ulp = _ulp(exact)
    into.nearest = int(np.count_nonzero(where & (difference <= ulp / 2)))
    if function.relative_from is None:
        is_relative = np.zeros_like(where)
    else:
        is_relative = where & (np.abs(exact) >= function.relative_from)
    is_absolute = where & ~is_relative
    into.relative = _worst((difference / ulp)[is_relative], operand.words[is_relative])
    into.absolute = _worst((difference / function.unit)[is_absolute], operand.words[is_absolute])
