"""What a signal passes in a cell of an ECP5 within one cycle, and where its path begins and ends.

A level is a LUT4 of a path, or what takes about as long: a carry chain, a multiplexer of a slice by its select, a read
of distributed memory. A multiplier is three. Within its slices a multiplexer, and within its chain a carry, is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctm.sim.synthesis.families.ecp5 import BLOCK_RAMS, FLIP_FLOP, MULTIPLIER
from ctm.sim.synthesis.families.lookup_tables import INPUTS, LUT, OUTPUT
from ctm.sim.synthesis.families.netlist import Bit

_CARRY_INPUTS = tuple(f"{pin}{half}" for half in "01" for pin in INPUTS)
_ARCS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    LUT: {OUTPUT: dict.fromkeys(INPUTS, 1)},
    "PFUMX": {OUTPUT: {"ALUT": 0, "BLUT": 0, "C0": 1}},
    "L6MUX21": {OUTPUT: {"D0": 0, "D1": 0, "SD": 1}},
    "CCU2C": {
        "S0": {"CIN": 0} | dict.fromkeys(_CARRY_INPUTS[: len(INPUTS)], 1),
        "S1": {"CIN": 0} | dict.fromkeys(_CARRY_INPUTS, 1),
        "COUT": {"CIN": 0} | dict.fromkeys(_CARRY_INPUTS, 1),
    },
    "TRELLIS_DPR16X4": {"DO": {"RAD": 1}},
}
"""By type and output, the levels from each input."""
_MULTIPLIER_LEVELS = 3
"""A multiplier's 3.9 ns are those of three LUT4 with their wires."""
_FACTORS = ("A", "B")
_CLOCKS = ("CLK", "CLKA", "CLKB", "CLKR", "CLKW", "WCK")
_HOLDING = ("TRELLIS_DPR16X4",)
"""Those of them that hold something, too."""
CELLS = frozenset((*_ARCS, MULTIPLIER, FLIP_FLOP, *BLOCK_RAMS))
"""The types of cells in netlists."""


@dataclass(frozen=True, kw_only=True)
class Passing:
    """What a cell does with signals in one cycle.

    `arcs` are an output bit, an input bit from which it follows, and the levels between them. `held` are bits that the
    cell gives from what it holds, `taken` those that it takes with the clock.
    """

    arcs: Sequence[tuple[Bit, Bit, int]] = ()
    held: Sequence[Bit] = ()
    taken: Sequence[Bit] = ()


def passing(cell: Mapping[str, Any]) -> Passing:
    """What a cell does with signals. One that is no cell of an ECP5 takes all its inputs, and holds its outputs."""
    kind, pins = cell["type"], cell["connections"]
    outputs, inputs = _sides(cell)
    if kind == MULTIPLIER:
        factors = [bit for pin in inputs if pin[0] in _FACTORS and pin[1:].isdigit() for bit in pins[pin]]
        results = [bit for pin in outputs for bit in pins[pin]]
        return Passing(arcs=[(result, factor, _MULTIPLIER_LEVELS) for result in results for factor in factors])
    table = _ARCS.get(kind, {})
    arcs = [
        (result, source, levels)
        for output, sources in table.items()
        for result in pins[output]
        for pin, levels in sources.items()
        for source in pins[pin]
    ]
    if kind in _ARCS and kind not in _HOLDING:
        return Passing(arcs=arcs)
    passed = {pin for sources in table.values() for pin in sources}
    taken = [bit for pin in inputs if pin not in passed and pin not in _CLOCKS for bit in pins[pin]]
    return Passing(arcs=arcs, held=[bit for pin in outputs for bit in pins[pin]], taken=taken)


def _sides(cell: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """The pins at which a cell gives something, and those at which it takes something."""
    directions = cell["port_directions"]
    outputs = [pin for pin in cell["connections"] if directions[pin] == "output"]
    return outputs, [pin for pin in cell["connections"] if directions[pin] == "input"]
