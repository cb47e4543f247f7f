"""How the machine scales: workloads on many cores with memories of several widths, beside the model on paper."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.rtl.config import CacheConfig, MachineConfig, with_settings
from ctm.rtl.isa.limits import QUAD
from ctm.sim.report import workloads
from ctm.sim.report.benchmark import require_right
from ctm.sim.report.cycles import PEAK_PER_LANE
from ctm.sim.report.scale.model import Demand, PaperMachine, least_product_bytes, predict
from ctm.sim.report.scale.record import Record, ScaleMeasurement
from ctm.sim.report.workloads import Prepared, Workload, executable, prepare

CORES = (1, 2, 4, 8, 16)
WIDTHS = (16, 32, 64)
"""Bytes a cycle of memory in all, in each direction."""
_PORTS, _MOST_BANKS, _MOST_OUTPUT_BANKS = 4, 4, 2
_QUAD_LINES = 2
"""Lines into which a quad writes elements of 16 bytes; smaller ones lie in one."""
_WIDE_ELEMENT, _FLOAT_BYTES = 4, 4
"""Channels of such an element, and bytes of each; what is expected may be more exact than what is written."""
_WIDTH = 132


@dataclass(frozen=True)
class Work:
    """What is measured; making it takes a while, because numpy computes what has to come out."""

    make: Callable[[], Workload]
    product: int = 0
    """The side of a product of matrices."""


WORK: Mapping[str, Work] = {
    **{f"matmul {side}": Work(partial(workloads.matmul, side), side) for side in (128, 256, 512)},
    "mandelbrot 256 x 256": Work(partial(workloads.mandelbrot, 256)),
    "blur 256 x 256": Work(workloads.blur),
    "saxpy 512 x 512 x vec4": Work(partial(workloads.saxpy, 512)),
    "nbody 1,024": Work(partial(workloads.nbody, 32)),
}
"""By names that have sizes."""


def machine(config: MachineConfig, cores: int, width: int) -> MachineConfig:
    """A machine of many cores: four local ports, up to four banks; one model of the hardware for all widths."""
    output_banks = min(_MOST_OUTPUT_BANKS, cores)
    return with_settings(
        config,
        {
            "array.cores": cores,
            "shared_cache.banks": min(_MOST_BANKS, cores),
            "output_cache.banks": output_banks,
            "output_cache.lines": config.output_cache.lines * output_banks,
            "memory.local_ports": _PORTS,
            "memory.bytes_per_cycle": width // _PORTS,
        },
    )


def cores_to_run(record: Record, names: Iterable[str]) -> list[int]:
    """Numbers of cores on which something is missing in a record."""
    columns = [(name, width) for name in names for width in WIDTHS]
    return [cores for cores in CORES if any(record.get(name, cores, width) is None for name, width in columns)]


def measure_all(
    engine: str,
    config: MachineConfig,
    tell: Callable[[str], None],
    *,
    record: Record | None = None,
    cores: Sequence[int] = CORES,
    work: Mapping[str, Work] = WORK,
) -> list[ScaleMeasurement]:
    """All work on all machines with these numbers of cores, the first of which is one; `tell` is told what comes next.

    What the record has is not measured again; it gets each measurement as soon as that is there.

    Raises
    ------
    MachineError
        A run failed.
    WrongResultError
        A result is not what numpy says.
    """
    record = record or Record()
    found: list[ScaleMeasurement] = []
    for name, each in work.items():
        once = replace(each, make=cache(each.make))
        for width in WIDTHS:
            for count in cores:
                own = machine(config, count, width)
                measured = record.get(name, count, width)
                if measured is None:
                    tell(f"{name} on {count} cores, {width} bytes a cycle")
                    first, one = record.get(name, cores[0], WIDTHS[0]), record.get(name, cores[0], width)
                    measured = measure(engine, own, name, once, one, first)
                    record.add(measured)
                # The model may have changed since a record was made.
                paper = predict(measured.demand, PaperMachine.of(own))
                found.append(replace(measured, predicted=paper.cycles, bound=paper.bound))
    return found


def demand(one: Prepared, product: int = 0) -> Demand:
    """What a workload that ran on one core has asked for."""
    workload, counters = one.workload, one.device.report().counters
    groups = counters["groups"]
    quads = -(-counters["processors"] // QUAD)
    lines = (_QUAD_LINES if each.values.shape[2] == _WIDE_ELEMENT else 1 for each in workload.expectations)
    return Demand(
        groups=groups,
        issues=counters["issued_alu"],
        accesses=counters["input_hits"] + counters["input_misses"],
        asked=counters["input_misses"],
        read=counters["shared_misses"],
        stores=quads * sum(lines),
        written=_FLOAT_BYTES * sum(each.values.size for each in workload.expectations),
        code=len(executable(workload)),
        product=product,
    )


def measure(
    engine: str,
    config: MachineConfig,
    name: str,
    work: Work,
    one: ScaleMeasurement | None,
    first: ScaleMeasurement | None,
) -> ScaleMeasurement:
    """One workload on one machine, beside what was measured on one core, with as much memory and with the narrowest.

    Errors are those of `measure_all`.
    """
    prepared = prepare(work.make(), engine, config)
    prepared.device.run(prepared.commands)
    require_right(prepared, name, engine)
    asked = first.demand if first else demand(prepared, work.product)
    cycles, array, memory = prepared.cycles, config.array, config.memory
    operations = prepared.workload.operations
    read = prepared.device.report().counters["local_read_beats"] * memory.data_bits // 8
    on_paper = PaperMachine.of(config)
    peak = PEAK_PER_LANE[prepared.workload.kind] * array.at_once * array.cores
    least = least_product_bytes(asked.product, on_paper) if asked.product else _inputs(prepared.workload)
    paper = predict(asked, on_paper)
    return ScaleMeasurement(
        name=name,
        cores=array.cores,
        width=on_paper.width,
        cycles=cycles,
        speedup=one.cycles / cycles if one else 1.0,
        peak_share=None if operations is None else operations / cycles / peak,
        read_bytes=read,
        read_ratio=read / least,
        predicted=paper.cycles,
        bound=paper.bound,
        demand=asked,
    )


def _inputs(workload: Workload) -> int:
    """Bytes of all inputs, a line at least."""
    return max(CacheConfig.LINE_BYTES, sum(array.nbytes for array in workload.inputs))


def as_fields(measurements: list[ScaleMeasurement]) -> dict[str, Any]:
    """The figures for JSON."""
    return {"scale": [asdict(found) for found in measurements]}


def print_scale(engine: str, measurements: list[ScaleMeasurement]) -> None:
    """Print the figures as a table."""
    table = Table(title=f"engine {engine}, cold caches, start_program to outputs in memory")
    table.add_column("workload", no_wrap=True)
    for title in ("cores", "bytes/cycle", "cycles", "faster", "of peak", "MB read", "of least", "on paper", "bound"):
        table.add_column(title, justify="right")
    for found in measurements:
        table.add_row(
            found.name,
            str(found.cores),
            str(found.width),
            f"{found.cycles:,}",
            f"{found.speedup:.2f}",
            "" if found.peak_share is None else f"{found.peak_share:.1%}",
            f"{found.read_bytes / 1e6:.2f}",
            f"{found.read_ratio:.2f}",
            f"{found.predicted / found.cycles - 1:+.1%}",
            found.bound,
        )
    # A narrow terminal breaks lines; cut figures would say nothing.
    Console(width=max(_WIDTH, Console().width)).print(table)
