"""``gowin_pack`` of apycula 0.32, some hundred times as fast, as ``python -m ctm.sim.boards.gowin_packer``.

For each switch between two wires it looks through all tiles of a GW5A for one that belongs to a fast clock of pins, of
which there are a few dozen: for the million switches of a machine that takes an hour.
"""

import sys
from collections.abc import Iterable
from typing import Any

from apycula import gowin_pack

_Switch = tuple[int, int, str, str]
_route = gowin_pack.route


class _NoneToLookThrough:
    """The FPGA's database, without rows to look through; what it has of a tile is there."""

    rows = 0

    def __init__(self, database: Any) -> None:
        self._database = database

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    def __getitem__(self, tile: tuple[int, int]) -> Any:
        return self._database[tile]


def _route_faster(database: Any, tiles: Any, switches: Iterable[_Switch]) -> None:
    """As `gowin_pack.route`, which sets fuses, in any order: clocks are looked for everywhere, others in their tile."""
    clocks = gowin_pack.wnames.clknumbers
    fast = {wire for found in database.hclk_pips.values() for wire in found}
    everywhere: list[_Switch] = []
    here: list[_Switch] = []
    for switch in switches:
        _, _, source, wire = switch
        of_clocks = wire in fast or source in clocks or wire in clocks or source[8:].startswith(("_BOT", "_TOP"))
        (everywhere if of_clocks else here).append(switch)
    _route(database, tiles, everywhere)
    _route(_NoneToLookThrough(database), tiles, here)


if __name__ == "__main__":
    gowin_pack.route = _route_faster
    sys.exit(gowin_pack.main())
