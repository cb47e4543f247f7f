"""Tiles stay empty where a placement is crowded, and nowhere else."""

from itertools import count
from typing import Any

from ctm.sim.synthesis.loosening import loosened

WIDTH, HEIGHT = 40, 24
CROWDED = range(20, 34)
"""Columns of tiles with many nets."""


def placed(most: int) -> dict[str, Any]:
    """A LUT4 in each tile with a net of its own, and in the crowded ones a flip-flop with so many at once."""
    bits, cells = count(2), {}
    for x in range(WIDTH):
        for y in range(HEIGHT):
            pins = {"A": [next(bits)], "CLK": [1], "FCI": [next(bits)]}
            site = {"NEXTPNR_BEL": f"X{x}/Y{y}/SLICEA.K0"}
            cells[f"lut_{x}_{y}"] = {"type": "TRELLIS_COMB", "connections": pins, "attributes": site}
            if x in CROWDED:
                pins = {f"M{pin}": [next(bits)] for pin in range(most - 1)}
                site = {"NEXTPNR_BEL": f"X{x}/Y{y}/SLICEB.FF0"}
                cells[f"wide_{x}_{y}"] = {"type": "TRELLIS_FF", "connections": pins, "attributes": site}
    # Pads and block RAM have tiles of their own.
    cells["pad"] = {"type": "TRELLIS_IO", "connections": {}, "attributes": {"NEXTPNR_BEL": "X50/Y0/PIOA"}}
    cells["nowhere"] = {"type": "TRELLIS_COMB", "connections": {}, "attributes": {}}
    return {"cells": cells}


def empty(given: dict[str, Any], most: float) -> set[tuple[int, int]]:
    """The tiles that are kept empty, each as a whole."""
    found = loosened(given, given, most)["cells"]
    assert found.keys() >= given["cells"].keys() and "empty" not in str(given["cells"].keys())
    sites = {cell["attributes"]["BEL"] for name, cell in found.items() if name not in given["cells"]}
    tiles = {tuple(int(field[1:]) for field in site.split("/")[:2]) for site in sites}
    positions = {f"SLICE{name}.K{half}" for name in "ABCD" for half in (0, 1)}
    assert sites == {f"X{x}/Y{y}/{position}" for x, y in tiles for position in positions}
    return {(x, y) for x, y in tiles}


def test_every_third_row_of_a_crowded_area_is_empty() -> None:
    found = empty(placed(30), 22)
    assert found, "there is such an area"
    assert {y % 3 for _, y in found} == {0}
    # A window of 11 tiles has as much as the area only inside it.
    assert {x for x, _ in found} <= set(CROWDED) and 26 in {x for x, _ in found}
    # Beyond the edge of the FPGA there is nothing.
    assert 0 not in {y for _, y in found}


def test_no_tile_is_kept_empty_where_no_area_is_crowded() -> None:
    assert not empty(placed(20), 22)
    # Clocks and carries do not count.
    assert not empty(placed(22), 22)
