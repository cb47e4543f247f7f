"""How the machine scales: workloads on many cores with memories of several widths, beside the model on paper."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ctm.rtl.config import CacheConfig, MachineConfig, with_settings
from ctm.rtl.isa.limits import QUAD
from ctm.sim.report import workloads
from ctm.sim.report.benchmark import require_right
from ctm.sim.report.cycles import PEAK_PER_LANE
from ctm.sim.report.scale_model import Demand, PaperMachine, least_product_bytes, predict
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


@dataclass(frozen=True, kw_only=True)
class ScaleMeasurement:
    """One workload on one machine, with cold caches, from start_program until its outputs are in memory."""

    name: str
    cores: int
    width: int
    """Bytes a cycle."""
    cycles: int
    speedup: float
    """Beside one core with as much memory."""
    peak_share: float | None
    read_bytes: int
    read_ratio: float
    """Of the least: each input once; of a product of matrices, both once for each block that is resident together."""
    predicted: float
    """Cycles by the model on paper."""
    bound: str
    """What the model says is busiest."""
    demand: Demand
    """What one core has counted, which the model begins with."""


def work() -> Iterator[tuple[str, Workload, int]]:
    """What is measured, by a name that has its size; the side of a product of matrices, else 0."""
    for side in (128, 256, 512):
        yield f"matmul {side}", workloads.matmul(side), side
    yield "mandelbrot 256 x 256", workloads.mandelbrot(256), 0
    yield "blur 256 x 256", workloads.blur(), 0
    yield "saxpy 512 x 512 x vec4", workloads.saxpy(512), 0
    yield "nbody 1,024", workloads.nbody(32), 0


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


def measure_all(
    engine: str,
    config: MachineConfig,
    tell: Callable[[str], None],
    *,
    cores: Sequence[int] = CORES,
    listed: Callable[[], Iterator[tuple[str, Workload, int]]] = work,
) -> list[ScaleMeasurement]:
    """All work on all machines with these numbers of cores, the first of which is one; `tell` is told what comes next.

    Raises
    ------
    MachineError
        A run failed.
    WrongResultError
        A result is not what numpy says.
    """
    found = []
    for name, workload, product in listed():
        for width in WIDTHS:
            one: Prepared | None = None
            asked: Demand | None = None
            for count in cores:
                own = machine(config, count, width)
                tell(f"{name} on {count} cores, {width} bytes a cycle")
                prepared = prepare(workload, engine, own)
                prepared.device.run(prepared.commands)
                require_right(prepared, name, engine)
                one = one or prepared
                asked = asked or demand(one, product)
                found.append(_compared(name, own, prepared, one, asked))
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


def _compared(name: str, config: MachineConfig, prepared: Prepared, one: Prepared, asked: Demand) -> ScaleMeasurement:
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
        speedup=one.cycles / cycles,
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


def plot(measurements: list[ScaleMeasurement], path: Path) -> None:
    """Draw how much faster workloads get with cores; the file's ending says which kind of picture it is.

    Raises
    ------
    ModuleNotFoundError
        Matplotlib is not installed: it is in the extra ``plot``.
    """
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(WIDTHS), figsize=(12, 4), sharey=True)
    for panel, width in zip(panels, WIDTHS, strict=True):
        for name in dict.fromkeys(found.name for found in measurements):
            points = [
                (found.cores, found.speedup) for found in measurements if (found.name, found.width) == (name, width)
            ]
            panel.plot(*zip(*points, strict=True), marker="o", label=name)
        panel.plot(CORES, CORES, color="grey", linewidth=0.5)
        panel.set(title=f"{width} bytes a cycle", xlabel="cores", xscale="log", yscale="log")
        panel.set_xticks(CORES, map(str, CORES))
        panel.set_yticks(CORES, map(str, CORES))
        panel.minorticks_off()
    panels[0].set_ylabel("times as fast as one core")
    panels[0].legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
