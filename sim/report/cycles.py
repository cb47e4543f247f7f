"""How many cycles the hardware takes: workloads on a cycle-accurate engine, with memories of several latencies."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.rtl.config import MachineConfig, with_settings
from ctm.sim.report import r700_workloads, workloads
from ctm.sim.report.benchmark import RUNS, require_right
from ctm.sim.report.others import OTHERS
from ctm.sim.report.utilisation import utilisation
from ctm.sim.report.workloads import Prepared, Workload, prepare

LATENCIES = (20, 50, 200)
_RUNS_END = 5.0
"""Seconds after which a workload is not run again."""
_PROGRAMS = 32
"""Run in succession."""
_SUCCESSIVE = "r5xx"
"""What these are for."""
PEAK_PER_LANE = {"r5xx": 8, "r700": 10}
"""Multiplications and additions of a vec4 multiply-add, or of a group of five."""
_WIDTH = 144
_THOUSAND, _MILLION = 1e3, 1e6
_BEATS = ("local_read_beats", "local_write_beats", "system_read_beats", "system_write_beats")


@dataclass(frozen=True, kw_only=True)
class CycleMeasurement:
    """One workload with cold caches, from start_program until its outputs are in memory.

    Shares are of the cycles; operations are multiplications and additions of the task by its definition. Host rates
    are those of the fastest of a few runs, with the command buffer and what is around it.
    """

    name: str
    latency: int
    cycles: int
    alu_share: float
    """Cycles in which a core issues an ALU or OUTPUT instruction, per core."""
    stall_shares: dict[str, float]
    """Cycles in which a core that has groups issues none, per core, by cause (`docs/isa.md`, counters)."""
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
    yield "r700/saxpy 128 x 128 x vec4", r700_workloads.saxpy(128)
    yield "r700/matmul 128", r700_workloads.matmul(128)
    yield "r700/matmul 256", r700_workloads.matmul(256)
    yield "r700/mandelbrot 64 x 64", r700_workloads.mandelbrot(64)
    yield "r700/sha256 1,024", r700_workloads.sha256(32)


@dataclass(frozen=True, kw_only=True)
class Succession:
    """Programs of 64 pixels with one output, in succession, with warm caches.

    Of each one's `cycles`, `idle` see no ALU instruction, per core: a bound of the time from the last one of a program
    to the first one of the next.
    """

    cycles: float
    idle: float


def measure_cycles(name: str, workload: Workload, engine: str, config: MachineConfig) -> CycleMeasurement:
    """Run a workload on a new machine, as often as is worth it for the host's rates.

    Raises
    ------
    MachineError
        The run failed.
    WrongResultError
        Its result is not what numpy says.
    """
    prepared = prepare(workload, engine, config)
    first = _seconds(prepared)
    require_right(prepared, name, engine)
    report, cycles, array = prepared.device.report(), prepared.cycles, config.array
    more = min(RUNS - 1, int(_RUNS_END / first))
    seconds = min([first, *(_seconds(prepared) for _ in range(more))])
    beats = sum(report.counters[beat] for beat in _BEATS)
    used = utilisation(report.counters, cycles=cycles, array=array)
    operations, peak = workload.operations, PEAK_PER_LANE[workload.kind] * array.at_once * array.cores
    return CycleMeasurement(
        name=name,
        latency=config.memory.latency,
        cycles=cycles,
        alu_share=used.alu_share,
        stall_shares=used.stall_shares,
        operations_per_cycle=None if operations is None else operations / cycles,
        peak_share=None if operations is None else operations / cycles / peak,
        bytes_per_cycle=beats * config.memory.data_bits / 8 / cycles,
        cycle_rate=(report.cycles or 0) / seconds,
        operation_rate=None if operations is None else operations / seconds,
    )


def _seconds(prepared: Prepared) -> float:
    start = time.perf_counter()
    prepared.device.run(prepared.commands)
    return time.perf_counter() - start


def measure_succession(engine: str, config: MachineConfig) -> Succession | None:
    """Run one program and many, so that the difference is theirs alone; None if the machine is not for their kind.

    Errors as `measure_cycles`.
    """
    if config.array.instruction_set != _SUCCESSIVE:
        return None
    one, many = (workloads.succession(engine, config, count) for count in (1, 1 + _PROGRAMS))
    for prepared in (one, many):
        prepared.device.run(prepared.commands)
        require_right(prepared, prepared.workload.name, engine)
    cycles = (many.cycles - one.cycles) / _PROGRAMS
    issued = [prepared.device.report().counters["issued_alu"] for prepared in (one, many)]
    return Succession(cycles=cycles, idle=cycles - (issued[1] - issued[0]) / (_PROGRAMS * config.array.cores))


def measure_all(
    engine: str, machines: Mapping[str, MachineConfig], tell: Callable[[str], None]
) -> list[CycleMeasurement]:
    """All work that runs on `machines`, by instruction set, with all latencies; `tell` is told what comes next.

    Errors as `measure_cycles`.
    """
    found = []
    for name, workload in work():
        machine = machines[workload.kind]
        if not workload.runs_on(machine):
            continue
        for latency in LATENCIES:
            tell(f"{name}, memory latency {latency}")
            slower = with_settings(machine, {"memory.latency": latency})
            found.append(measure_cycles(name, workload, engine, slower))
    return found


def as_fields(measurements: list[CycleMeasurement], succession: Succession | None) -> dict[str, Any]:
    """The figures for JSON."""
    cycles = [asdict(found) for found in measurements]
    return {"cycles": cycles, "succession": None if succession is None else asdict(succession)}


def print_cycles(engine: str, measurements: list[CycleMeasurement], succession: Succession | None) -> None:
    """Print the figures as a table, with those of other machines at its end."""
    table = Table(title=f"engine {engine}, cold caches, start_program to outputs in memory")
    table.add_column("workload", no_wrap=True)
    for title in (
        "latency",
        "cycles",
        "ALU issue",
        "stalls",
        "op/cycle",
        "of peak",
        "bytes/cycle",
        "kcycles/s",
        "M op/s",
    ):
        table.add_column(title, justify="right")
    for found in measurements:
        table.add_row(
            found.name,
            str(found.latency),
            f"{found.cycles:,}",
            f"{found.alu_share:.3f}",
            _greatest(found.stall_shares),
            "" if found.operations_per_cycle is None else f"{found.operations_per_cycle:.2f}",
            "" if found.peak_share is None else f"{found.peak_share:.1%}",
            f"{found.bytes_per_cycle:.2f}",
            f"{found.cycle_rate / _THOUSAND:,.0f}",
            "" if found.operation_rate is None else f"{found.operation_rate / _MILLION:.2f}",
        )
    table.add_section()
    for other in OTHERS:
        rates = _range(other.cycle_rates, _THOUSAND), _range(other.operation_rates, _MILLION)
        table.add_row(other.name, *[""] * 5, f"{other.peak_share:.0%}", "", *rates)
    # A narrow terminal breaks lines; cut figures would say nothing.
    console = Console(width=max(_WIDTH, Console().width))
    console.print(table)
    if succession is not None:
        console.print(
            f"programs of 64 pixels, in succession: {succession.cycles:.0f} cycles each, "
            f"{succession.idle:.0f} without an ALU instruction"
        )


def _greatest(shares: dict[str, float]) -> str:
    """The most frequent cause of stalls."""
    cause = max(shares, key=lambda each: shares[each])
    return f"{cause} {shares[cause]:.3f}"


def _range(rates: tuple[float, float] | None, unit: float) -> str:
    if rates is None:
        return ""
    low, high = (f"{rate / unit:.3g}" for rate in rates)
    return low if low == high else f"{low} to {high}"
