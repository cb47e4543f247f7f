"""Whether a job ends, as the golden model tells it beside a run."""

import time
from pathlib import Path

import pytest

from ctm.rtl.config import TINY
from ctm.rtl.isa.status import Status
from ctm.sim.fault import MachineError
from ctm.sim.jobs.ending import Ending
from ctm.sim.jobs.loading import load_job
from ctm.tb.jobs.folder import Folder, executable
from ctm.tb.r5xx.machine import flow, move

WATCHDOG = 1 << 24


def response_of(path: Path) -> str | None:
    """The response, which comes some time after the request."""
    end = time.monotonic() + 60
    with Ending(load_job(path), TINY, WATCHDOG) as ending:
        while time.monotonic() < end:
            response = ending.ask()
            if response is not None:
                assert ending.ask() is None
                return response
            time.sleep(0.01)
    return None


@pytest.mark.slow
def test_a_job_that_ends(tmp_path: Path) -> None:
    # 13 x 5 pixels are 7 x 3 quads, and the program has three instructions.
    assert response_of(Folder.make(tmp_path).job) == "the golden model reaches the end after 63 instructions"


def test_a_job_that_does_not(tmp_path: Path) -> None:
    folder = Folder.make(tmp_path)
    (tmp_path / "scale.elf").write_bytes(executable([flow(inst={"jump_func": 0xFF}), move(0, 0, output=0)]))
    message = "16777216 instructions in the golden model; the hardware was stopped"
    with pytest.raises(MachineError, match=message) as caught:
        response_of(folder.job)
    assert (caught.value.status, caught.value.pc) == (Status.WATCHDOG, 0)
