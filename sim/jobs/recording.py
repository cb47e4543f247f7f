"""What a host does while a job runs: the words that it writes, and the command buffers that it submits."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ctm.rtl.config import MachineConfig
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.memory import Words
from ctm.sim.runtime.device import Device
from ctm.sim.runtime.heap import REGIONS

_GAP = 8
"""Words that are the same for so long do not end a run of words that are written."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A command buffer, and the words that are written in front of it: runs by region and position in it."""

    runs: tuple[tuple[str, int, Words], ...]
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
        runs = tuple(
            (region, first, words[first:end].copy())
            for region, words in self.words().items()
            for first, end in _runs(words, self._left[region])
        )
        self.submissions.append(Submission(runs=runs, address=address, dwords=dwords))
        return super().submit_at(address, dwords)

    def wait(self) -> None:
        super().wait()
        self._left = self.words()


def _runs(words: Words, before: Words) -> Iterator[tuple[int, int]]:
    """First and end of the runs of words that are others than before, where there were only zeros beyond its end."""
    old = np.zeros_like(words)
    old[: before.size] = before
    positions = np.flatnonzero(words != old)
    if positions.size:
        breaks = np.flatnonzero(np.diff(positions) > _GAP)
        for first, last in zip([0, *breaks + 1], [*breaks, -1], strict=True):
            yield int(positions[first]), int(positions[last]) + 1


class _Recorded(Execution):
    make_device = _Recorder
