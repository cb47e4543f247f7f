"""Netlists of units linked into one, with the design's names."""

import re
from collections.abc import Mapping
from typing import Any

from ctm.sim.synthesis.report import Netlist

_OWN_NUMBER = re.compile(r"\$\d+")
_YES = "1".zfill(32)


def link(
    modules: Mapping[str, Mapping[str, Any]], top: str, settings: Mapping[str, float] | None = None
) -> dict[str, Any]:
    """One netlist of modules by their names, as Yosys writes it; a box in one is a module of its own.

    nextpnr replaces cells by the modules of their types. `settings` are its own, those without an option, too.
    """
    linked = {name: dict(module) for name, module in modules.items()}
    for name, module in linked.items():
        own = {key: value for key, value in module["attributes"].items() if key != "top"}
        module["attributes"] = own | ({"top": _YES} if name == top else {})
    if settings:
        linked[top]["settings"] = {name: _decimal(value) for name, value in settings.items()}
    return {"creator": "", "modules": linked}


def _decimal(number: float) -> str:
    """A number as nextpnr takes it: what could be binary ends with a space if it is not."""
    digits = str(number)
    return digits if digits.strip("01") else f"{digits} "


class LinkedNames:
    """The names of a linked netlist's cells: the path, and then the bit that they hold, as of `Netlist`."""

    def __init__(self, modules: Mapping[str, Mapping[str, Any]], top: str) -> None:
        self._modules, self._top = modules, top
        self._netlists: dict[str, Netlist] = {}
        self._boxes = {
            name: {inner: cell["type"] for inner, cell in module["cells"].items() if cell["type"] in modules}
            for name, module in modules.items()
        }

    def name(self, cell: str) -> str:
        """The name of a cell that nextpnr calls so, without the numbers that are not the design's."""
        return _OWN_NUMBER.sub("", self._name(self._top, cell))

    def _name(self, module: str, cell: str) -> str:
        for inner, box in self._boxes[module].items():
            if cell.startswith(f"{inner}."):
                return f"{inner}.{self._name(box, cell.removeprefix(f'{inner}.'))}"
        if module not in self._netlists:
            self._netlists[module] = Netlist(self._modules[module])
        return self._netlists[module].name(cell)
