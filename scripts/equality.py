"""Compares the hardware's transcendental operations with the golden model's, bit for bit.

An operation sees every operand whose fraction and exponent act together. Where an operand's exponent only moves the
result's, one exponent of each kind stands for all, with every fraction; and where all results are alike nothing is left
to compare. Of those other operands every 61st is compared all the same.
"""

import multiprocessing
from functools import cache

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.reduction import Function
from ctm.rtl.r5xx.units import UNITS
from ctm.sim.compiled import CompiledUnit
from ctm.tb.fp.cases import TRANSCENDENTALS
from ctm.tb.lib.words import Words

FRACTION_BITS = 23
BLOCKS = 1 << (32 - FRACTION_BITS)
"""Blocks of words that have sign and exponent in common."""
SIGN = BLOCKS // 2
SAMPLE = 61
BATCH = 1 << 20

_EITHER_SIGN = {
    # The ends of the range, and an exponent of each parity in its middle.
    "RCP": (0, 1, 2, 126, 127, 128, 252, 253, 254, 255),
    # From where abs(a) * 2^25 rounds to 0, up to overflow.
    "EX2": range(98, 137),
    # From where abs(a) * 2^27 rounds to 0, up to where every operand is a whole number of revolutions.
    "SIN": range(96, 153),
    "COS": range(96, 153),
}
_POSITIVE = {"RSQ": (0, 1, 2, 126, 127, 128, 129, 253, 254, 255), "LN2": range(256)}


def whole_blocks(name: str) -> frozenset[int]:
    """Blocks of which every word is compared."""
    either = _EITHER_SIGN.get(name, ())
    return frozenset([*either, *(SIGN + exponent for exponent in either), *_POSITIVE.get(name, ())])


def compare(names: list[str], step: int, console: Console) -> None:
    """Compare operations, every `step`-th block of each; exit 1 at the first that differs."""
    hardware()
    jobs = range(0, BLOCKS, step)
    for name in names:
        count, differing = 0, []
        with multiprocessing.Pool() as pool:
            results = pool.imap_unordered(compare_block, [(name, block) for block in jobs])
            for compared, wrong in track(results, name, len(jobs), console=console):
                count += compared
                differing += wrong
        if differing:
            print(f"{name}: hardware and golden model differ, first at 0x{min(differing):08x}")
            raise typer.Exit(1)
        print(f"{name}: equal for {count:,} operands", flush=True)


def compare_block(job: tuple[str, int]) -> tuple[int, list[int]]:
    """(number of operands, the first of each batch whose results differ) of one block."""
    name, block = job
    words = np.arange(block << FRACTION_BITS, (block + 1) << FRACTION_BITS, dtype=np.uint64).astype(np.uint32)
    if block not in whole_blocks(name):
        words = np.ascontiguousarray(words[block % SAMPLE :: SAMPLE])
    batches = np.split(words, range(BATCH, words.size, BATCH))
    return words.size, [word for batch in batches for word in first_difference(name, batch)]


def first_difference(name: str, words: Words) -> list[int]:
    """The first word whose results differ, if there is one."""
    function = Function[name]
    expected = TRANSCENDENTALS[function](words.view(np.float32)).view(np.uint32)
    actual = hardware()(word=words, function=function.value)["result"]
    return [int(word) for word in words[actual != expected][:1]]


@cache
def hardware() -> CompiledUnit:
    """The compiled transcendental unit of this process."""
    return CompiledUnit(UNITS["transcendental"](PipelineConfig()))
