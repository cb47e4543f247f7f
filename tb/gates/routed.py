"""What nextpnr writes of an ECP5 after routing, as cells that synthesis has: with models of those it is simulated.

A netlist of nextpnr has cells of the FPGA itself: halves of a slice, whose modes say what they do, pins that are tied
by a parameter, not by a net. Source of what these mean: nextpnr's ecp5/docs/primitives.md, and Lattice, FPGA-TN-02205
and ECP5 Family Data Sheet (slices and I/O logic).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

from ctm.sim.synthesis.families.netlist import OPEN, make_cell, nets, with_pins

_IDLE, _UNUSED = re.compile(r"(RST|CE|CLK|SRI[AB])\d+"), re.compile(r"((RST|CE|CLK|SR[IO][AB]|RO[ABC])\d+|SIGNEDP)")
"""Pins of a multiplier that has registers or a neighbour, and all that its model has not."""
_WRITTEN = {
    "WDO0": "C1", "WDO1": "A1", "WDO2": "D1", "WDO3": "B1", "WADO0": "D0", "WADO1": "B0", "WADO2": "C0", "WADO3": "A0",
}  # fmt: skip
"""What comes out of the slice that gives the LUTs beside it what is written, and where, by what goes in."""
_AT_PIN = (("OUTREG", "OUT", "TXDATA0", "IOLDO"), ("TSREG", "OUT", "TSDATA0", "IOLTO"), ("FF", "IN", "PADDI", "INFF"))
"""Registers at a pin: their names in parameters, their direction, input and output."""

Cell = Mapping[str, Any]
Net = int | str
Pin = list[Net]


def unpacked(module: Mapping[str, Any]) -> dict[str, Any]:
    """A module of nextpnr's with Yosys's cells: those of `cells.v`, and those at pins.

    Raises
    ------
    AssertionError
        A cell has no model, or not in its mode.
    """
    constants = dict(_constants(module))
    numbers = count(max(nets(module), default=1) + 1)
    cells: dict[str, Cell] = {}
    for name, packed in module["cells"].items():
        pins: dict[str, Pin] = {
            pin: [constants.get(bits[0], bits[0])] if bits else [OPEN] for pin, bits in packed["connections"].items()
        }
        driven = {pin for pin, direction in packed["port_directions"].items() if direction == "output"}
        pins |= {pin: packed["connections"][pin] or [OPEN] for pin in driven}
        cell = _Packed(packed["type"], packed["parameters"], pins, driven)
        for index, found in enumerate(_KINDS[cell.kind](cell)):
            ends = [pin for pin, direction in found["port_directions"].items() if direction == "output"]
            # Verilog wants a net where something comes out.
            idle = {pin: [next(numbers)] for pin in ends if found["connections"][pin] == [OPEN]}
            cells[f"{name}.{index}"] = with_pins(found, idle)
    return {**module, "cells": cells}


def _constants(module: Mapping[str, Any]) -> Iterator[tuple[Net, str]]:
    """Nets that are a table's whose entries are alike: with them pins that have to be constant are seen to be so."""
    for cell in module["cells"].values():
        entries = set(cell["parameters"].get("INITVAL", "")) if cell["type"] == "TRELLIS_COMB" else set()
        if len(entries) == 1 and "MODE" not in cell["parameters"]:
            yield cell["connections"]["F"][0], entries.pop()


@dataclass(frozen=True)
class _Packed:
    """A cell of nextpnr's, each of whose pins has one bit."""

    kind: str
    parameters: Mapping[str, str]
    pins: Mapping[str, Pin]
    driven: Set[str]

    def __getitem__(self, pin: str) -> Pin:
        return self.pins.get(pin, [OPEN])

    def is_open(self, pin: str) -> bool:
        """Whether nothing is connected to a pin."""
        return self[pin] == [OPEN]

    def parameter(self, name: str) -> str:
        """Texts that look like bits have a space after them."""
        return self.parameters.get(name, "").strip()


def _table(cell: _Packed) -> Iterator[Cell]:
    """Half of a slice: a table of four inputs, half of a carry cell, or 16 rows of a bit; then a multiplexer."""
    inputs = {pin: cell[pin] for pin in "ABCD"}
    init = cell.parameters.get("INITVAL", "0" * 16)
    mode = cell.parameters.get("MODE", "LOGIC")
    if mode == "LOGIC":
        yield make_cell("LUT4", {"INIT": init}, inputs, {"Z": cell["F"]})
    elif mode == "CCU2":
        told = {"INIT": init, "INJECT1": cell.parameters["CCU2_INJECT1"]}
        yield make_cell("CARRY", told, inputs | {"CIN": cell["FCI"]}, {"S": cell["F"], "COUT": cell["FCO"]})
    elif mode == "DPRAM":
        assert (cell.parameter("WCKMUX"), cell.parameter("WREMUX")) == ("WCK", "WRE"), "a memory that is not modelled"
        written = {pin: cell[pin] for pin in ("WCK", "WRE", "WD", "WAD0", "WAD1", "WAD2", "WAD3")}
        yield make_cell("RAM16X1", {"INITVAL": init}, inputs | written, {"F": cell["F"]})
    else:
        assert mode == "RAMW_BLOCK", f"half of a slice in mode {mode}"
    if not cell.is_open("OFX"):
        first, second = ("F", "F1") if cell.is_open("FXA") else ("FXA", "FXB")
        yield make_cell("L6MUX21", {}, {"D0": cell[first], "D1": cell[second], "SD": cell["M"]}, {"Z": cell["OFX"]})


def _written(cell: _Packed) -> Iterator[Cell]:
    for after, before in _WRITTEN.items():
        if not cell.is_open(after):
            yield make_cell("BUF", {}, {"A": cell[before]}, {"Z": cell[after]})


def _register(cell: _Packed) -> Iterator[Cell]:
    parameters = {"SRMODE": "LSR_OVER_CE", **cell.parameters}
    # What a register takes: what the table in front of it gives, or a wire.
    data = "DI" if parameters.pop("SD").strip() == "1" else "M"
    reset = ["0"] if cell.is_open("LSR") else cell["LSR"]
    ends = {"CLK": cell["CLK"], "CE": cell["CE"], "DI": cell[data], "LSR": reset}
    yield make_cell("TRELLIS_FF", parameters, ends, {"Q": cell["Q"]})


def _block(cell: _Packed) -> Iterator[Cell]:
    """Block RAM and multiplier: a pin's parameter says that it is constant, or inverted, of which open ones are 0."""
    parameters, pins = dict(cell.parameters), dict(cell.pins)
    for name in cell.parameters:
        pin = name.removesuffix("MUX")
        if pin != name and (how := parameters.pop(name).strip()) != pin:
            assert how in ("0", "1") or (how == "INV" and cell.is_open(pin)), f"{pin} of a {cell.kind} is {how}"
            pins[pin] = ["1" if how == "1" else "0"]
    if cell.kind == "MULT18X18D":
        assert all(cell.is_open(pin) for pin in cell.pins if _IDLE.fullmatch(pin)), f"a {cell.kind} with registers"
        pins = {pin: bit for pin, bit in pins.items() if not _UNUSED.fullmatch(pin)}
    yield make_cell(
        cell.kind, parameters, {pin: bit for pin, bit in pins.items() if pin not in cell.driven},
        {pin: bit for pin, bit in pins.items() if pin in cell.driven},
    )  # fmt: skip


def _pin(cell: _Packed) -> Iterator[Cell]:
    data = "IOLDO" if "IOLDO" in (cell.parameter("DATAMUX_OREG"), cell.parameter("DATAMUX_ODDR")) else "I"
    enable = "IOLTO" if cell.parameter("TRIMUX_TSREG") == "IOLTO" else "T"
    if cell.parameter("DIR") == "INPUT":
        yield make_cell("BUF", {}, {"A": cell["B"]}, {"Z": cell["O"]})
    elif cell.parameter("DIR") == "BIDIR":
        yield make_cell("TRELLIS_IO", {}, {"I": cell[data], "T": cell[enable], "B": cell["B"]}, {"O": cell["O"]})
    elif cell.is_open(enable):
        yield make_cell("BUF", {}, {"A": cell[data]}, {"Z": cell["B"]})
    else:
        yield make_cell("OBZ", {}, {"I": cell[data], "T": cell[enable]}, {"O": cell["B"]})


def _at_pin(cell: _Packed) -> Iterator[Cell]:
    """Registers at a pin: of what goes out or two words a clock, of whether it does, of what comes in."""
    clocked = {"SCLK": cell["CLK"]}
    enabled = clocked | {"SP": cell["CE"]}
    assert cell.parameter("MODE") in ("IREG_OREG", "IDDRX1_ODDRX1"), f"a pin's logic in mode {cell.parameter('MODE')}"
    if cell.parameter("MODE") == "IDDRX1_ODDRX1":
        words = {"D0": cell["TXDATA0"], "D1": cell["TXDATA1"], "RST": cell["LSR"]}
        yield make_cell("ODDRX1F", {}, clocked | words, {"Q": cell["IOLDO"]})
    for register, side, data, output in _AT_PIN:
        if cell.parameter(f"{register}.{side}REGMODE") == "FF":
            sets = cell.parameter(f"{register}.REGSET") == "SET"
            kind, pin = ("FS1P3BX", "PD") if sets else ("FS1P3DX", "CD")
            yield make_cell(f"{side[0]}{kind}", {}, enabled | {"D": cell[data], pin: cell["LSR"]}, {"Q": cell[output]})


def _clock(cell: _Packed) -> Iterator[Cell]:
    yield make_cell("BUF", {}, {"A": cell["CLKI"]}, {"Z": cell["CLKO"]})


def _pll(cell: _Packed) -> Iterator[Cell]:
    """Its clock is what comes in, as in `primitives.v` of boards, and it is steady."""
    for output in ("CLKOP", "CLKOS"):
        yield make_cell("BUF", {}, {"A": cell["CLKI"]}, {"Z": cell[output]})
    yield make_cell("BUF", {}, {"A": ["1"]}, {"Z": cell["LOCK"]})


_KINDS: Mapping[str, Callable[[_Packed], Iterator[Cell]]] = {
    "TRELLIS_COMB": _table, "TRELLIS_RAMW": _written, "TRELLIS_FF": _register, "DP16KD": _block, "MULT18X18D": _block,
    "TRELLIS_IO": _pin, "IOLOGIC": _at_pin, "DCCA": _clock, "EHXPLLL": _pll,
}  # fmt: skip
