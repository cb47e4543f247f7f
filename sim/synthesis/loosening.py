"""Tiles that stay empty where a placement has more nets than there are wires.

nextpnr's placer fills tiles completely, and a tile that is full of wide multiplexers has twice as many nets as others.
Where many of these are neighbours, a router ends with overused wires. So rows of tiles there are filled with cells
without a net, and their former cells go to emptier tiles around.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from ctm.sim.synthesis.spreading import PLACED, SITE, where_is

_WINDOW = 11
"""Tiles, in width and height, over which nets are counted."""
_ROWS = 3
"""One of so many rows of tiles is kept empty."""
_LEAST = 20
"""Tiles of a row; others have none but a few at the edge."""
_LOGIC = {"TRELLIS_COMB", "TRELLIS_FF"}
_BY_ITSELF = {"CLK", "WCK", "FCI", "FCO", "FXA", "FXB"}
"""Ports with wires of their own: clocks, carries, and what comes from within a slice or its neighbour."""
_SITES = tuple(f"SLICE{name}.K{half}" for name in "ABCD" for half in (0, 1))


def loosened(module: Mapping[str, Any], placed: Mapping[str, Any], most: float) -> dict[str, Any]:
    """A module that leaves tiles empty where in `placed` a tile has more than `most` nets, as a mean of its window.

    Of the rows of such tiles every third one is filled with cells that nextpnr itself uses to block a site.
    """
    taken = {
        f"empty_{x}_{y}_{site}": {
            "hide_name": 0,
            "type": "TRELLIS_COMB",
            "parameters": {"MODE": "RAMW_BLOCK"},
            "attributes": {SITE: f"X{x}/Y{y}/{site}"},
            "port_directions": {"F": "output"},
            "connections": {"F": []},
        }
        for x, y in _crowded(placed["cells"], most)
        for site in _SITES
    }
    return {**module, "cells": {**module["cells"], **taken}}


def _crowded(cells: Mapping[str, Mapping[str, Any]], most: float) -> list[tuple[int, int]]:
    """The tiles that are to stay empty."""
    nets: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for cell in cells.values():
        site = cell["attributes"].get(PLACED)
        if site and cell["type"] in _LOGIC:
            tile = nets[where_is(site)]
            for port, bits in cell["connections"].items():
                if port not in _BY_ITSELF:
                    tile.update(bit for bit in bits if isinstance(bit, int))
    width, height = (1 + max((tile[axis] for tile in nets), default=0) for axis in (0, 1))
    counts = np.zeros((width, height))
    for (x, y), here in nets.items():
        counts[x, y] = len(here)
    edge = _WINDOW // 2
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(counts, edge), (_WINDOW, _WINDOW))
    means = windows.mean(axis=(2, 3))
    rows = np.flatnonzero((counts > 0).sum(axis=0) >= _LEAST)[::_ROWS]
    return [(x, int(y)) for x in sorted({tile[0] for tile in nets}) for y in rows if means[x, y] > most]
