"""Measures the transcendental operations over all 2^32 operands and writes docs/accuracy.md.

One operation takes a few minutes on two cores. Its row is written when it is done, the other rows stay: operations can
be measured one by one. With --rtl the hardware unit, compiled, is compared with the golden model instead, bit for bit.
"""

import math
import multiprocessing
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from ctm.tb.golden.accuracy import Measurement, Worst, consecutive, measure
from ctm.tb.golden.functions import FUNCTIONS
from scripts.equality import compare

PATH = Path(__file__).resolve().parent.parent / "docs" / "accuracy.md"
JOB = 1 << 24
BLOCK = 1 << 17
JOBS = (1 << 32) // JOB

TITLES = (
    "operation",
    "worst error, ulp",
    "at operand",
    "worst absolute error",
    "at operand",
    "correctly rounded",
    "known exactly",
    "of these wrong",
    "not monotone",
    "not symmetric",
)

TEXT = """# Accuracy of the transcendental operations

Written by `scripts/accuracy`, which computes each operation for every one of the 2^32 operand words, denormals,
infinities and NaNs included. Error limits: below 1 ulp, and at most 1 of the absolute units shown.

* **Worst error, ulp**: |result - exact| in ulp of the exact value. For LN2 only where the exact
  value is at least 2^-6 in magnitude.
* **Worst absolute error**: for LN2 where the exact value is smaller than that; for SIN and COS everywhere.
* **Correctly rounded**: share of the measured operands with a result that is a float32 nearest to the exact value. Two
  thirds of the operands measured for SIN are below 2^-28; their result is a zero.
* **Known exactly**: operands with a result that is compared bit for bit, not measured. For all operations these are
  zeros, denormals, infinities, NaNs, operands outside the domain, overflow and underflow. For RCP and LN2 they are
  powers of two, for RSQ powers of four, for EX2 integers, for SIN and COS multiples of a quarter of a revolution.
* **Not monotone**: pairs of neighbouring operands with results in the wrong order.
* **Not symmetric**: operands x with RCP(-x) or SIN(-x) other than -f(x), or COS(-x) other than f(x), bit for bit.

The exact values are computed in float64, with an error of less than 2^-26 ulp of a float32. Arguments of SIN and COS
are reduced exactly first. `docs/arithmetic.md` describes the unit.

"""


def main(
    operations: Annotated[list[str] | None, typer.Argument(help="RCP, RSQ, EX2, LN2, SIN, COS; all without")] = None,
    fraction: Annotated[float, typer.Option(min=1 / JOBS, max=1, help="share of operands; below 1 writes nothing")] = 1,
    rtl: Annotated[bool, typer.Option("--rtl", help="compare the hardware with the golden model instead")] = False,
) -> None:
    """Measure, show and record the accuracy of some operations."""
    names = [name.upper() for name in operations or FUNCTIONS]
    unknown = [name for name in names if name not in FUNCTIONS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(FUNCTIONS)}")
    console = Console(stderr=True)
    step = round(1 / fraction)
    if rtl:
        compare(names, step, console)
        return
    for name in names:
        row = table_row(name, measure_operation(name, range(0, JOBS, step), console))
        print(row)
        if step == 1:
            write(name, row)


def measure_operation(name: str, jobs: range, console: Console) -> Measurement:
    """One operation over some jobs, on all cores."""
    total = Measurement()
    with multiprocessing.Pool() as pool:
        results = pool.imap_unordered(measure_job, [(name, job) for job in jobs])
        for result in track(results, description=name, total=len(jobs), console=console):
            total.merge(result)
    return total


def measure_job(job: tuple[str, int]) -> Measurement:
    """One operation over the words of one job."""
    name, number = job
    total = Measurement()
    for first in range(number * JOB, (number + 1) * JOB, BLOCK):
        total.merge(measure(FUNCTIONS[name], consecutive(first, BLOCK)))
    return total


def table_row(name: str, measured: Measurement) -> str:
    """The operation's line in the table."""
    function = FUNCTIONS[name]
    unit = f" * 2^{round(math.log2(function.unit))}" if function.unit else ""
    cells = [
        name,
        *worst_cells(measured.relative, ""),
        *worst_cells(measured.absolute, unit),
        f"{100 * measured.nearest / measured.measured:.1f} %",
        f"{measured.special:,}",
        str(measured.special_wrong),
        str(measured.not_monotone) if function.direction else "-",
        str(measured.not_symmetric) if function.parity else "-",
    ]
    return f"| {' | '.join(cells)} |"


def worst_cells(worst: Worst, unit: str) -> tuple[str, str]:
    """Error and operand; dashes where nothing is measured so."""
    return (f"{worst.error:.4f}{unit}", f"0x{worst.word:08x}") if worst.error else ("-", "-")


def write(name: str, row: str) -> None:
    """Put one row into the document, in the order of the operations, keeping the others."""
    lines = PATH.read_text(encoding="utf-8").splitlines() if PATH.exists() else []
    rows = {other: line for other in FUNCTIONS for line in lines if line.startswith(f"| {other} |")}
    rows[name] = row
    head = [f"| {' | '.join(TITLES)} |", "|---" * len(TITLES) + "|"]
    table = head + [rows[other] for other in FUNCTIONS if other in rows]
    PATH.write_text(TEXT + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
