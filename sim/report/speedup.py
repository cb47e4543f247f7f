"""How fast compiled programs run: workloads on engine `fast` beside the golden engine, in one run."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.rtl.config import MachineConfig
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.report.benchmark import best_run, require_right
from ctm.sim.report.workloads import Prepared, Workload, prepare

_MILLION = 1e6
_LEAST = 0.5
"""Seconds of runs of which the best one counts: many take a millisecond, in which a computer may do other things."""


@dataclass(frozen=True, kw_only=True)
class Speedup:
    """One workload; seconds are those of its command buffer's fastest run, on one processor of the host unless said.

    `compile_seconds` is what the first run takes longer where nothing is in the cache folder, `start_seconds` the same
    in a new engine that finds its program there.
    """

    name: str
    golden_seconds: float
    seconds: float
    seconds_on_all_processors: float
    compile_seconds: float
    start_seconds: float
    lane_instruction_rate: float
    """Per second, on one processor."""
    operation_rate: float | None
    """Multiplications and additions of the task by its definition, the same."""

    @property
    def times_golden(self) -> float:
        """How many times as fast as the golden engine, on one processor."""
        return self.golden_seconds / self.seconds

    @property
    def times_one(self) -> float:
        """How many times as fast all processors are as one."""
        return self.seconds / self.seconds_on_all_processors


def measure(workload: Workload, config: MachineConfig) -> Speedup:
    """Run a workload on both engines.

    Raises
    ------
    MachineError
        A run failed.
    WrongResultError
        Its result is not what numpy says.
    ToolchainError
        Packages of engine `fast` are missing.
    """
    everywhere, _ = _begin(workload, FastEngine.name, config)
    with _one_processor(), _empty_cache():
        fast, first = _begin(workload, FastEngine.name, config)
        lane_instructions = fast.device.report().lane_instructions
        _, again = _begin(workload, FastEngine.name, config)
        golden, _ = _begin(workload, GoldenEngine.name, config)
        seconds = best_run(fast, _LEAST)
        golden_seconds = best_run(golden)
    rate = 1 / seconds
    return Speedup(
        name=workload.name,
        golden_seconds=golden_seconds,
        seconds=seconds,
        seconds_on_all_processors=best_run(everywhere, _LEAST),
        compile_seconds=max(0.0, first - seconds),
        start_seconds=max(0.0, again - seconds),
        lane_instruction_rate=lane_instructions * rate,
        operation_rate=None if workload.operations is None else workload.operations * rate,
    )


def measure_all(
    listed: Iterable[Workload], machines: Mapping[str, MachineConfig], tell: Callable[[str], None]
) -> list[Speedup]:
    """All workloads that run on `machines`, by instruction set; `tell` is told what comes next. Errors as `measure`."""
    found = []
    for workload in listed:
        machine = machines[workload.kind]
        if workload.runs_on(machine):
            tell(f"{workload.name} on engines {FastEngine.name} and {GoldenEngine.name}")
            found.append(measure(workload, machine))
    return found


def as_fields(found: Iterable[Speedup]) -> dict[str, Any]:
    """The figures for JSON."""
    return {
        "processors": len(os.sched_getaffinity(0)),
        "fast": [
            asdict(each) | {"times_golden": each.times_golden, "times_one": each.times_one} for each in found
        ],
    }  # fmt: skip


def print_speedups(found: Iterable[Speedup]) -> None:
    """Print the figures as a table."""
    console, processors = Console(), len(os.sched_getaffinity(0))
    table = Table("workload", title=f"engine {FastEngine.name} on one processor")
    for title in ("ms", "x golden", "x one", "M/s", "M op/s", "compile s", "start s"):
        table.add_column(title, justify="right")
    for each in found:
        table.add_row(
            each.name,
            f"{each.seconds * 1e3:.2f}",
            f"{each.times_golden:.1f}",
            f"{each.times_one:.2f}",
            f"{each.lane_instruction_rate / _MILLION:,.0f}",
            "" if each.operation_rate is None else f"{each.operation_rate / _MILLION:,.0f}",
            f"{each.compile_seconds:.2f}",
            f"{each.start_seconds:.3f}",
        )
    console.print(table)
    console.print(f"x one: {processors} processors beside one; M/s: lane instructions; op: multiplications, additions")


def _begin(workload: Workload, engine: str, config: MachineConfig) -> tuple[Prepared, float]:
    """A workload on a new device, and the seconds of its first run, whose result is right."""
    prepared = prepare(workload, engine, config)
    prepared.device.submit(prepared.commands)
    begun = time.perf_counter()
    prepared.device.wait()
    seconds = time.perf_counter() - begun
    require_right(prepared, workload.name, engine)
    return prepared, seconds


@contextmanager
def _one_processor() -> Iterator[None]:
    """Threads that are made inside have one processor of the host."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextmanager
def _empty_cache() -> Iterator[None]:
    """A cache folder in which nothing is."""
    name = "XDG_CACHE_HOME"
    before = os.environ.get(name)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[name] = folder
        try:
            yield
        finally:
            del os.environ[name]
            if before is not None:
                os.environ[name] = before
