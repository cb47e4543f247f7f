"""The arithmetic units, compiled, on blocks of operands: all words for units of one operand, else random ones."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np

from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.cases import Batch
from ctm.tb.fp.units import ALL_CASES, DEEP, compiled
from ctm.tb.lib.compare import check
from ctm.tb.lib.words import Words
from ctm.tb.verify.campaign import Campaign, Case, Found, Tables

OPERANDS = "arithmetic operands"
_UNITS = tuple(ALL_CASES)
_WORD = "word"
_BLOCKS = 1 << 12
"""Blocks of all words; each has words of every exponent."""
_RANDOM = 200_000
_FLOATS = {
    "multiply_add": ("a", "b", "c"), "multiplication": ("a", "b"), "adder": ("left", "right"), "fraction": (_WORD,),
    "selection": ("a", "b", "c"), "output_modifier": (_WORD,), "zero_test": (_WORD,), "transcendental": (_WORD,),
    "to_unorm8": (_WORD,), "to_unorm16": (_WORD,), "coordinate_index": (_WORD,),
}  # fmt: skip
"""Ports of units that are floats."""
_CLASSES = tuple(f"{sign}{name}" for name in ("zero", "denormal", "normal", "infinity", "NaN") for sign in ("", "-"))
_EXPONENT, _FRACTION = 0xFF, 0x7F_FFFF


class ArithmeticCampaign(Campaign):
    """See the module.

    Seeds go round the units. Of a unit whose random operands are one word and small numbers, 4096 of its seeds are all
    2^32 words, each with one choice of those numbers.
    """

    name = "arithmetic"
    about = "arithmetic units, compiled: all words of one operand, random ones of several"
    batch = 5
    enough = 300

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        block, number = divmod(case["seed"], len(_UNITS))
        name = _UNITS[number]
        operands = _operands(name, block)
        try:
            check(_unit(name)(**operands), ALL_CASES[name].golden(operands), operands)
        except AssertionError as difference:
            return Found(f"{name}, block {block}: {difference}", "operands")
        return Found(events=Counter(f"{OPERANDS}|{name} / {cell}" for cell in _covered(name, operands)))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        cells = [
            f"{name} / {' '.join(classes)}"
            for name, ports in _FLOATS.items()
            for classes in product(_CLASSES, repeat=len(ports))
        ]
        return {OPERANDS: cells}


@cache
def _unit(name: str) -> CompiledUnit:
    return compiled(name, DEEP)


def _operands(name: str, block: int) -> Batch:
    """Combinations of corner words in block 0; then random operands, and a block of all where one is a word."""
    if not block:
        return ALL_CASES[name].corners()
    if _FLOATS.get(name) != (_WORD,):
        return ALL_CASES[name].random(_RANDOM, block)
    words = (np.arange(1 << 20, dtype=np.uint64) * _BLOCKS + (block - 1) % _BLOCKS).astype(np.uint32)
    return {**ALL_CASES[name].random(words.size, block), _WORD: words}


def _classes(words: Words) -> np.ndarray:
    """The number of each word's class in `_CLASSES`."""
    exponent, fraction = words >> 23 & _EXPONENT, words & _FRACTION
    kind = np.select(
        [(exponent == 0) & (fraction == 0), exponent == 0, exponent < _EXPONENT, fraction == 0], [0, 1, 2, 3], 4
    )
    found: np.ndarray = 2 * kind + (words >> 31)
    return found


def _covered(name: str, operands: Batch) -> Iterator[str]:
    """Combinations of classes that operands have."""
    ports = _FLOATS.get(name, ())
    if not ports:
        return
    codes = np.stack([_classes(operands[port]) for port in ports], axis=1)
    for row in np.unique(codes, axis=0):
        yield " ".join(_CLASSES[int(code)] for code in row)
