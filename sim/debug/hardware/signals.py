"""The signals of the whole machine in one cycle: of a wave of that cycle alone."""

import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.debug.cancellation import Cancellation
from ctm.sim.debug.error import DebugError
from ctm.sim.debug.given_engine import Work, execution_of
from ctm.sim.engines.waves.engine import WavesEngine
from ctm.sim.engines.waves.window import Waves
from ctm.sim.fault import CycleLimitError, MachineError

_COMPILING = "compiling the machine with all its signals, once for this configuration ..."
# As of the cache's own warnings, without a handler each is a line on standard error.
_log = logging.getLogger(__name__)
_DEPTH = 256
"""Words of memories that are there, too."""
_AFTER = 2
"""Cycles that the machine runs after the one that is looked at."""
_LEVEL, _FRONT, _OWN = "level", "r_data", "consume"
"""Signals of a queue: how many entries it has, the one in front, and where that is, which units around it lack."""


@dataclass(frozen=True)
class Signal:
    """A signal's full name, the unit it is in, its width in bits and its value; None where that is unknown."""

    name: str
    unit: str
    width: int
    value: int | None

    def __str__(self) -> str:
        value = "unknown" if self.value is None else f"{self.value}" if self.width < 16 else f"0x{self.value:x}"
        return f"{self.name} = {value}"


@dataclass(frozen=True)
class Signals:
    """Those of a cycle, by their full names."""

    cycle: int
    by_name: dict[str, Signal]

    def named(self, text: str) -> list[Signal]:
        """Those whose names have this text; DebugError: there is none."""
        found = [signal for name, signal in self.by_name.items() if text in name]
        if not found:
            raise DebugError(f"no signal has '{text}' in its name; `signals` alone lists the units")
        return found

    def units(self) -> list[str]:
        """The names of all units, ascending."""
        return sorted({signal.unit for signal in self.by_name.values()})

    def queues(self) -> list[tuple[str, int, Signal | None]]:
        """The queues that are not empty: name, entries, and the one in front."""
        found = []
        for name, signal in self.by_name.items():
            unit = signal.unit
            if name == f"{unit}.{_LEVEL}" and signal.value and f"{unit}.{_OWN}" in self.by_name:
                found.append((unit, signal.value, self.by_name.get(f"{unit}.{_FRONT}")))
        return found


def signals_in(job: Work, config: MachineConfig, watchdog: int, cycle: int, cancellation: Cancellation) -> Signals:
    """Run a job on the hardware up to a cycle, counted from its first command buffer; errors as `ctm run`'s."""
    with tempfile.TemporaryDirectory(prefix="ctm-") as folder:
        path = Path(folder) / "cycle.vcd"
        engines: list[WavesEngine] = []

        def check(pixels: int) -> None:
            del pixels
            cancellation.executed(0, ())

        def make(config: MachineConfig, **options: Any) -> WavesEngine:
            limit = cycle + _AFTER
            engines.append(
                WavesEngine(config, watch=waves, watchdog=options["watchdog"], max_cycles=limit, progress=check)
            )
            return engines[0]

        waves = Waves(path=path, first=cycle, cycles=1, depth=_DEPTH)
        WavesEngine.prepare_traced(config, waves, lambda: _log.warning(_COMPILING))
        execution = execution_of(job, config, engine="rtl", watchdog=watchdog, make=make)
        try:
            execution.run()
        except (MachineError, CycleLimitError):
            # It was only to come to this cycle.
            pass
        engines[0].end()
        return Signals(cycle, read(path))


def read(path: Path) -> dict[str, Signal]:
    """All signals of a VCD with the first value that each has."""
    scopes: list[str] = []
    units: list[str] = []
    names: dict[str, list[tuple[str, str, int]]] = {}
    values: dict[str, str] = {}
    with path.open(encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            match words[:1]:
                case ["$scope"]:
                    scopes.append(words[2])
                    # A structure belongs to a unit.
                    units.append(".".join(scopes) if words[1] == "module" else units[-1])
                case ["$upscope"]:
                    scopes.pop()
                    units.pop()
                case ["$var"]:
                    names.setdefault(words[3], []).append((".".join((*scopes, words[4])), units[-1], int(words[2])))
                case [word] if word[0] in "bB" and len(words) > 1:
                    values.setdefault(words[1], word[1:])
                case [word] if word[0] in "01xXzZ":
                    values.setdefault(word[1:], word[0])
    return {
        name: Signal(name, unit, width, _number(values.get(identifier)))
        for identifier, own in names.items()
        for name, unit, width in own
    }


def _number(bits: str | None) -> int | None:
    return int(bits, 2) if bits is not None and set(bits) <= {"0", "1"} else None
