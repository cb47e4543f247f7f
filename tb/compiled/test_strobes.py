"""Rows with write strobes: the Verilog tests all strobes together, and means the same."""

import re

import numpy as np
from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import CompiledUnit
from ctm.sim.compiled.rewriting.strobes import with_strobes_together
from ctm.sim.compiled.verilog import convert

ROWS, BYTES, CYCLES = 4, 8, 5_000


class Bytes(wiring.Component):
    """A memory of whose rows single bytes are written."""

    row: In(range(ROWS))
    word: In(8 * BYTES)
    strobes: In(BYTES)
    found: Out(8 * BYTES)

    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=8 * BYTES, depth=ROWS, init=[])
        write, read = memory.write_port(granularity=8), memory.read_port()
        m.d.comb += [
            write.addr.eq(self.row), write.data.eq(self.word), write.en.eq(self.strobes),
            read.addr.eq(self.row), self.found.eq(read.data),
        ]  # fmt: skip
        return m


def test_writes_are_looked_at_together_and_made_one_by_one() -> None:
    verilog = convert(Bytes(), top="bytes")
    assert re.search(r"if \(\|(\S+) ?\) begin\n( *if \(\1 ?\[\d\]\)\n.*\n){8} *end\n", verilog)

    generator = np.random.default_rng(1)
    rows = generator.integers(ROWS, size=CYCLES)
    words = generator.integers(1 << 64, size=CYCLES, dtype=np.uint64)
    strobes = np.where(generator.random(CYCLES) < 0.5, 0, generator.integers(1 << BYTES, size=CYCLES))
    found = CompiledUnit(Bytes())(row=rows, word=words, strobes=strobes)["found"]
    contents = np.zeros((ROWS, BYTES), np.uint8)
    for cycle, row in enumerate(rows):
        assert found[cycle] == contents[row].view(np.uint64)[0]
        written = strobes[cycle] >> np.arange(BYTES) & 1 != 0
        contents[row, written] = words[cycle : cycle + 1].view(np.uint8)[written]


def test_writes_with_other_strobes_stay_apart() -> None:
    def write(strobes: str, number: int) -> str:
        return f"    if ({strobes}[{number}])\n      rows[index][{number}:{number}] <= word[{number}:{number}];\n"

    first, second = write("en", 0) + write("en", 1), write("en_2", 0) + write("en_2", 1)
    together = with_strobes_together(first + second)
    assert together == f"    if (|en) begin\n{first}    end\n    if (|en_2) begin\n{second}    end\n"
    assert with_strobes_together(write("en", 0) + write("en_2", 0)) == write("en", 0) + write("en_2", 0)
