"""Block RAMs are spread over the rows of an FPGA, near to what they are connected to."""

from collections import Counter
from itertools import combinations, count
from typing import Any

import pytest

from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.spreading import BlockRamRow, _nearest, spread

ROWS = [
    BlockRamRow(y=y, names=tuple(f"X{x}/Y{y}/EBR{x % 4}" for x in range(0, 40, 4))) for y in (22, 5)
]  # fmt: skip


def placed(block_rams: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Each block RAM beside a LUT4 at some place, and all of them with a reset."""
    bits, cells = count(3), {}
    for name, (x, y) in block_rams.items():
        pins = {"CLK": [2], "DO": [next(bits)]}
        ram = {"type": "DP16KD", "connections": pins, "attributes": {"NEXTPNR_BEL": "X0/Y5/EBR0"}}
        lut = {"type": "TRELLIS_COMB", "connections": {"A": pins["DO"]}}
        cells |= {name: ram, f"{name}_lut": lut | {"attributes": {"NEXTPNR_BEL": f"X{x}/Y{y}/SLICEA.LUT0"}}}
    for number in range(60):
        attributes = {"NEXTPNR_BEL": "X99/Y99/SLICEA.FF0"}
        cells[f"reset_{number}"] = {"type": "TRELLIS_FF", "connections": {"LSR": [2]}, "attributes": attributes}
    return {"cells": cells}


def test_each_row_gets_as_many_the_nearest_to_it() -> None:
    given = placed({"a": (9, 40), "b": (37, 2), "c": (1, 1), "d": (31, 3)})
    found = spread(given, given, ROWS)["cells"]
    # a is the lowest; of the others, which all want the upper row, d is.
    assert {name: found[name]["attributes"]["BEL"] for name in "abcd"} == {
        "a": "X8/Y22/EBR0", "d": "X32/Y22/EBR0", "b": "X36/Y5/EBR0", "c": "X0/Y5/EBR0",
    }  # fmt: skip
    assert "BEL" not in given["cells"]["a"]["attributes"], "what was given stays as it is"
    assert all("BEL" not in cell["attributes"] for name, cell in found.items() if name not in "abcd")


@pytest.mark.parametrize("wanted", [[3, 3.5, 4], [0, 0, 39, 39], [20] * 5, [5] * 7, [-9, 50]])
def test_no_other_places_are_nearer(wanted: list[float]) -> None:
    sites = list(range(0, 40, 4))
    found = _nearest(wanted, sites)
    apart = 2 if 2 * len(wanted) <= len(sites) else 1
    choices = [
        each
        for each in combinations(range(len(sites)), len(wanted))
        if all(b - a >= apart for a, b in zip(each, each[1:], strict=False))
    ]

    def distance(choice: tuple[int, ...]) -> float:
        return sum(abs(sites[index] - x) for index, x in zip(choice, wanted, strict=True))

    assert tuple(found) in choices
    assert distance(tuple(found)) == min(map(distance, choices))


def test_the_places_of_a_device_are_its_block_rams() -> None:
    device = DEVICES["85k"]
    assert device.nextpnr is not None
    names = [name for row in device.nextpnr.block_ram_rows for name in row.names]
    assert len(set(names)) == len(names) == device.capacity.block_rams
    assert set(Counter(len(row.names) for row in device.nextpnr.block_ram_rows)) == {52}
    assert all(list(row.xs) == sorted(row.xs) for row in device.nextpnr.block_ram_rows)
