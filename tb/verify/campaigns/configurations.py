"""Random configurations: each is compiled, and runs random command buffers as the soak campaigns do.

A seed is a machine and some work for it. A failing case names the work that fails, and is reduced as those of `soak`.
"""

from collections import Counter
from typing import Any
from zlib import crc32

import numpy as np

from ctm.rtl.config import DEFAULT, R700, MachineConfig
from ctm.tb.lib.buildable import buildable
from ctm.tb.verify.campaign import Case, Found, Tables
from ctm.tb.verify.campaigns.soak import SoakCampaign

SETTINGS = "configurations settings"
_WORKS = 60
"""Work for each machine."""
_CHOICES: dict[str, tuple[int | str, ...]] = {
    "array.cores": (1, 2, 3, 4), "array.lanes": (4, 8, 16), "array.rate": (0, 1, 2), "array.threads": (4, 8, 16, 32),
    "array.temporaries": (128, 512, 1024, 2048), "array.lookups": (1, 4, 16, 64), "array.walk": ("rows", "tiles"),
    "memory.local_ports": (1, 2, 4), "memory.data_bits": (64, 128, 256), "memory.outstanding_lines": (1, 8, 64),
    "memory.split": (1 << 31, 1 << 32), "input_cache.sets": (1, 4, 32), "input_cache.ways": (1, 2, 4),
    "shared_cache.sets": (8, 32, 128), "shared_cache.ways": (1, 2, 4), "shared_cache.banks": (1, 2, 4),
    "output_cache.lines": (16, 32), "output_cache.banks": (1, 2, 4), "conditional_cache.sets": (1, 4, 16),
    "conditional_cache.ways": (1, 2, 4),
    **{f"arithmetic.{step}": (0, 1) for step in ("operands", "alignment", "addition", "normalisation", "rounding")},
}  # fmt: skip
"""Values of settings; of each machine about half stay those of the preset."""
_R700_CHOICES: dict[str, tuple[int | str, ...]] = {
    "array.wavefront": (4, 8, 16, 32, 64), "array.stack_entries": (64, 256, 1024), "array.temporaries": (512, 2048),
}  # fmt: skip
_PRESETS = {"r5xx": (DEFAULT, _CHOICES), "r700": (R700, {**_CHOICES, **_R700_CHOICES})}


class ConfigurationCampaign(SoakCampaign):
    """See the module."""

    batch = 1
    enough = 24
    has_model = False

    def __init__(self, isa: str) -> None:
        super().__init__(isa)
        self.name = f"configurations-{isa}"
        self.about = f"random machines with {isa} cores, compiled one by one, and random command buffers"

    def config(self, case: Case) -> MachineConfig:
        """The machine of a case."""
        return _drawn(self._source.kind, case["machine"])[0]

    def run(self, case: Case) -> Found:
        """See `Campaign.run`: all work of a machine up to what fails, or with `machine` one of it."""
        if "machine" in case:
            return super().run(case)
        events: Counter[str] = Counter()
        settings = _drawn(self._source.kind, case["seed"])[1]
        for number in range(_WORKS):
            work = {"seed": case["seed"] * _WORKS + number, "machine": case["seed"]}
            found = super().run(work)
            if found.difference is not None:
                return Found(f"{_text(settings)}: {found.difference}", found.kind)
            events.update(found.events.keys())
        events.update(f"{SETTINGS} {self._source.kind}|{name} = {value}" for name, value in settings.items())
        return Found(events=Counter(events.keys()))

    def opened(self, case: Case) -> Case:
        """See `Campaign.opened`."""
        for number in range(_WORKS):
            work = {"seed": case["seed"] * _WORKS + number, "machine": case["seed"]}
            if super().run(work).difference is not None:
                return super().opened(work)
        return case

    def tables(self) -> Tables:
        """See `Campaign.tables`."""
        choices = _PRESETS[self._source.kind][1]
        cells = [f"{name} = {value}" for name, values in choices.items() for value in dict.fromkeys(values)]
        return {**super().tables(), f"{SETTINGS} {self._source.kind}": cells}


def _drawn(isa: str, seed: int) -> tuple[MachineConfig, dict[str, Any]]:
    """The machine of a seed, and its settings other than the preset's.

    Of settings that do not fit together, the one with the fewest values is left out, as it comes again the soonest:
    among those that the others fit without, if there are such.
    """
    preset, choices = _PRESETS[isa]
    cycled = {name: _cycled(name, values, seed) for name, values in choices.items()}
    settings = {name: value for name, value in cycled.items() if value is not None}
    while (config := buildable(preset, settings)) is None:
        others = {out: {name: value for name, value in settings.items() if name != out} for out in settings}
        fitting = {out: each for out, each in others.items() if buildable(preset, each) is not None} or others
        settings = fitting[min(fitting, key=lambda name: len(choices[name]))]
    return config, settings


def _cycled(name: str, values: tuple[int | str, ...], seed: int) -> int | str | None:
    """The value of a setting for a seed, or None for the preset's.

    Of 2n consecutive seeds that begin at a multiple of 2n, n have its n values, in an order of their own.
    """
    cycle, position = divmod(seed, 2 * len(values))
    order = np.random.default_rng([cycle, crc32(name.encode())]).permutation(2 * len(values))
    return values[order[position]] if order[position] < len(values) else None


def _text(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items())
