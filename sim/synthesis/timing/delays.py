"""Delays of a routed netlist: what nextpnr writes as SDF.

Source: IEEE 1497, Standard Delay Format. Of each triple the last is read, the slowest.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TRIPLE = r"\([-\d.]*:[-\d.]*:([-\d.]+)\)"
_INSTANCE = re.compile(r"\(INSTANCE (\S*)\)")
_WIRE = re.compile(rf"\(INTERCONNECT (\S+) (\S+) {_TRIPLE}")
_CELL = re.compile(rf"\(IOPATH (\S+) (\S+) {_TRIPLE}")
# Of the two triples the first is the setup time.
_SETUP = re.compile(rf"\(SETUPHOLD \(\w+ (\w+)\) \(\w+ \w+\) {_TRIPLE}")
_CLOCKS = ("CLK", "WCK")
"""How clock pins of an ECP5's cells begin."""
_PICOSECONDS = 1000.0


@dataclass(frozen=True, kw_only=True)
class Delays:
    """Delays in ns, by pins: ``cell/PORT``.

    `wires` have the driver of each input and the delay from there. `cells` have the inputs from which an output
    follows in the same cycle, and the delay from each. `starts` have what an output takes from the clock's edge on,
    `ends` the setup time of an input.
    """

    wires: Mapping[str, tuple[str, float]]
    cells: Mapping[str, Sequence[tuple[str, float]]]
    starts: Mapping[str, float]
    ends: Mapping[str, float]


def read_delays(path: Path) -> Delays:
    """The delays of a file; those of a machine take some ten seconds.

    Raises
    ------
    ValueError
        It has no delay of a wire.
    """
    wires: dict[str, tuple[str, float]] = {}
    cells: dict[str, list[tuple[str, float]]] = {}
    starts: dict[str, float] = {}
    ends: dict[str, float] = {}
    cell = ""
    with path.open(encoding="utf-8") as lines:
        for escaped in lines:
            line = escaped.replace("\\", "")
            if found := _WIRE.search(line):
                wires[found[2]] = found[1], float(found[3]) / _PICOSECONDS
            elif found := _INSTANCE.search(line):
                cell = found[1]
            elif found := _CELL.search(line):
                source, output, delay = found[1], f"{cell}/{found[2]}", float(found[3]) / _PICOSECONDS
                if source.startswith(_CLOCKS):
                    starts[output] = max(starts.get(output, 0.0), delay)
                else:
                    cells.setdefault(output, []).append((f"{cell}/{source}", delay))
            elif found := _SETUP.search(line):
                pin = f"{cell}/{found[1]}"
                ends[pin] = max(ends.get(pin, 0.0), float(found[2]) / _PICOSECONDS)
    if not wires:
        raise ValueError(f"{path} has no delay of a wire")
    return Delays(wires=wires, cells=cells, starts=starts, ends=ends)
