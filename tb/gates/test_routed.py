"""Small components as nextpnr writes them after routing: they do what they did, and mistakes in reading are seen."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amaranth.lib import wiring

from ctm.sim.compiled import unit
from ctm.sim.compiled.tools.package import FPGA_NEXTPNR, FPGA_YOSYS
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.tb.gates import components, library, routed
from ctm.tb.gates.netlist import verilog
from ctm.tb.lib.planting import Fault, checks, planted_in_all

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not (FPGA_YOSYS.is_installed and FPGA_NEXTPNR.is_installed), reason="needs the extra synth"),
]
COMPONENTS = {component.__name__: component for component in components.COMPONENTS}
PINS = Path(__file__).parents[1] / "board" / "primitives.v"
Module = Mapping[str, Any]


def fault(old: str, new: str) -> Fault:
    return Fault("tb.gates.routed", old, new)


MISTAKES = {
    "order of bits that are written": ("Memories", fault('"C1", "WDO1": "A1"', '"A1", "WDO1": "C1"')),
    "order of rows that are written": ("Memories", fault('"D0", "WADO1": "B0"', '"B0", "WADO1": "D0"')),
    "which table a multiplexer takes": ("Tables", fault('("F", "F1") if', '("F1", "F") if')),
    "which of two multiplexers is taken": ("Choices", fault('else ("FXA", "FXB")', 'else ("FXB", "FXA")')),
    "what a register takes": ("ScaledEntry", fault('.strip() == "1" else "M"', '.strip() != "1" else "M"')),
    "a reset that is open": ("Tables", fault('["0"] if cell.is_open("LSR")', '["1"] if cell.is_open("LSR")')),
    "constants at pins of blocks": ("ScaledEntry", fault('"1" if how == "1" else "0"', '"1" if how == "0" else "0"')),
    "where a carry goes on": ("Constants", fault('"CIN": cell["FCI"]', '"CIN": ["0"]')),
}
"""A component in whose netlist there is such a thing, and what is planted where netlists are read."""


@pytest.fixture(scope="module")
def netlists() -> dict[str, Module]:
    """What nextpnr wrote of each component that was needed so far."""
    return {}


def found(name: str, netlists: dict[str, Module], unpacked: Callable[[Module], Module]) -> dict[str, np.ndarray]:
    """What a component gives when it is simulated after routing."""

    def as_routed(component: wiring.Component, *, top: str) -> str:
        if name not in netlists:
            text = convert_to_rtlil(component, top=top)
            netlists[name] = library.routed(library.synthesised(text, top), top)
        return library.cells() + PINS.read_text() + verilog({top: unpacked(netlists[name])})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unit, "convert", as_routed)
        return components.results(COMPONENTS[name]())


def is_right(name: str, netlists: dict[str, Module], unpacked: Callable[[Module], Module] = routed.unpacked) -> bool:
    expected, after = components.results(COMPONENTS[name]()), found(name, netlists, unpacked)
    return all(np.array_equal(after[output], bits) for output, bits in expected.items())


@pytest.mark.parametrize("name", COMPONENTS)
def test_components_do_the_same_after_routing(name: str, netlists: dict[str, Module]) -> None:
    assert is_right(name, netlists)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str, netlists: dict[str, Module]) -> None:
    name, planted = MISTAKES[mistake]
    with planted_in_all(planted, ("ctm.tb.gates.routed",)):
        unpacked = checks("gates.routed").unpacked
    assert not is_right(name, netlists, unpacked)


def test_a_memory_whose_rows_are_in_another_order_is_found(
    netlists: dict[str, Module], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, right = library.cells(), "table_bits[{WAD0, WAD2, WAD1, WAD3}]"
    assert text.count(right) == 1
    monkeypatch.setattr(library, "cells", lambda: text.replace(right, "table_bits[{WAD3, WAD2, WAD1, WAD0}]"))
    assert not is_right("Memories", netlists)
