"""What is done for a point, in this process or at a worker: run it, and say what was counted."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.assembler import AssemblyError
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.engines.choice import ENGINES
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.report.provenance import hashes
from ctm.sim.report.utilisation import utilisation
from ctm.sim.sweep.area import count_luts
from ctm.sim.sweep.content import update
from ctm.sim.sweep.error import SweepError

OK, ERROR = "ok", "error"
"""Of `status`: a point that ended, and one that failed for what is not the machine's. Others are machine errors."""
FAILURES = (ToolchainError, AssemblyError, SweepError, OSError, MemoryError, ValueError, TimeoutError, ArithmeticError)
"""What a point may fail with through no fault of the machine."""

Record = dict[str, Any]
"""What a point or an area gives, as JSON has it."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A point as a worker runs it; `job` is the hash of its job."""

    identity: str
    job: str
    config: MachineConfig
    engine: str
    watchdog: int
    max_cycles: int | None


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All work of a sweep that is left: points, their jobs by hash, and hardware whose area is to be counted."""

    tasks: tuple[Task, ...]
    jobs: Mapping[str, LoadedJob]
    areas: Mapping[str, MachineConfig]

    @property
    def size(self) -> int:
        """Records that it gives."""
        return len(self.tasks) + len(self.areas)


def measure(task: Task, job: LoadedJob) -> Record:
    """Run a point; what it counted, or why it failed."""
    start = time.perf_counter()
    try:
        execution = Execution(
            job, engine=task.engine, config=task.config, watchdog=task.watchdog,
            max_cycles=task.max_cycles if ENGINES[task.engine].counts_cycles else None,
        )  # fmt: skip
        result = execution.run()
    except MachineError as error:
        return failed(task, error.status.name.lower(), str(error))
    except CycleLimitError as error:
        return failed(task, "cycle_limit", str(error))
    except FAILURES as error:
        return failed(task, ERROR, str(error) or type(error).__name__)
    seconds = time.perf_counter() - start
    return {
        "point": task.identity, "status": OK, "reason": None, "ran": execution.device.ran,
        **_counts(result, task.config),
        "host_seconds": round(seconds, 6),
        "program_sha256": " ".join(sorted(hashes(execution.programs()).values())),
        "outputs_sha256": _outputs(result),
    }  # fmt: skip


def failed(task: Task, status: str, reason: str) -> Record:
    """The record of a point that failed."""
    return {"point": task.identity, "status": status, "reason": reason.partition("\n")[0]}


def counted(hardware: str, config: MachineConfig) -> Record:
    """The area of a machine; or why there is none."""
    try:
        return {"area": hardware, "lut4": count_luts(config), "reason": None}
    except FAILURES as error:
        return uncounted(hardware, str(error))


def uncounted(hardware: str, reason: str) -> Record:
    """The record of an area that was not counted."""
    return {"area": hardware, "lut4": None, "reason": reason.partition("\n")[0]}


def _counts(result: Run, config: MachineConfig) -> Record:
    report = result.report
    counts: Record = {
        "cycles": report.cycles, "instructions": report.instructions, "lane_instructions": report.lane_instructions,
        **{f"counter.{name}": value for name, value in report.counters.items()},
    }  # fmt: skip
    if report.cycles is not None:
        used = utilisation(report.counters, cycles=report.cycles, array=config.array)
        counts["alu_share"] = used.alu_share
        counts |= {f"stall_share.{name}": share for name, share in used.stall_shares.items()}
        counts |= {f"hit_rate.{name}": rate for name, rate in used.hit_rates.items()}
        counts["operations_per_cycle"] = report.counters["lanes_alu"] / max(1, report.cycles)
        counts["bytes_moved"] = bytes_moved(report.counters, config)
    return counts


def bytes_moved(counters: Mapping[str, int], config: MachineConfig) -> int:
    """Bytes of the memory port and direction that moved most: all of them move at once."""
    beats = [count for name, count in counters.items() if name.endswith("_beats")]
    return max(beats, default=0) * config.memory.data_bits // 8


def _outputs(result: Run) -> str:
    digest = hashlib.sha256()
    for key, array in sorted(result.outputs.items(), key=lambda item: str(item[0])):
        digest.update(str(key).encode())
        update(digest, array)
    return digest.hexdigest()
