"""Elements of wide signals are selected, and are the ones that a shift gives."""

import re
from pathlib import Path

import numpy as np
import pytest
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import CompiledUnit
from ctm.sim.compiled.rewriting.selections import with_selections
from ctm.sim.compiled.verilog import convert
from ctm.tb.compiled.lint import complaints


class Chooser(wiring.Component):
    """Elements of a slice of `words`, by an index that may or may not exceed them."""

    latency = 0

    def __init__(self, length: int, width: int, index_bits: int, first: int = 0) -> None:
        self._width, self._first = width, first
        super().__init__({"words": In(length), "index": In(index_bits), "element": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.element.eq(self.words[self._first :].word_select(self.index, self._width))
        return m


SHAPES = [
    (512, 128, 2),
    (512, 32, 4),
    (128, 1, 7),
    (135, 32, 2, 7),
    (1030, 32, 5, 6),
    (832, 52, 4),
    (96, 32, 2),
    (128, 32, 3),
    (64, 8, 3),
]
SELECTED = SHAPES[:6]
"""Those that are wide and have an element for each index."""


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_element_is_that_of_a_shift(shape: tuple[int, ...], tmp_path: Path) -> None:
    length, width, index_bits, first = (*shape, 0)[:4]
    chooser = Chooser(*shape)
    verilog = convert(chooser, top="chooser")
    assert ("+:" in verilog) == (shape in SELECTED)
    assert complaints(verilog, "chooser", tmp_path) == set()
    generator = np.random.default_rng(length)
    count = 4 << index_bits
    numbers = [int.from_bytes(generator.bytes(length // 8 + 1), "little") % (1 << length) for _ in range(count)]
    indices = np.arange(count) % (1 << index_bits)
    if length > 64:
        words = np.array(
            [[number >> 32 * word & 0xFFFF_FFFF for word in range(-(-length // 32))] for number in numbers]
        )
    else:
        words = np.array(numbers, np.uint64)
    found = CompiledUnit(Chooser(*shape))(words=words, index=indices)["element"]
    for number, index, element in zip(numbers, indices, found, strict=True):
        expected = number >> first >> int(index) * width & (1 << width) - 1
        given = sum(int(word) << 32 * position for position, word in enumerate(np.atleast_1d(element)))
        assert given == expected, f"element {index} of {number:#x}: {given:#x}, not {expected:#x}"


def test_other_shifts_stay() -> None:
    declared = "module a;\n  wire [127:0] w;\n  wire [31:0] e;\n  wire [6:0] p;\n  wire [1:0] i;\n"
    selected = declared + "  assign p = i * 7'h20;\n  assign e = w >> p ;\n"
    assert re.search(r"assign e = w \[p +\+: 32\];", with_selections(selected))
    for position in ("i * 7'h10", "i + 7'h20"):
        other = with_selections(f"{declared}  assign p = {position};\n  assign e = w >> p ;\n")
        assert other.endswith("  wire [127:0] \\e$shifted  = w >> p ;\n  assign e = \\e$shifted [31:0];\n")
