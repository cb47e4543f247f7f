"""Records the cycles below which tests keep the hardware and compiled kernels: `tb/system/*.json`.

``python -m scripts.recorded_cycles`` measures all workloads and kernels on engine `rtl` with the default presets, and
the kernels' instructions on `fast`. Names restrict it: ``python -m scripts.recorded_cycles "matmul 128" r700/sha256``;
the records of the others stay. The cycles are the same on every computer. What changed is printed.
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ctm.rtl.config import DEFAULT_PRESETS, PRESETS, with_settings
from ctm.sim.engines.engine import Report
from ctm.sim.report.cycles import LATENCIES
from ctm.sim.report.workloads import prepare
from ctm.tb.system.kernel_jobs import JOBS, run
from ctm.tb.system.test_cycles import listed
from scripts.records import read_records, write_records

_FOLDER = Path(__file__).parents[1] / "tb" / "system"
WORKLOADS, KERNELS, INSTRUCTIONS = (
    _FOLDER / f"{name}.json" for name in ("cycles", "kernel_cycles", "kernel_instructions")
)  # fmt: skip
_LANGUAGES = ("s", "c", "py")


def of_workload(name: str) -> dict[str, int]:
    """Cycles by latency of memory.

    Raises
    ------
    RuntimeError
        A result is not what numpy says.
    """
    workload, found = listed()[name], {}
    for latency in LATENCIES:
        config = with_settings(PRESETS[DEFAULT_PRESETS[workload.kind]], {"memory.latency": latency})
        prepared = prepare(workload, "rtl", config)
        prepared.device.run(prepared.commands)
        if not prepared.is_right():
            raise RuntimeError(f"{name} differs from numpy")
        found[str(latency)] = prepared.cycles
    return found


def cycles_of_kernel(name: str) -> dict[str, int]:
    """Cycles by language, "s" for the program written by hand."""
    return {language: _report(name, language, "rtl").cycles or 0 for language in _LANGUAGES}


def instructions_of_kernel(name: str) -> dict[str, int]:
    """Instructions of wavefronts by language."""
    return {language: _report(name, language, "fast").instructions for language in _LANGUAGES}


def _report(name: str, language: str, engine: str) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        return run(name, language, Path(folder), engine).report


def record(file: Path, names: Iterable[str], measure: Callable[[str], dict[str, int]], order: Iterable[str]) -> None:
    """Measure some names and write them at once, each with what it was."""
    records, order = read_records(file), tuple(order)
    for name in names:
        before, records[name] = records.get(name), measure(name)
        change = "as before" if before == records[name] else f"before {before}"
        print(f"{file.name}: {name}: {records[name]}, {change}", file=sys.stderr, flush=True)
        write_records(file, records, order)


def main(names: list[str]) -> None:
    """Record these workloads and kernels, or all."""
    unknown = set(names) - listed().keys() - JOBS.keys()
    if unknown:
        known = ", ".join((*listed(), *JOBS))
        sys.exit(f"error: there is no {', '.join(sorted(unknown))}; there is: {known}")
    kernels = [name for name in JOBS if name in names or not names]
    record(INSTRUCTIONS, kernels, instructions_of_kernel, JOBS)
    record(KERNELS, kernels, cycles_of_kernel, JOBS)
    record(WORKLOADS, [name for name in listed() if name in names or not names], of_workload, listed())


if __name__ == "__main__":
    main(sys.argv[1:])
