"""A plugin of pytest: whatever R700 tests run on the golden model runs in hardware as well, and leaves the same."""

from ctm.tb.r700.hardware.machine import compare
from ctm.tb.r700.machine import AFTERWARDS, Job


def pytest_configure() -> None:
    """Compare all jobs from now on."""
    AFTERWARDS.append(_compare)


def _compare(job: Job) -> None:
    """Compare what a job leaves; the hardware watches no hazards."""
    if not job.hazards:
        compare(job)
