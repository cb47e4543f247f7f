"""Measures what docs/settings.md says of presets: cycles of three workloads, recorded in docs/preset_cycles.json.

``python -m scripts.preset_cycles`` compiles each preset once, a minute or two each, and runs the workloads on engine
`rtl`. The cycles are the same on every computer.
"""

import sys
from pathlib import Path

from ctm.rtl.config import PRESETS
from ctm.sim.report import r700_workloads, workloads
from ctm.sim.report.workloads import Workload, prepare
from scripts.records import measured

FILE = Path(__file__).parents[1] / "docs" / "preset_cycles.json"
WORKLOADS = ("saxpy 128 x 128 x vec4", "matmul 128", "mandelbrot 64 x 64")


def _work(kind: str) -> tuple[Workload, ...]:
    """The three workloads for an instruction set, in the order of `WORKLOADS`."""
    if kind == "r700":
        return r700_workloads.saxpy(128), r700_workloads.matmul(128), r700_workloads.mandelbrot(64)
    return workloads.saxpy(128), workloads.matmul(128), workloads.mandelbrot(64)


def measure(preset: str) -> dict[str, int]:
    """Cycles of the workloads on a preset, with cold caches.

    Raises
    ------
    RuntimeError
        A result is not what numpy says.
    """
    config, found = PRESETS[preset], {}
    for name, workload in zip(WORKLOADS, _work(config.array.instruction_set), strict=True):
        prepared = prepare(workload, "rtl", config)
        prepared.device.run(prepared.commands)
        if not prepared.is_right():
            raise RuntimeError(f"{name} on {preset} differs from numpy")
        found[name] = prepared.cycles
        print(f"{preset}: {name}: {prepared.cycles:,} cycles", file=sys.stderr, flush=True)
    return found


def main(presets: list[str]) -> None:
    """Measure some presets, or all, and keep what is recorded of the others."""
    for _ in measured(FILE, presets, [*PRESETS], measure):
        pass


if __name__ == "__main__":
    main(sys.argv[1:])
