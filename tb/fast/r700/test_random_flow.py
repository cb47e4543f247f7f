"""Random structured programs end as they do on the golden model, on all their pixels and with all their counts."""

import pytest

from ctm.tb.fast.r700.twins import Twins
from ctm.tb.lib.seeds import seeds
from ctm.tb.r700 import machine
from ctm.tb.r700.random_statements import job_of

PROGRAMS, LONG = 8, 500


@pytest.mark.parametrize("seed", seeds(PROGRAMS, LONG))
def test_random_structures(seed: int) -> None:
    job, _ = job_of(seed)
    assert machine.run(job).error is None
    assert not Twins.remarks
