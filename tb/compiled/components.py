"""Small components to compile."""

from amaranth import Cat, Module, Mux, Signal, signed
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

TABLE = [(37 * index + 11) * 0x9E3779B97F4A7C15 % (1 << 61) for index in range(4096)]


class Adder(wiring.Component):
    """left + right, after any number of registers."""

    def __init__(self, width: int, latency: int) -> None:
        self.latency = latency
        super().__init__({"left": In(width), "right": In(width), "total": Out(width + 1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        value = self.left + self.right
        for _ in range(self.latency):
            register = Signal.like(value)
            m.d.sync += register.eq(value)
            value = register
        m.d.comb += self.total.eq(value)
        return m


class Function(enum.Enum, shape=2):
    AND = 0
    OR = 1
    XOR = 2


class Pair(data.Struct):
    low: 5
    high: signed(7)


class Mixed(wiring.Component):
    """Ports of all kinds, with names that C++ does not like, and no clock."""

    function: In(Function)
    int: In(Pair)
    new: In(Pair)
    request: In(stream.Signature(70, always_valid=True))
    class_: Out(Pair)
    less: Out(1)
    latency = 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        left, right = self.int.as_value(), self.new.as_value()
        with m.Switch(self.function):
            with m.Case(Function.AND):
                m.d.comb += self.class_.eq(left & right)
            with m.Case(Function.OR):
                m.d.comb += self.class_.eq(left | right)
            with m.Case(Function.XOR):
                m.d.comb += self.class_.eq(left ^ right)
        m.d.comb += [
            self.less.eq(self.int.high < self.new.high),
            self.request.ready.eq(self.request.payload[-1]),
        ]
        return m


class PartlyConstant(wiring.Component):
    """A signal of which some bits are constant and some are not."""

    value: In(4)
    result: Out(8)
    latency = 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [self.result[0].eq(1), self.result[6:].eq(2)]
        with m.If(self.value[0]):
            m.d.comb += self.result[1:5].eq(self.value)
        return m


class TableLookup(wiring.Component):
    """A table in a memory."""

    index: In(12)
    entry: Out(61)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=61, depth=len(TABLE), init=TABLE)
        port = memory.read_port()
        m.d.comb += [port.addr.eq(self.index), self.entry.eq(port.data)]
        return m


class Counter(wiring.Component):
    """How many of the cycles since the reset had `up`; and a sum of more than 64 bits."""

    up: In(1)
    wide: In(129)
    count: Out(8)
    total: Out(130)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += [
            self.count.eq(Mux(self.up, self.count + 1, self.count)),
            self.total.eq(self.wide + Cat(self.up, self.up)),
        ]
        return m


class OtherDomain(wiring.Component):
    """A register in a clock domain of its own."""

    value: In(1)
    result: Out(1)
    latency = 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.pixel += self.result.eq(self.value)
        return m
