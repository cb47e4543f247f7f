"""Random programs on the traced machine, compared with the golden model after every instruction of every wavefront."""

import pytest

from ctm.tb.lib.some import fewer
from ctm.tb.r700.hardware.drawn import DRAWN, check

PROGRAMS = fewer(25)
"""Programs of each kind in the ordinary suite."""
LONG_PROGRAMS = 1300
_TOGETHER = 100


@pytest.mark.parametrize("kind", DRAWN)
def test_every_instruction_does_what_the_model_says(kind: str) -> None:
    check(kind, range(PROGRAMS))


@pytest.mark.slow
def test_of_two_wavefronts_that_the_watchdog_stops_any_may_be_reported() -> None:
    # They are stopped at different instructions, and the hardware's first one is not the model's.
    check("everything", range(1479, 1480))


@pytest.mark.long
@pytest.mark.parametrize("first", range(PROGRAMS, LONG_PROGRAMS, _TOGETHER))
@pytest.mark.parametrize("kind", DRAWN)
def test_many_more_programs(kind: str, first: int) -> None:
    check(kind, range(first, min(first + _TOGETHER, LONG_PROGRAMS)))
