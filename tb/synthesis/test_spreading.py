"""Block RAMs are spread over the rows of an FPGA, near to what they are connected to."""

from collections import Counter
from itertools import combinations, count, permutations
from typing import Any

import pytest

from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.spreading import spread, where_is

ROWS = [
    tuple(f"X{x}/Y{y}/EBR{x % 4}" for x in range(0, 40, 4)) for y in (22, 5)
]  # fmt: skip


def placed(block_rams: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """Each block RAM beside a LUT4 at some site, and all of them with a reset."""
    bits = count(3)
    cells: dict[str, Any] = {}
    for name, (x, y) in block_rams.items():
        pins = {"CLK": [2], "DO": [next(bits)]}
        ram = {"type": "DP16KD", "connections": pins, "attributes": {"NEXTPNR_BEL": "X0/Y5/EBR0"}}
        lut = {"type": "TRELLIS_COMB", "connections": {"A": pins["DO"]}}
        cells |= {name: ram, f"{name}_lut": lut | {"attributes": {"NEXTPNR_BEL": f"X{x}/Y{y}/SLICEA.LUT0"}}}
    for number in range(2000):
        attributes = {"NEXTPNR_BEL": "X99/Y99/SLICEA.FF0"}
        cells[f"reset_{number}"] = {"type": "TRELLIS_FF", "connections": {"LSR": [2]}, "attributes": attributes}
    return {"cells": cells}


def test_each_row_gets_as_many_the_nearest_to_it() -> None:
    given = placed({"a": (9, 40), "b": (37, 2), "c": (1, 1), "d": (31, 3)})
    found = spread(given, given, ROWS)["cells"]
    # a is the lowest; of the others, which all want the upper row, d is.
    assert {name: found[name]["attributes"]["BEL"] for name in "abcd"} == {
        "a": "X8/Y22/EBR0", "d": "X32/Y22/EBR0", "b": "X32/Y5/EBR0", "c": "X0/Y5/EBR0",
    }  # fmt: skip
    assert "BEL" not in given["cells"]["a"]["attributes"], "the argument is unchanged"
    assert all("BEL" not in cell["attributes"] for name, cell in found.items() if name not in "abcd")


@pytest.mark.parametrize("wanted", [[3, 6, 4], [0, 1, 39, 38], [20, 21, 22, 19, 20], [99, 0]])
def test_no_other_sites_make_nets_shorter(wanted: list[int]) -> None:
    xs = range(0, 24, 4)
    (row,) = rows = [tuple(f"X{x}/Y5/EBR{x % 4}" for x in xs)]
    given = placed({str(number): (x, 9) for number, x in enumerate(wanted)})
    found = spread(given, given, rows)["cells"]
    sites = [row.index(found[str(number)]["attributes"]["BEL"]) for number in range(len(wanted))]
    apart = 2 if 2 * len(wanted) <= len(row) else 1
    assert all(abs(a - b) >= apart for a, b in combinations(sites, 2))

    def length(choice: tuple[int, ...]) -> int:
        return sum(abs(xs[site] - x) for site, x in zip(choice, wanted, strict=True))

    assert length(tuple(sites)) == min(map(length, permutations(range(0, len(row), apart), len(wanted))))


def test_a_block_ram_goes_into_the_box_of_a_net_or_as_near_as_there_is_a_site() -> None:
    given = placed({"a": (9, 40)})
    # Another end of its net: the box is 9 to 30, where several sites cost nothing.
    other = {"type": "TRELLIS_COMB", "connections": {"A": [3]}, "attributes": {"NEXTPNR_BEL": "X30/Y2/SLICEA.LUT0"}}
    given["cells"]["other"] = other
    found = spread(given, given, ROWS)["cells"]["a"]["attributes"]["BEL"]
    assert found.startswith(tuple(f"X{x}/" for x in (16, 24)))


def test_the_sites_of_a_device_are_its_block_rams() -> None:
    device = DEVICES["85k"]
    assert device.nextpnr is not None
    names = [name for row in device.nextpnr.block_ram_rows for name in row]
    assert len(set(names)) == len(names) == device.capacity.block_rams
    assert set(Counter(len(row) for row in device.nextpnr.block_ram_rows)) == {52}
    assert all(
        list(xs) == sorted(xs) for xs in ([where_is(name)[0] for name in row] for row in device.nextpnr.block_ram_rows)
    )
