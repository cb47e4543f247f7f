"""Outcomes of random kernels: right, or unsupported for a listed reason."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ctm.sim.compiler import KernelError, compile_kernel
from ctm.sim.compiler.source import Source
from ctm.tb.compiler import core
from ctm.tb.compiler.host import Launch, Library, Results
from ctm.tb.compiler.random_kernels import PRELUDE, launch

R700_REASONS = (
    "a group that reads an array after a write with a computed index",
    "LLVM's back end for the R700 cannot compile this",
    "LLVM's back end fails at arrays of 12 elements",
    "more registers than there are",
)
"""What LLVM cannot do; each is a sentence that a user sees."""
R5XX_REASONS = ("512 instructions", "loops deeper than 4", "too long", "registers", "have no such function", "bits of")
"""What R5xx cores cannot do, and the same."""


def outcomes(
    texts: Mapping[str, str],
    host: Library,
    *,
    isa: str,
    reasons: Sequence[str],
    wrong: Callable[[Any, Launch, Results], int],
) -> Counter[str]:
    """Counts of kernels that were "right", or unsupported with a sentence that has one of these reasons.

    `texts` are the kernels by their names, `wrong` runs an executable and says how many words are not as expected.
    """
    where = launch()
    found: Counter[str] = Counter()
    for name, text in texts.items():
        try:
            program = compile_kernel(Source(PRELUDE + text, "k.c"), isa=isa).executable
        except KernelError as error:
            assert re.match(r"k\.c:\d+", str(error)), error
            known = [reason for reason in reasons if reason in str(error)]
            assert known, f"{name}: {error}"
            found[known[0]] += 1
            continue
        assert wrong(program, where, host.run(name, where, core.UNTOUCHED)) == 0, name
        found["right"] += 1
    return found
