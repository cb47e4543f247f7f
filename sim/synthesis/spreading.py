"""Block RAMs in all of an FPGA's rows alike.

An FPGA has few rows of block RAM, and nextpnr puts a machine's where their nets are shortest, which fills some of these
rows and leaves others empty: around the full ones wires are missing. So a first placement only says near to what each
lies, and then each row gets as many.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean
from typing import Any

from ctm.sim.synthesis.families.ecp5 import BLOCK_RAMS

SITE, PLACED = "BEL", "NEXTPNR_BEL"
"""Attributes of a cell: the site that it is to have, and the one that nextpnr gave it."""
_SITE = re.compile(r"X(\d+)/Y(\d+)/")
_EVERYWHERE = 60
"""Ends of a net from which on it says nothing of where a cell should be."""


@dataclass(frozen=True, kw_only=True)
class BlockRamRow:
    """A row of sites for block RAM, from left to right, as nextpnr names them."""

    y: int
    names: tuple[str, ...]

    @property
    def xs(self) -> tuple[int, ...]:
        """The column of each."""
        return tuple(_where(name)[0] for name in self.names)


def spread(module: Mapping[str, Any], placed: Mapping[str, Any], rows: Sequence[BlockRamRow]) -> dict[str, Any]:
    """A module whose block RAMs have sites, as many in each of `rows`, near to the other cells in `placed`.

    A row that is half full at most has a free site beside each.
    """
    wanted = dict(_wanted(placed["cells"]))
    by_row = sorted(wanted, key=lambda name: wanted[name][1])
    shares = pairwise(round(len(by_row) * share / len(rows)) for share in range(len(rows) + 1))
    cells = dict(module["cells"])
    for row, (first, end) in zip(sorted(rows, key=lambda row: row.y), shares, strict=True):
        names = sorted(by_row[first:end], key=lambda name: wanted[name][0])
        for name, site in zip(names, _nearest([wanted[name][0] for name in names], row.xs), strict=True):
            cells[name] = {**cells[name], "attributes": {**cells[name]["attributes"], SITE: row.names[site]}}
    return {**module, "cells": cells}


def _wanted(cells: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, tuple[float, float]]]:
    """Block RAMs, and the middle of what each is connected to."""
    where: dict[str, tuple[int, int]] = {}
    ends: defaultdict[int | str, list[str]] = defaultdict(list)
    for name, cell in cells.items():
        if cell["attributes"].get(PLACED):
            where[name] = _where(cell["attributes"][PLACED])
            for bit in _bits(cell):
                ends[bit].append(name)
    block_rams = {name for name in where if cells[name]["type"] in BLOCK_RAMS}
    for name in sorted(block_rams):
        nets = (ends[bit] for bit in _bits(cells[name]))
        near = [where[end] for net in nets if len(net) <= _EVERYWHERE for end in net if end not in block_rams]
        x, y = zip(*(near or [where[name]]), strict=True)
        yield name, (fmean(x), fmean(y))


def _nearest(wanted: Sequence[float], sites: Sequence[int]) -> list[int]:
    """A site for each, in this order, so that all are as near as possible."""
    step = 2 if 2 * len(wanted) <= len(sites) else 1
    # The least distance of the first ones in sites up to each.
    best = [[0.0] * (len(sites) + step)]
    for x in wanted:
        row = [inf] * (len(sites) + step)
        for site, at in enumerate(sites):
            row[site + step] = min(row[site + step - 1], best[-1][site] + abs(at - x))
        best.append(row)
    found, end = [], len(sites) + step - 1
    for row in reversed(best[1:]):
        while row[end - 1] == row[end]:
            end -= 1
        found.append(end - step)
        end -= step
    return found[::-1]


def _bits(cell: Mapping[str, Any]) -> Iterable[int | str]:
    return (bit for bits in cell["connections"].values() for bit in bits if isinstance(bit, int))


def _where(site: str) -> tuple[int, int]:
    found = _SITE.match(site)
    if found is None:
        raise ValueError(f"{site} is no site of an FPGA")
    return int(found[1]), int(found[2])
