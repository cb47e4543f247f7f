"""Bytes on a serial line: one start bit, eight data bits, the lowest first, one stop bit."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS

_FRAME_BITS = BYTE_BITS + 2
_FEWEST = 4
"""Clock cycles of a bit: with fewer its middle is nowhere."""


def check_period(period: int) -> int:
    """The cycles of a bit, or `ValueError`."""
    if period < _FEWEST:
        raise ValueError(f"a bit must take at least {_FEWEST} clock cycles, not {period}: the line is too fast")
    return period


class SerialReceiver(wiring.Component):
    """Takes bytes from a line; a bit takes `period` clock cycles.

    A byte is given for one cycle, in the middle of its stop bit. What begins with no start bit of half a bit's length,
    or ends with no stop bit, is no byte, and dropped; behind the latter the line has to be high before another begins.

    Members
    -------
    line : ``In(1)``
        The pin, in no clock domain.
    byte : ``Out(stream.Signature(8, always_ready=True))``
    """

    line: In(1)
    byte: Out(stream.Signature(BYTE_BITS, always_ready=True))

    def __init__(self, period: int) -> None:
        self._period = check_period(period)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        line = Signal(init=1)
        m.submodules.synchroniser = FFSynchronizer(self.line, line, init=1)
        # The start bit and the data.
        left, count, bits = Signal(range(self._period)), Signal(range(_FRAME_BITS)), Signal(BYTE_BITS + 1)
        busy, was_high = Signal(), Signal()
        m.d.comb += self.byte.payload.eq(bits[1:])
        m.d.sync += self.byte.valid.eq(0)
        with m.If(~busy):
            m.d.sync += [busy.eq(was_high & ~line), was_high.eq(was_high | line)]
            m.d.sync += [left.eq(self._period // 2 - 1), count.eq(0)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.Elif(count == _FRAME_BITS - 1):
            m.d.sync += [busy.eq(0), was_high.eq(line), self.byte.valid.eq(line)]
        with m.Else():
            m.d.sync += [left.eq(self._period - 1), count.eq(count + 1), bits.eq(Cat(bits[1:], line))]
            with m.If((count == 0) & line):
                m.d.sync += busy.eq(0)
        return m


class SerialTransmitter(wiring.Component):
    """Puts bytes on a line; a bit takes `period` clock cycles, and between bytes there is no pause but a cycle.

    Members
    -------
    line : ``Out(1)``
    byte : ``In(stream.Signature(8))``
    """

    line: Out(1)
    byte: In(stream.Signature(BYTE_BITS))

    def __init__(self, period: int) -> None:
        self._period = check_period(period)
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        left, count, bits = Signal(range(self._period)), Signal(range(_FRAME_BITS + 1)), Signal(_FRAME_BITS)
        line = Signal(init=1)
        m.d.comb += [self.byte.ready.eq(count == 0), self.line.eq(line)]
        with m.If(count == 0):
            m.d.sync += [line.eq(1), left.eq(self._period - 1)]
            with m.If(self.byte.valid):
                sent = Cat(Const(0, 1), self.byte.payload, Const(1, 1))
                m.d.sync += [count.eq(_FRAME_BITS), bits.eq(sent[1:]), line.eq(0)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.Else():
            m.d.sync += [left.eq(self._period - 1), count.eq(count - 1)]
            m.d.sync += [line.eq(bits[0] | (count == 1)), bits.eq(bits[1:])]
        return m
