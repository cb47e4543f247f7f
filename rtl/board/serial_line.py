"""Bytes on a serial line: one start bit, eight data bits, the lowest first, one stop bit."""

from amaranth import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.limits import BYTE_BITS

_FRAME_BITS = BYTE_BITS + 2
_FEWEST = 4
"""Fewest clock cycles of a bit, so that its middle can be sampled."""


def check_period(period: int) -> int:
    """The cycles of a bit, or `ValueError`."""
    if period < _FEWEST:
        raise ValueError(f"a bit must take at least {_FEWEST} clock cycles, not {period}: the line is too fast")
    return period


class SerialReceiver(wiring.Component):
    """Takes bytes from a line; a bit takes `period` clock cycles.

    A byte is given for one cycle, in the middle of its stop bit. A start bit shorter than half a bit is ignored. A byte
    without a stop bit is dropped; the line then has to be high before another byte begins.

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
        remaining, count, bits = Signal(range(self._period)), Signal(range(_FRAME_BITS)), Signal(BYTE_BITS + 1)
        busy, was_high = Signal(), Signal()
        m.d.comb += self.byte.payload.eq(bits[1:])
        m.d.sync += self.byte.valid.eq(0)
        with m.If(~busy):
            m.d.sync += [busy.eq(was_high & ~line), was_high.eq(was_high | line)]
            m.d.sync += [remaining.eq(self._period // 2 - 1), count.eq(0)]
        with m.Elif(remaining != 0):
            m.d.sync += remaining.eq(remaining - 1)
        with m.Elif(count == _FRAME_BITS - 1):
            m.d.sync += [busy.eq(0), was_high.eq(line), self.byte.valid.eq(line)]
        with m.Else():
            m.d.sync += [remaining.eq(self._period - 1), count.eq(count + 1), bits.eq(Cat(bits[1:], line))]
            with m.If((count == 0) & line):
                m.d.sync += busy.eq(0)
        return m


class SerialTransmitter(wiring.Component):
    """Sends bytes on a line; a bit takes `period` clock cycles, with one cycle between bytes.

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
        remaining, count, bits = Signal(range(self._period)), Signal(range(_FRAME_BITS + 1)), Signal(_FRAME_BITS)
        line = Signal(init=1)
        m.d.comb += [self.byte.ready.eq(count == 0), self.line.eq(line)]
        with m.If(count == 0):
            m.d.sync += [line.eq(1), remaining.eq(self._period - 1)]
            with m.If(self.byte.valid):
                sent = Cat(Const(0, 1), self.byte.payload, Const(1, 1))
                m.d.sync += [count.eq(_FRAME_BITS), bits.eq(sent[1:]), line.eq(0)]
        with m.Elif(remaining != 0):
            m.d.sync += remaining.eq(remaining - 1)
        with m.Else():
            m.d.sync += [remaining.eq(self._period - 1), count.eq(count - 1)]
            m.d.sync += [line.eq(bits[0] | (count == 1)), bits.eq(bits[1:])]
        return m
