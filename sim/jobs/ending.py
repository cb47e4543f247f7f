"""Whether a job ends: the golden model knows endless loops without going through them."""

from dataclasses import replace
from typing import Self

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import Status
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.fault import MachineError
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob


class Ending:
    """A question to the golden model, which works in a process of its own from its first use on."""

    def __init__(self, job: LoadedJob, config: MachineConfig, watchdog: int) -> None:
        self._question = job, config, watchdog
        self._call: Beside[MachineError | int] | None = None
        self._has_result = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._call is not None:
            self._call.__exit__()

    def ask(self) -> str | None:
        """What the golden model says, once it has a result.

        Raises
        ------
        MachineError
            WATCHDOG, if a group reaches the limit: on the hardware that comes millions of cycles later.
        """
        if self._call is None:
            self._call = Beside(_ending, *self._question)
        if self._has_result or not self._call.is_done:
            return None
        self._has_result = True
        try:
            outcome = self._call.result()
        except ToolchainError:
            return None
        if isinstance(outcome, int):
            return f"the golden model reaches the end after {outcome:,} instructions"
        if outcome.status is Status.WATCHDOG:
            raise replace(outcome, detail=f"{outcome.detail} in the golden model; the hardware was stopped before")
        return None


def _ending(job: LoadedJob, config: MachineConfig, watchdog: int) -> MachineError | int:
    """How the job fails, or how many instructions it takes."""
    try:
        return Execution(job, engine="golden", config=config, watchdog=watchdog).run().report.instructions
    except MachineError as error:
        return error
