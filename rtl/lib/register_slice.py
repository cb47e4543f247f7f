"""A register at a border of streams, so that no path of a cycle leads through it."""

from enum import Enum, auto

from amaranth import Module, Mux, Signal
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect


class SliceMode(Enum):
    """What a slice registers; the words are those of AXI register slices."""

    FORWARD = auto()
    """Valid and payload, in one register. Ready passes. Full throughput."""
    FULL = auto()
    """Valid, payload and ready, with a second register for what comes while the first one waits. Full throughput."""
    LIGHT = auto()
    """Valid, payload and ready, with one register: one transfer in every second cycle at most."""
    REVERSE = auto()
    """Ready, with a register for what comes while the output stalls. Valid and payload pass. Full throughput."""


class RegisterSlice(wiring.Component):
    """A stream in which some signals come from registers: every transfer once, in order.

    Latency is one cycle, in mode REVERSE 0 unless the output stalls. `SliceMode` says which signals are registered, and
    the throughput. Payloads have no reset.

    Members
    -------
    input : ``In(stream.Signature(shape))``
    output : ``Out(stream.Signature(shape))``
    empty : ``Out(1)``
        The slice holds no transfer.

    `held` are the registers of transfers, the oldest first: whether there is one, and its payload.
    """

    def __init__(self, shape: ShapeLike, mode: SliceMode) -> None:
        self._mode = mode
        self.held = [(Signal(name="valid"), Signal(shape, name="payload", reset_less=True))]
        if mode is SliceMode.FULL:
            self.held.append((Signal(name="waits"), Signal(shape, name="waiting", reset_less=True)))
        super().__init__(
            {"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape)), "empty": Out(1)}
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        valid, payload = self.held[0]
        m.d.comb += [self.output.valid.eq(valid), self.output.payload.eq(payload)]
        match self._mode:
            case SliceMode.FORWARD:
                m.d.comb += [self.input.ready.eq(~valid | self.output.ready), self.empty.eq(~valid)]
                with m.If(self.input.ready):
                    m.d.sync += [valid.eq(self.input.valid), payload.eq(self.input.payload)]
            case SliceMode.LIGHT:
                m.d.comb += [self.input.ready.eq(~valid), self.empty.eq(~valid)]
                m.d.sync += valid.eq(Mux(valid, ~self.output.ready, self.input.valid))
                with m.If(~valid):
                    m.d.sync += payload.eq(self.input.payload)
            case SliceMode.FULL:
                self._with_second_register(m)
            case SliceMode.REVERSE:
                m.d.comb += [
                    self.input.ready.eq(~valid),
                    self.empty.eq(~valid),
                    self.output.valid.eq(self.input.valid | valid),
                ]
                with m.If(~valid):
                    m.d.comb += self.output.payload.eq(self.input.payload)
                    m.d.sync += payload.eq(self.input.payload)
                m.d.sync += valid.eq(self.output.valid & ~self.output.ready)
        return m

    def _with_second_register(self, m: Module) -> None:
        (valid, payload), (waits, waiting) = self.held
        m.d.comb += [self.input.ready.eq(~waits), self.empty.eq(~valid)]
        with m.If(~waits):
            m.d.sync += waiting.eq(self.input.payload)
        with m.If(~valid | self.output.ready):
            m.d.sync += [valid.eq(waits | self.input.valid), payload.eq(self.input.payload), waits.eq(0)]
            with m.If(waits):
                m.d.sync += payload.eq(waiting)
        with m.Elif(self.input.valid):
            m.d.sync += waits.eq(1)


def connect_slice(m: Module, name: str, source: stream.Interface, target: stream.Interface, mode: SliceMode) -> None:
    """Connect two streams through a register slice, a submodule of that name."""
    m.submodules[name] = between = RegisterSlice(source.payload.shape(), mode)
    connect(m, source, between.input)
    connect(m, between.output, target)


class RegisteredHandshake(wiring.Component):
    """A stream whose ready says that a transfer is complete: valid and ready registered, the payload as it is.

    The other side sees a transfer a cycle after it is offered, and it is complete here a cycle after there. The payload
    needs no register, because a stream holds it until then.

    Members
    -------
    input : ``In(stream.Signature(shape))``
    output : ``Out(stream.Signature(shape))``
    """

    def __init__(self, shape: ShapeLike) -> None:
        super().__init__({"input": In(stream.Signature(shape)), "output": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        offered, complete = Signal(), Signal()
        m.d.comb += [
            self.output.valid.eq(offered),
            self.output.payload.eq(self.input.payload),
            self.input.ready.eq(complete),
        ]
        m.d.sync += [
            offered.eq(self.input.valid & ~complete & ~(offered & self.output.ready)),
            complete.eq(offered & self.output.ready),
        ]
        return m
