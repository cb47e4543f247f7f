"""Carry cells that have taken LUT4s in give the same sums and carries, and only such LUT4s are gone."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from ctm.sim.synthesis.families.carries import with_tables_in_carries
from ctm.sim.synthesis.families.lookup_tables import INPUTS, LUT, make_lut4
from ctm.sim.synthesis.families.netlist import make_cell

A, B, OPERAND, OTHER, CARRY = 2, 3, 4, 5, 6
GIVEN = 10, 11, 12, 13
"""Nets at the inputs of the LUT4, which gives `OPERAND`."""
SUM, OUT = 20, 30
ADDS = "1001011010101010"
"""What Yosys has for a bit of a + b: a, b, 0 and 1 at the pins."""


def half(pins: list[int | str], *, number: int = 0, init: str = ADDS, inject: str = "NO") -> dict[str, Any]:
    """A carry cell with this half; the other one has constants alone."""
    parameters = {f"INIT{number}": init, f"INIT{1 - number}": "1" * 16, "INJECT1_0": inject, "INJECT1_1": inject}
    inputs: dict[str, Any] = {f"{pin}{1 - number}": ["1"] for pin in INPUTS}
    inputs |= {f"{pin}{number}": [bit] for pin, bit in zip(INPUTS, pins, strict=True)}
    return make_cell("CCU2C", parameters, inputs | {"CIN": [CARRY]}, {"S0": [SUM], "S1": [SUM + 1], "COUT": [OUT]})


def module(table: dict[str, Any], *others: dict[str, Any], port: int = CARRY) -> dict[str, Any]:
    """A module with these cells."""
    cells = {"table": table, **{f"cell_{number}": cell for number, cell in enumerate(others)}}
    return {"ports": {"port": {"direction": "input", "bits": [port]}}, "cells": cells}


def values(cell: dict[str, Any], number: int, nets: dict[int | str, int]) -> tuple[int, int]:
    """Sum and carry of a half, as Lattice's model of the cell has them."""
    known: dict[int | str, int] = {"0": 0, "1": 1, **nets}
    row = sum(known[cell["connections"][f"{pin}{number}"][0]] << position for position, pin in enumerate(INPUTS))
    init = cell["parameters"][f"INIT{number}"]
    propagates, generates = int(init[~row]), int(init[~(row % 4)])
    return propagates ^ nets[CARRY], nets[CARRY] if propagates else generates


def is_same(before: dict[str, Any], after: dict[str, Any], table: dict[str, Any], number: int) -> bool:
    """For all that comes in."""
    init, pins = table["parameters"]["INIT"], [table["connections"][pin][0] for pin in INPUTS]
    for bits in product((0, 1), repeat=2 + len(GIVEN)):
        nets: dict[int | str, int] = dict(zip((OTHER, CARRY, *GIVEN), bits, strict=True))
        known: dict[int | str, int] = {"0": 0, "1": 1, **nets}
        nets[OPERAND] = int(init[~sum(known[pin] << position for position, pin in enumerate(pins))])
        if values(before, number, nets) != values(after, number, nets):
            return False
    return True


def absorbed(inputs: int, init: str, position: int, number: int) -> bool:
    """Whether a LUT4 of so many inputs is gone, whose output is one operand; it must be the same."""
    table = make_lut4(init, dict(zip(INPUTS, GIVEN[:inputs], strict=False)), OPERAND)
    before = half([OPERAND, OTHER, "0", "1"] if position == 0 else [OTHER, OPERAND, "0", "1"], number=number)
    cells = with_tables_in_carries(module(table, before))["cells"]
    assert is_same(before, cells["cell_0"], table, number)
    return "table" not in cells


@pytest.mark.parametrize(("position", "number"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_operands_of_two_inputs_need_no_table(position: int, number: int) -> None:
    for rows in range(1 << 4):
        assert absorbed(2, f"{rows:04b}" * 4, position, number)
    for rows in range(1 << 2):
        assert absorbed(1, f"{rows:02b}" * 8, position, number)


def test_some_of_three_inputs_need_none_and_none_of_four() -> None:
    found = {rows for rows in range(1 << 8) if absorbed(3, f"{rows:08b}" * 2, 1, 0)}
    assert 0b10000000 in found, "what two others have to allow"
    assert 0b11001010 in found, "a choice of two"
    assert 0b10010110 not in found, "a sum of three"
    draw = np.random.default_rng(1)
    assert not any(absorbed(4, f"{int(draw.integers(1 << 15)) | 0x8001:016b}", 1, 0) for _ in range(50))


def test_tables_with_other_readers_stay() -> None:
    table = make_lut4("1000" * 4, dict(zip(INPUTS, GIVEN[:2], strict=False)), OPERAND)
    adds, gated = half([OTHER, OPERAND, "0", "1"]), half([OTHER, OPERAND, "0", "1"], inject="YES")
    reader = make_lut4("10" * 8, {"A": OPERAND}, OUT + 1)
    carries = make_cell("CCU2C", adds["parameters"], {**adds["connections"], "CIN": [OPERAND]}, {})
    assert (
        "table" not in with_tables_in_carries(module(table, adds, half([OPERAND, OTHER, "0", "1"], number=1)))["cells"]
    )
    for others in ((adds, reader), (adds, carries), (gated,), ()):
        assert table["connections"]["Z"] == [OPERAND]
        assert "table" in with_tables_in_carries(module(table, *others))["cells"]
    assert "table" in with_tables_in_carries(module(table, adds, port=OPERAND))["cells"]


def test_both_operands_may_need_none() -> None:
    inverts = make_lut4("01" * 8, {"A": GIVEN[0]}, OPERAND)
    allows = make_lut4("1000" * 4, {"A": GIVEN[1], "B": GIVEN[2]}, OTHER)
    cells = with_tables_in_carries(module(inverts, half([OPERAND, OTHER, "0", "1"]), allows))["cells"]
    assert [cell["type"] for cell in cells.values()] == ["CCU2C"]
    for bits in product((0, 1), repeat=4):
        nets: dict[int | str, int] = dict(zip((CARRY, *GIVEN[:3]), bits, strict=True))
        total = (1 - bits[1]) + (bits[2] & bits[3]) + bits[0]
        assert values(cells["cell_0"], 0, nets) == (total & 1, total >> 1)
    assert LUT not in {cell["type"] for cell in cells.values()}
