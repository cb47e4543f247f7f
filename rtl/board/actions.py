"""The interface of a bridge's actions, and the simplest one, the greeting."""

from collections.abc import Mapping

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.isa.link import GREETING, HEADER
from ctm.rtl.isa.word import pack

GREETING_BYTES = GREETING.size // BYTE_BITS


class Action(wiring.Signature):
    """A unit that executes requests, seen from the bridge.

    `start` is high for one cycle, in which `done` is high; `header` is constant from then on until `done` is high
    again. `brought` is the request's data, `found` the response's. `done` is high after the last byte; `error` then has
    whether a bus gave an error response.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "start": Out(1),
                "header": Out(HEADER),
                "brought": Out(stream.Signature(BYTE_BITS)),
                "found": In(stream.Signature(BYTE_BITS)),
                "done": In(1),
                "error": In(1),
            }
        )


class Greeter(wiring.Component):
    """Sends a constant `GREETING`."""

    action: In(Action())

    def __init__(self, greeting: Mapping[str, int]) -> None:
        self._greeting = Const(pack(GREETING, **greeting), GREETING.size)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        action = self.action
        index = Signal(range(GREETING_BYTES + 1), init=GREETING_BYTES)
        m.d.comb += [
            action.done.eq(index == GREETING_BYTES),
            action.found.valid.eq(~action.done),
            action.found.payload.eq(self._greeting.word_select(index, BYTE_BITS)),
        ]
        with m.If(action.start):
            m.d.sync += index.eq(0)
        with m.Elif(action.found.valid & action.found.ready):
            m.d.sync += index.eq(index + 1)
        return m


class Bytes:
    """A register that takes bytes one by one, the lowest first, or gives them."""

    def __init__(self, count: int, name: str) -> None:
        self.bits = Signal(count * BYTE_BITS, name=name, reset_less=True)
        self.remaining = Signal(range(count + 1), name=f"{name}_remaining")
        self.count = count

    def fill(self, m: Module, bits: Value) -> None:
        """Hold these bits, to be given."""
        m.d.sync += [self.bits.eq(bits), self.remaining.eq(self.count)]

    def give(self, m: Module, port: stream.Interface) -> Value:
        """Offer the remaining bytes. Returns whether there is none."""
        m.d.comb += [port.valid.eq(self.remaining != 0), port.payload.eq(self.bits[:BYTE_BITS])]
        with m.If(port.valid & port.ready):
            m.d.sync += [self.remaining.eq(self.remaining - 1), self.bits.eq(self.bits >> BYTE_BITS)]
        return self.remaining == 0

    def expect(self, m: Module) -> None:
        """Wait for all bytes."""
        m.d.sync += self.remaining.eq(self.count)

    def take(self, m: Module, port: stream.Interface) -> Value:
        """Take the remaining bytes. Returns whether there is none."""
        m.d.comb += port.ready.eq(self.remaining != 0)
        with m.If(port.valid & port.ready):
            m.d.sync += [self.remaining.eq(self.remaining - 1), self.bits.eq(Cat(self.bits[BYTE_BITS:], port.payload))]
        return self.remaining == 0
