"""A plugin of pytest: whatever R700 tests run on the golden model runs in hardware as well, and leaves the same."""

import json
import os

from ctm.tb.r700.hardware.machine import compare, engine
from ctm.tb.r700.machine import AFTERWARDS, Job

SETTINGS = "CTM_TEST_SETTINGS"
"""A variable of the environment: settings that are other than in the preset, as JSON."""


def pytest_configure() -> None:
    """Compare all jobs from now on."""
    AFTERWARDS.append(_compare)


def _compare(job: Job) -> None:
    """Compare what a job leaves; the hardware watches no hazards."""
    if not job.hazards:
        settings = json.loads(os.environ.get(SETTINGS, "{}"))
        compare(job, engine(settings=tuple(settings.items())))
