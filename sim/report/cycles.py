"""How many cycles the hardware takes: workloads on a cycle-accurate engine, with memories of several latencies."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from rtl.config import MachineConfig, with_settings
from sim.report import workloads
from sim.report.benchmark import WrongResultError
from sim.report.workloads import Workload, prepare

LATENCIES = (20, 50, 200)
_PEAK_PER_LANE = 8
"""Multiplications and additions of a vec4 multiply-add."""
_WIDTH = 108
_BEATS = ("local_read_beats", "local_write_beats", "system_read_beats", "system_write_beats")


@dataclass(frozen=True, kw_only=True)
class CycleMeasurement:
    """One workload with cold caches, from start_program until its outputs are in memory.

    Shares are of the cycles; operations are multiplications and additions of the task by its definition. Host rates
    are those of one run, with the command buffer and what is around it.
    """

    name: str
    latency: int
    cycles: int
    alu_share: float
    """Cycles in which a core issues an ALU or OUTPUT instruction, per core."""
    operations_per_cycle: float | None
    peak_share: float | None
    """Of the operations that all lanes could do."""
    bytes_per_cycle: float
    """Read and written at all memory ports."""
    cycle_rate: float
    """Simulated cycles per second of the host."""
    operation_rate: float | None
    """Simulated operations per second of the host."""


def work() -> Iterator[tuple[str, Workload]]:
    """What is measured, by a name that has its size."""
    yield "saxpy 128 x 128 x vec4", workloads.saxpy(128)
    yield "matmul 64", workloads.matmul(64)
    yield "matmul 128", workloads.matmul(128)
    yield "mandelbrot 256 x 256", workloads.mandelbrot(256)
    yield "nbody 1,024", workloads.nbody(32)
    yield "blur 256 x 256", workloads.blur()


def measure_cycles(name: str, workload: Workload, engine: str, config: MachineConfig) -> CycleMeasurement:
    """Run a workload once on a new machine.

    Raises
    ------
    MachineError
        The run failed.
    WrongResultError
        Its result is not what numpy says.
    """
    prepared = prepare(workload, engine, config)
    start = time.perf_counter()
    prepared.device.run(prepared.commands)
    seconds = time.perf_counter() - start
    if not prepared.is_right():
        raise WrongResultError(f"{name} on engine {engine} does not compute what numpy says")
    report, cycles, array = prepared.device.report(), prepared.cycles, config.array
    beats = sum(report.counters[beat] for beat in _BEATS)
    operations = workload.operations
    return CycleMeasurement(
        name=name,
        latency=config.memory.latency,
        cycles=cycles,
        alu_share=report.counters["issued_alu"] / (cycles * array.cores),
        operations_per_cycle=None if operations is None else operations / cycles,
        peak_share=None if operations is None else operations / cycles / (_PEAK_PER_LANE * array.lanes * array.cores),
        bytes_per_cycle=beats * config.memory.data_bits / 8 / cycles,
        cycle_rate=(report.cycles or 0) / seconds,
        operation_rate=None if operations is None else operations / seconds,
    )


def measure_all(engine: str, config: MachineConfig, tell: Callable[[str], None]) -> list[CycleMeasurement]:
    """All work with all latencies; `tell` is told what comes next. Errors as `measure_cycles`."""
    found = []
    for name, workload in work():
        for latency in LATENCIES:
            tell(f"{name}, memory latency {latency}")
            slower = with_settings(config, {"memory.latency": latency})
            found.append(measure_cycles(name, workload, engine, slower))
    return found


def as_fields(measurements: list[CycleMeasurement]) -> list[dict[str, Any]]:
    """The figures for JSON."""
    return [asdict(found) for found in measurements]


def print_cycles(engine: str, measurements: list[CycleMeasurement]) -> None:
    """Print the figures as a table."""
    table = Table("workload", title=f"engine {engine}, cold caches, start_program to outputs in memory")
    for title in ("latency", "cycles", "ALU issue", "op/cycle", "of peak", "bytes/cycle", "kcycles/s", "M op/s"):
        table.add_column(title, justify="right")
    for found in measurements:
        table.add_row(
            found.name,
            str(found.latency),
            f"{found.cycles:,}",
            f"{found.alu_share:.3f}",
            "" if found.operations_per_cycle is None else f"{found.operations_per_cycle:.2f}",
            "" if found.peak_share is None else f"{found.peak_share:.1%}",
            f"{found.bytes_per_cycle:.2f}",
            f"{found.cycle_rate / 1e3:,.0f}",
            "" if found.operation_rate is None else f"{found.operation_rate / 1e6:.2f}",
        )
    # A narrow terminal breaks lines; cut figures would say nothing.
    Console(width=max(_WIDTH, Console().width)).print(table)
