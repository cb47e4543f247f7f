"""A campaign without a machine, for tests of all that is around campaigns."""

import os
import signal
from collections import Counter
from collections.abc import Iterator, Sequence

from ctm.tb.verify.campaign import Campaign, Case, Found, Tables
from ctm.tb.verify.catalogue import CAMPAIGNS

TABLE = "stub cells"
CELLS = tuple(f"cell {number}" for number in range(8))
LENGTH = 40
FAILING = 10
"""Every tenth seed fails: those that end in 7."""


class Stub(Campaign):
    """Programs of numbers. Every tenth fails as long as it has the numbers 3 and 31; `fatal` is a seed with a signal.

    Cell n is covered by seeds that are n modulo 7; nothing covers the last one.
    """

    name = "stub"
    about = "numbers, for tests"
    batch = 5
    enough = 60

    def __init__(self, *, fatal: int | None = None) -> None:
        self._fatal = fatal

    def run(self, case: Case) -> Found:
        """See `Campaign.run`."""
        if case["seed"] == self._fatal:
            os.kill(os.getpid(), signal.SIGINT)
        program = [int(line) for line in case.get("program", map(str, range(LENGTH)))]
        if -1 in program:
            raise ValueError("it has a number below 0")
        if case["seed"] % FAILING == FAILING - 3 and {3, 31} <= set(program):
            return Found(f"seed {case['seed']}: {len(program)} numbers, width {case.get('width', 16)}", "numbers")
        if len(program) < LENGTH and 5 in program:
            return Found("another one", "other")
        return Found(events=Counter([f"{TABLE}|{CELLS[case['seed'] % (len(CELLS) - 1)]}"]))

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        return {TABLE: CELLS}

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        return {**case, "program": [str(number) for number in range(LENGTH)], "width": 16}

    def size(self, case: Case) -> int:
        """See `Campaign.size`."""
        return len(case.get("program", ()))

    def kept(self, case: Case, items: Sequence[int]) -> Case | None:
        """See `Campaign.kept`."""
        return {**case, "program": [case["program"][item] for item in items]}

    def simpler(self, case: Case) -> Iterator[Case]:
        """See `Campaign.simpler`."""
        if case["width"] > 1:
            yield {**case, "width": case["width"] // 2}

    def is_defined(self, case: Case) -> bool:
        """See `Campaign.is_defined`: whether 8 is there if 3 is."""
        return "8" in case["program"] or "3" not in case["program"]


def install(*, fatal: int | None = None) -> None:
    """Make it one of the campaigns of this process."""
    CAMPAIGNS[Stub.name] = Stub(fatal=fatal)
