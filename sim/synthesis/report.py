"""What synthesis, placement and routing tell: cells, clock, critical path.

Yosys writes the netlist and nextpnr a report, both as JSON.
"""

import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ctm.sim.synthesis.enclosure import ENCLOSURE, OPERAND, RESULT
from ctm.sim.synthesis.families.ecp5 import BLOCK_RAMS, CARRY_LUTS, FLIP_FLOP, MULTIPLIER, RAM_LUTS
from ctm.sim.synthesis.families.pairing import FLIP_FLOPS

_FLIP_FLOPS = {FLIP_FLOP, *FLIP_FLOPS}


@dataclass(frozen=True, kw_only=True)
class Area:
    """Cells of the FPGA.

    `luts` are the LUT4 that nextpnr takes (TRELLIS_COMB). Of these Yosys asks for `logic_luts`, for `carry_luts` in
    carry chains and for `ram_luts` in memories; nextpnr adds those by which carry chains begin and end, and one that
    drives constants. `registers` are the unit's, `enclosure_registers` those around it.
    """

    luts: int
    logic_luts: int
    carry_luts: int
    ram_luts: int
    registers: int
    enclosure_registers: int
    multipliers: int
    block_rams: int


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The slowest path between registers, in ns: `logic` with clock-to-output and setup, and `routing`.

    `levels` is the number of cells between the registers; a carry chain counts as one.
    """

    start: str
    end: str
    logic: float
    routing: float
    levels: int


@dataclass(frozen=True, kw_only=True)
class SlowPaths:
    """Paths between two registers, or memories: how many bits they reach, and the slowest, in ns.

    `delay` is all of it, `routing` that of wires, `levels` the number of cells between; a carry chain counts as one.
    """

    start: str
    end: str
    ends: int
    delay: float
    routing: float
    levels: int


@dataclass(frozen=True, kw_only=True)
class Placement:
    """What one seed gave."""

    seed: int
    frequency: float
    """Highest clock, MHz."""
    critical_path: CriticalPath
    slow_paths: tuple[SlowPaths, ...] = ()
    """Those that take 0.9 of the critical path's time or more, the slowest first."""
    hold_violations: int = 0
    """Paths that are too short at any clock: data may arrive with the clock's edge that it should follow."""


Placements = tuple[Placement, ...]


def best(placements: Placements) -> Placement:
    """The placement with the fastest clock."""
    return max(placements, key=lambda found: found.frequency)


def median_frequency(placements: Placements) -> float:
    """The median of the seeds, MHz."""
    return statistics.median(found.frequency for found in placements)


class Names(Protocol):
    """Knows what cells are called."""

    def name(self, cell: str) -> str:
        """What a person calls the cell that nextpnr calls so."""


class Netlist:
    """The cells of a synthesised enclosure; `module` is the netlist's top module."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self._cells: Mapping[str, Any] = module["cells"]
        self._nets: Mapping[str, Any] = module["netnames"]
        self._enclosure = {
            bit: _bit_name(name, net["bits"], bit)
            for name, net in self._nets.items()
            if ENCLOSURE in net["attributes"] and name.startswith((OPERAND, RESULT))
            for bit in net["bits"]
        }

    def area(self, report: Mapping[str, Any]) -> Area:
        """What the cells add up to; nextpnr's report is the same for every seed in this."""
        types = Counter(cell["type"] for cell in self._cells.values())
        around = sum(self._held_bit(name) in self._enclosure for name in self._cells)
        return Area(
            luts=report["utilization"]["TRELLIS_COMB"]["used"],
            logic_luts=types["LUT4"],
            carry_luts=CARRY_LUTS * types["CCU2C"],
            ram_luts=RAM_LUTS * types["TRELLIS_DPR16X4"],
            registers=types[FLIP_FLOP] - around,
            enclosure_registers=around,
            multipliers=types[MULTIPLIER],
            block_rams=sum(types[kind] for kind in BLOCK_RAMS),
        )

    def name(self, cell: str) -> str:
        """What a cell is called: a flip-flop by the bit that it holds, ``unit.sum[3]``, another by name and type."""
        bit = self._held_bit(cell)
        if bit in self._enclosure:
            return self._enclosure[bit]
        # Yosys names a cell by a net that it drives.
        net, found, _ = cell.partition(f"_{self._cells[cell]['type']}_Q" if bit is not None else "_Q")
        if bit is not None and found and bit in self._nets.get(net, {"bits": []})["bits"]:
            return _bit_name(net, self._nets[net]["bits"], bit)
        return f"{cell} ({self._cells[cell]['type']})" if cell in self._cells and bit is None else cell

    def _held_bit(self, cell: str) -> int | None:
        found = self._cells.get(cell)
        return found["connections"]["Q"][0] if found is not None and found["type"] in _FLIP_FLOPS else None


def _bit_name(net: str, bits: list[int], bit: int) -> str:
    return net if len(bits) == 1 else f"{net}[{bits.index(bit)}]"


def placement(
    report: Mapping[str, Any], netlist: Names, seed: int, slow_paths: tuple[SlowPaths, ...] = ()
) -> Placement:
    """The figures of nextpnr's report; of several clocks the slowest counts.

    Raises
    ------
    ValueError
        There is no clock, or not one slowest path of the slowest one.
    """
    clocks = {clock: found["achieved"] for clock, found in report["fmax"].items()}
    edge = f"posedge {min(clocks, key=lambda clock: clocks[clock])}" if clocks else ""
    paths = [path["path"] for path in report["critical_paths"] if path["from"] == path["to"] == edge]
    if len(paths) != 1:
        raise ValueError(f"nextpnr reports {len(clocks)} clocks and {len(paths)} paths of the slowest, not 1")
    return Placement(
        seed=seed,
        frequency=min(clocks.values()),
        critical_path=_path(paths[0], netlist),
        slow_paths=slow_paths,
    )


def _path(segments: list[Mapping[str, Any]], netlist: Names) -> CriticalPath:
    routing = sum(segment["delay"] for segment in segments if segment["type"] == "routing")
    return CriticalPath(
        start=netlist.name(segments[0]["from"]["cell"]),
        end=netlist.name(segments[-1]["to"]["cell"]),
        logic=sum(segment["delay"] for segment in segments) - routing,
        routing=routing,
        # Within a carry chain a path goes from cell to cell by FCI.
        levels=sum(segment["type"] == "logic" and segment["from"]["port"] != "FCI" for segment in segments),
    )
