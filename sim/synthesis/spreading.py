"""Block RAMs in all of an FPGA's rows alike.

An FPGA has few rows of block RAM, and nextpnr puts a machine's where their nets are shortest at first, which fills some
of these rows and leaves others empty: around the full ones wires are missing. So a placement only says where all other
cells are, and then each row gets as many block RAMs, at the sites where their nets are the shortest.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ctm.sim.synthesis.families.ecp5 import BLOCK_RAMS

SITE, PLACED = "BEL", "NEXTPNR_BEL"
"""Attributes of a cell: the site that it is to have, and the one that nextpnr gave it."""
_SITE = re.compile(r"X(\d+)/Y(\d+)/")
_EVERYWHERE = 2000
"""Ends of a net from which on it says nothing of where a cell should be: a clock or a reset."""
BlockRamRow = tuple[str, ...]
"""A row of sites for block RAM, from left to right, as nextpnr names them."""


def spread(module: Mapping[str, Any], placed: Mapping[str, Any], rows: Sequence[BlockRamRow]) -> dict[str, Any]:
    """A module whose block RAMs have sites, as many in each of `rows`, by where other cells are in `placed`.

    First each gets a row, then its site there: so that together they make their nets as short as possible (half
    perimeter), each by itself. A row that is half full at most has a free site beside each.
    """
    names, boxes = _boxes(placed["cells"])
    share = -(-len(names) // len(rows))
    sites = [row[::2] if 2 * share <= len(row) + 1 else row for row in rows]
    costs = [_costs(boxes, list(map(where_is, each))) for each in sites]
    nearest = np.stack([cost.min(axis=1) for cost in costs], axis=1)
    row_of = _assigned(np.repeat(nearest, share, axis=1)) // share
    cells = dict(module["cells"])
    for row, (named, cost) in enumerate(zip(sites, costs, strict=True)):
        here = np.flatnonzero(row_of == row)
        for index, site in zip(here, _assigned(cost[here]), strict=True):
            cell = cells[names[index]]
            cells[names[index]] = {**cell, "attributes": {**cell["attributes"], SITE: named[site]}}
    return {**module, "cells": cells}


def _assigned(costs: np.ndarray) -> np.ndarray:
    """A column of its own for each row of `costs`, so that their sum is the least."""
    # Heavy, and wanted here alone.
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(costs)[1])


def _boxes(cells: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[np.ndarray]]:
    """The block RAMs, and of each one's nets the box (left, top, right, bottom) around all other ends."""
    where: dict[str, tuple[int, int]] = {}
    ends: defaultdict[int, set[str]] = defaultdict(set)
    for name, cell in cells.items():
        if cell["attributes"].get(PLACED):
            where[name] = where_is(cell["attributes"][PLACED])
            for bit in _bits(cell):
                ends[bit].add(name)
    names = sorted(name for name in where if cells[name]["type"] in BLOCK_RAMS)
    return names, [_boxes_of(name, cells[name], ends, where) for name in names]


def _boxes_of(
    name: str, cell: Mapping[str, Any], ends: Mapping[int, set[str]], where: Mapping[str, tuple[int, int]]
) -> np.ndarray:
    found = []
    for bit in set(_bits(cell)):
        others = [where[end] for end in ends[bit] if end != name]
        if 0 < len(others) < _EVERYWHERE:
            x, y = zip(*others, strict=True)
            found.append((min(x), min(y), max(x), max(y)))
    return np.array(found or [(*where[name], *where[name])])


def _costs(boxes: Sequence[np.ndarray], sites: Sequence[tuple[int, int]]) -> np.ndarray:
    """By block RAM and site: how much longer its nets are than without it, in tiles."""
    x, y = np.array(sites).T[:, :, None]
    return np.stack(
        [
            sum(
                np.maximum(low - at, 0) + np.maximum(at - high, 0)
                for at, low, high in ((x, box[:, 0], box[:, 2]), (y, box[:, 1], box[:, 3]))
            ).sum(axis=1)
            for box in boxes
        ]
    )


def _bits(cell: Mapping[str, Any]) -> Iterable[int]:
    return (bit for bits in cell["connections"].values() for bit in bits if isinstance(bit, int))


def where_is(site: str) -> tuple[int, int]:
    """The column and the row of a site."""
    found = _SITE.match(site)
    if found is None:
        raise ValueError(f"{site} is no site of an FPGA")
    return int(found[1]), int(found[2])
