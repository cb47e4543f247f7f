"""A wave as a viewer reads it, by pywellen."""

from bisect import bisect_right
from functools import cached_property
from pathlib import Path
from typing import Any

import pywellen

UNITS = 10
"""Units of time in a cycle of engine `rtl`'s waves; values change as a cycle begins."""


class Wave:
    """The signals of a file, by their names with the modules that they are in."""

    def __init__(self, path: Path) -> None:
        self.file = pywellen.Waveform(str(path))

    @cached_property
    def variables(self) -> dict[str, Any]:
        return {variable.full_name: variable for variable in self.file.all_vars()}

    def changes(self, name: str) -> list[tuple[int, int]]:
        """Times and values of a signal, from the first time on."""
        return [(int(time), int(value)) for time, value in self.variables[name].tv]

    def at_cycles(self, name: str, first: int, end: int) -> list[int]:
        """Its value in each of these cycles."""
        changes = self.changes(name)
        times = [time for time, _ in changes]
        return [changes[bisect_right(times, UNITS * cycle) - 1][1] for cycle in range(first, end)]

    @property
    def cycles(self) -> list[int]:
        """Those that have a rising edge."""
        return [time // UNITS for time, value in self.changes("ctm.clk") if value]
