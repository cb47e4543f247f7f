"""Small components that have all cells of an ECP5 that the machine has, and what they give."""

from typing import Any

import numpy as np
from amaranth import Array, Cat, Const, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ctm.sim.compiled import unit
from ctm.tb.synthesis.component import ScaledEntry

COUNT = 4000


class Memories(wiring.Component):
    """Memories of all shapes that synthesis makes of the machine's: rows of 36, 18, 9 and 1 bits, and small ones."""

    address: In(11)
    other: In(11)
    data: In(36)
    write: In(4)
    wide: Out(36)
    byte: Out(9)
    same: Out(18)
    bit: Out(1)
    small: Out(8)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.wide = wide = Memory(shape=36, depth=512, init=[77777 * row for row in range(512)])
        m.submodules.byte = byte = Memory(shape=9, depth=2048, init=[5 * row % 512 for row in range(2048)])
        m.submodules.same = same = Memory(shape=18, depth=1024, init=[])
        m.submodules.small = small = Memory(shape=8, depth=16, init=[])
        port, read = wide.write_port(granularity=9), wide.read_port()
        m.d.comb += [port.addr.eq(self.address), port.data.eq(self.data), port.en.eq(self.write)]
        m.d.comb += [read.addr.eq(self.other), self.wide.eq(read.data)]
        # A row that is read in the cycle in which it is written has its old contents.
        for memory, output in ((byte, self.byte), (same, self.same)):
            port, read = memory.write_port(), memory.read_port()
            m.d.comb += [port.addr.eq(self.address), port.data.eq(self.data), port.en.eq(self.write[0])]
            m.d.comb += [read.addr.eq(self.other), output.eq(read.data)]
        m.submodules.bits = bits = Memory(shape=1, depth=1 << 14, init=[row * row >> 3 & 1 for row in range(1 << 14)])
        port, read = bits.write_port(), bits.read_port()
        m.d.comb += [port.addr.eq(Cat(self.address, self.write)), port.data.eq(self.data), port.en.eq(self.write[0])]
        m.d.comb += [read.addr.eq(Cat(self.other, self.write)), self.bit.eq(read.data)]
        port, look = small.write_port(), small.read_port(domain="comb")
        m.d.comb += [port.addr.eq(self.address), port.data.eq(self.data), port.en.eq(self.write[1])]
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

    address: In(2)
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
            port.addr.eq(self.address),
            port.data.eq(self.data),
            port.en.eq(self.write),
            read.addr.eq(self.other),
        ]
        m.d.sync += [
            self.few.eq(read.data),
            self.difference.eq(self.data - Cat(self.address, self.other, self.address)),
        ]
        with m.If(self.write & (self.data == self.address)):
            m.d.sync += self.ever.eq(1)
        return m


class Tables(wiring.Component):
    """Functions of five, six and seven bits, which are tables and multiplexers; one register keeps what it has."""

    bits: In(7)
    five: Out(4)
    six: Out(4)
    seven: Out(4)
    kept: Out(4)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        kept = Signal(4, reset_less=True)
        m.d.comb += self.kept.eq(kept)
        for output, count in ((self.five, 5), (self.six, 6), (self.seven, 7), (kept, 4)):
            words = [row * row * 2654435761 >> 7 & 15 for row in range(3, 3 + (1 << count))]
            m.d.sync += output.eq(Array(Const(word, 4) for word in words)[self.bits[:count]])
        return m


class Choices(wiring.Component):
    """One of eight words, and of sixteen, by their numbers; what is chosen goes into tables, or is all there is."""

    words: In(64)
    other: In(16)
    number: In(4)
    eight: Out(4)
    sixteen: Out(4)
    masked: Out(4)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = [self.words.word_select(number, 4) for number in range(16)]
        others = [self.other.word_select(number, 4) for number in range(4)]
        chosen = Array([*words[4:8], *others])[self.number[:3]]
        m.d.sync += [
            self.eight.eq(Array(words[:8])[self.number[1:]]),
            self.sixteen.eq(Array(words)[self.number]),
            self.masked.eq(chosen & self.other[:4] & self.number),
        ]
        return m


def results(component: wiring.Component) -> dict[str, np.ndarray]:
    """What a component gives for random inputs, of which many are at the same addresses."""
    compiled, generator = unit.CompiledUnit(component), np.random.default_rng(3)
    inputs: dict[str, Any] = {
        name: generator.integers(0, 1 << width, COUNT, np.uint64) >> generator.integers(0, 4, COUNT, np.uint64) * 3
        for name, width in compiled.inputs.items()
    }
    return compiled(**inputs)


COMPONENTS = (ScaledEntry, Memories, Products, Constants, Tables, Choices)
