"""Measures what docs/settings.md says of presets: the clock on an LFE5U-85F, recorded in docs/preset_clocks.json.

``python -m scripts.preset_clocks`` places and routes each preset that fits, as ``ctm synth --preset P --seeds 3`` does:
an hour or two each. With names of presets the others stay as they are recorded.
"""

import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ctm.rtl.config import PRESETS
from ctm.sim.synthesis.whole import measure_machine
from scripts.records import measured

FILE = Path(__file__).parents[1] / "docs" / "preset_clocks.json"
SEEDS = 3

Clocks = Mapping[str, float | None]
"""MHz of each seed; None: not routed."""


def measure(preset: str) -> Clocks:
    """The clock of each seed after routing; empty if the preset does not fit."""
    with tempfile.TemporaryDirectory(prefix="ctm-clocks-") as folder:
        seeds = range(1, SEEDS + 1)
        found = measure_machine(PRESETS[preset], folder=Path(folder), seeds=seeds)
    routed = {placed.seed: round(placed.frequency, 1) for placed in found.placements}
    if not routed and not found.unrouted:
        return {}
    return {str(seed): routed.get(seed) for seed in seeds}


def median(clocks: Clocks) -> str:
    """The median in MHz, of which a seed without a route is the least; a dash if it has none or there are no seeds."""
    found = statistics.median_low(each or 0.0 for each in clocks.values()) if clocks else 0.0
    return f"{found:.1f}" if found else "-"


def main(presets: list[str]) -> None:
    """Measure some presets, or all, and keep what is recorded of the others."""
    for preset, recorded in measured(FILE, presets, [*PRESETS], measure):
        print(f"{preset}: {median(recorded[preset])} MHz", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
