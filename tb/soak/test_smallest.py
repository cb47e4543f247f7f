"""Random work on machines whose settings all have their lowest values."""

from dataclasses import fields

import pytest

from ctm.rtl.config import DEFAULT, R700, MachineConfig, with_settings
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.tb.lib.buildable import buildable
from ctm.tb.soak.comparison import Comparison
from ctm.tb.soak.programs import R5XX, Source
from ctm.tb.soak.r700 import R700 as R700_SOURCE
from ctm.tb.soak.work import draw_work

_SECTIONS = (
    "array", "arithmetic", "presubtract", "memory", "input_cache", "shared_cache", "output_cache", "conditional_cache",
)  # fmt: skip
_SIMULATED_OR_DRAWS = ("memory.latency", "memory.bytes_per_cycle", "array.outputs")
_POWERS = tuple(1 << power for power in range(12))


def smallest(preset: MachineConfig) -> MachineConfig:
    """The preset with one memory port, and the lowest value of each number that fits the others."""
    config = with_settings(preset, {"memory.split": ADDRESS_SPACE})
    for section in _SECTIONS:
        for setting in fields(getattr(preset, section)):
            name, value = f"{section}.{setting.name}", getattr(getattr(config, section), setting.name)
            if name not in (*_SIMULATED_OR_DRAWS, "memory.split") and isinstance(value, int):
                config = _lowered(config, name)
    return config


def _lowered(config: MachineConfig, name: str) -> MachineConfig:
    # In the array 0 means that another setting counts.
    for value in _POWERS if name.startswith("array.") else (0, *_POWERS):
        lower = buildable(config, {name: value})
        if lower is not None:
            return lower
    return config


@pytest.mark.long
@pytest.mark.parametrize(("preset", "source"), [(DEFAULT, R5XX), (R700, R700_SOURCE)], ids=["r5xx", "r700"])
def test_the_smallest_machine_does_what_the_model_does(preset: MachineConfig, source: Source) -> None:
    config = smallest(preset)
    assert (config.array.lookups, config.memory.outstanding_lines, config.array.rate) == (1, 1, 1)
    for seed in range(60):
        Comparison(draw_work(seed, source), config).run()
