"""What a bridge asks its parts to do, and the simplest one: to say what the board is."""

from collections.abc import Mapping

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS
from ctm.rtl.isa.link import GREETING, HEADER
from ctm.rtl.isa.word import pack

GREETING_BYTES = GREETING.size // BYTE_BITS


class Action(wiring.Signature):
    """A part of the bridge, seen from the bridge.

    `start` is high for one cycle, in which `done` is; `header` is constant from then on until `done` is high again.
    `brought` is what came with the request. `found` is what is to be sent; behind the last byte, and when all else is
    done, `done` is high, and `refused` says whether a bus answered with an error.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "start": Out(1),
                "header": Out(HEADER),
                "brought": Out(stream.Signature(BYTE_BITS)),
                "found": In(stream.Signature(BYTE_BITS)),
                "done": In(1),
                "refused": In(1),
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
        place = Signal(range(GREETING_BYTES + 1), init=GREETING_BYTES)
        m.d.comb += [
            action.done.eq(place == GREETING_BYTES),
            action.found.valid.eq(~action.done),
            action.found.payload.eq(self._greeting.word_select(place, BYTE_BITS)),
        ]
        with m.If(action.start):
            m.d.sync += place.eq(0)
        with m.Elif(action.found.valid & action.found.ready):
            m.d.sync += place.eq(place + 1)
        return m


class Bytes:
    """A register that takes bytes one by one, the lowest first, or gives them."""

    def __init__(self, count: int, name: str) -> None:
        self.bits = Signal(count * BYTE_BITS, name=name, reset_less=True)
        self.left = Signal(range(count + 1), name=f"{name}_left")
        self.count = count

    def fill(self, m: Module, bits: Value) -> None:
        """Hold these bits, to be given."""
        m.d.sync += [self.bits.eq(bits), self.left.eq(self.count)]

    def give(self, m: Module, port: stream.Interface) -> Value:
        """Offer the bytes that are left; whether none is."""
        m.d.comb += [port.valid.eq(self.left != 0), port.payload.eq(self.bits[:BYTE_BITS])]
        with m.If(port.valid & port.ready):
            m.d.sync += [self.left.eq(self.left - 1), self.bits.eq(self.bits >> BYTE_BITS)]
        return self.left == 0

    def expect(self, m: Module) -> None:
        """Wait for all bytes."""
        m.d.sync += self.left.eq(self.count)

    def take(self, m: Module, port: stream.Interface) -> Value:
        """Take the bytes that are left; whether none is."""
        m.d.comb += port.ready.eq(self.left != 0)
        with m.If(port.valid & port.ready):
            m.d.sync += [self.left.eq(self.left - 1), self.bits.eq(Cat(self.bits[BYTE_BITS:], port.payload))]
        return self.left == 0
