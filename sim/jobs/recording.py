"""What a host does while a job runs: the words that it writes, and the command buffers that it submits."""

from dataclasses import dataclass

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.memory import Words
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.heap import REGIONS


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A command buffer, and the words that are written in front of it: all of memory's, and which of them."""

    memory: dict[str, Words]
    written: dict[str, np.ndarray]
    address: int
    dwords: int


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What a host did, in order, and the memory that is left, from the beginning of each region on."""

    submissions: tuple[Submission, ...]
    memory: dict[str, Words]


def record(job: LoadedJob, config: MachineConfig, *, watchdog: int) -> Recording:
    """Run a job on the golden model and say what its host did.

    Raises
    ------
    MachineError
        The job fails.
    """
    execution = _Recorded(job, engine="golden", config=config, watchdog=watchdog)
    execution.run()
    assert isinstance(execution.device, _Recorder)
    return Recording(submissions=tuple(execution.device.submissions), memory=execution.device.words())


class _Recorder(Device):
    """Keeps what is submitted."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.submissions: list[Submission] = []
        self._left: dict[str, Words] = {region: np.zeros(0, np.uint32) for region in REGIONS}

    def words(self) -> dict[str, Words]:
        """What has been allocated of each region, from its beginning on."""
        used = {region: self.used(region) for region in REGIONS}
        return {region: self.memory.words(first, (end - first) // 4) for region, (first, end) in used.items()}

    def submit_at(self, address: int, dwords: int) -> int:
        now = self.words()
        written = {}
        for region, words in now.items():
            before = np.zeros_like(words)
            before[: self._left[region].size] = self._left[region]
            written[region] = words != before
        self.submissions.append(Submission(memory=now, written=written, address=address, dwords=dwords))
        return super().submit_at(address, dwords)

    def wait(self) -> None:
        super().wait()
        self._left = self.words()


class _Recorded(Execution):
    make_device = _Recorder
