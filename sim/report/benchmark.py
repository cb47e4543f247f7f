"""How fast an engine runs: workloads, timed beside a fixed numpy loop, so that different computers can be compared."""

import resource
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ctm.rtl.config import MachineConfig
from ctm.sim.report.workloads import Prepared, Workload, prepare

RUNS = 5
_MILLION = 1e6
_LANES, _ROUNDS = 16_384, 500


class WrongResultError(Exception):
    """A workload that did not compute what numpy says."""


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One workload; `seconds` is the best of five runs of its command buffer. Rates are per second."""

    name: str
    seconds: float
    instructions: int
    lane_instructions: int
    lane_instruction_rate: float
    calibration_ratio: float
    """Lane instructions per float32 multiply-add of the calibration loop in the same time."""
    operation_rate: float | None
    """Multiplications and additions of the task by its definition."""


def calibrate() -> float:
    """Multiply-adds a second of numpy on float32 arrays that fit the second-level cache."""
    a, b, c = np.random.default_rng(0).random((3, 4, _LANES), np.float32)
    result = np.empty_like(a)

    def loop() -> None:
        for _ in range(_ROUNDS):
            np.multiply(a, b, out=result)
            np.add(result, c, out=result)

    return float(_ROUNDS * a.size / _best_time(loop))


def require_right(prepared: Prepared, name: str, engine: str) -> None:
    """Raise WrongResultError if the outputs are not what numpy says."""
    if not prepared.is_right():
        raise WrongResultError(f"{name} on engine {engine} does not compute what numpy says")


def measure(workload: Workload, engine: str, config: MachineConfig, calibration: float) -> Measurement:
    """Run a workload on an engine.

    Raises
    ------
    MachineError
        The run failed.
    WrongResultError
        Its result is not what numpy says.
    """
    prepared = prepare(workload, engine, config)
    prepared.device.run(prepared.commands)
    require_right(prepared, workload.name, engine)
    report = prepared.device.report()
    seconds = best_run(prepared)
    rate = report.lane_instructions / seconds
    return Measurement(
        name=workload.name,
        seconds=seconds,
        instructions=report.instructions,
        lane_instructions=report.lane_instructions,
        lane_instruction_rate=rate,
        calibration_ratio=rate / calibration,
        operation_rate=None if workload.operations is None else workload.operations / seconds,
    )


def peak_memory() -> float:
    """The most memory that this process has had, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Measurements beside the calibration's rate, multiply-adds a second."""

    calibration: float
    measurements: list[Measurement]


def measure_all(
    listed: Iterable[Workload], engine: str, machines: Mapping[str, MachineConfig], tell: Callable[[str], None]
) -> Benchmark:
    """All workloads that run on `machines`, by instruction set; `tell` is told what comes next. Errors as `measure`."""
    tell("calibrating")
    calibration = calibrate()
    measurements = []
    for workload in listed:
        machine = machines[workload.kind]
        if workload.runs_on(machine):
            tell(f"{workload.name} on engine {engine}")
            measurements.append(measure(workload, engine, machine, calibration))
    return Benchmark(calibration=calibration, measurements=measurements)


def as_fields(found: Benchmark) -> dict[str, Any]:
    """The figures for JSON."""
    return {
        "calibration_rate": found.calibration,
        "peak_memory_mib": peak_memory(),
        "golden": [asdict(measurement) for measurement in found.measurements],
    }


def print_measurements(engine: str, found: Benchmark) -> None:
    """Print the figures as a table."""
    console = Console()
    table = Table("workload", title=f"engine {engine}, best of {RUNS} runs")
    for title in ("seconds", "lane instructions", "M/s", "ratio", "M operations/s"):
        table.add_column(title, justify="right")
    for measured in found.measurements:
        operations = "" if measured.operation_rate is None else f"{measured.operation_rate / _MILLION:,.1f}"
        table.add_row(
            measured.name,
            f"{measured.seconds:.3f}",
            f"{measured.lane_instructions:,}",
            f"{measured.lane_instruction_rate / _MILLION:,.1f}",
            f"{measured.calibration_ratio:.2%}",
            operations,
        )
    console.print(table)
    rate = found.calibration / _MILLION
    console.print(f"ratio: to the calibration loop's {rate:,.0f} M float32 multiply-adds/s in numpy")
    console.print(f"peak memory: {peak_memory():,.0f} MiB")


def best_run(prepared: Prepared, least: float = 0.0) -> float:
    """The shortest of several runs of a workload's command buffer, which take `least` seconds together."""
    return _best_time(prepared.device.wait, lambda: prepared.device.submit(prepared.commands), least)


def _best_time(action: Callable[[], object], before: Callable[[], object] = lambda: None, least: float = 0.0) -> float:
    """The shortest of several runs of `action`, seconds; `before` is done before each and not timed."""
    times: list[float] = []
    while len(times) < RUNS or sum(times) < least:
        before()
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)
