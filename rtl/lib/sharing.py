"""Several streams that share one."""

from collections.abc import Sequence

from amaranth import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import ShapeLike
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.lib.encoding import lowest_one, one_hot_index


def round_robin(requests: Value, pointer: Value) -> Value:
    """The grant, one-hot: the lowest request inside the mask `pointer`, or the lowest of all if none is inside."""
    preferred = requests & pointer
    return Mux(preferred.any(), lowest_one(preferred), lowest_one(requests))


def route(m: Module, source: stream.Interface, number: Value, targets: Sequence[stream.Interface]) -> None:
    """Connect a stream's handshake to the one of several streams that `number` selects; payloads are not connected."""
    m.d.comb += source.ready.eq(Array(target.ready for target in targets)[number])
    m.d.comb += [target.valid.eq(source.valid & (number == index)) for index, target in enumerate(targets)]


class Arbiter(wiring.Component):
    """A round-robin arbiter of streams. Combinational but for the round-robin pointer; a waiting grant is held.

    Members
    -------
    keep : ``In(1)``
        Only where the arbiter `keeps` grants: the next transfer has the same source as that of the output.
    inputs : ``In(stream.Signature(shape)).array(count)``
    output : ``Out(stream.Signature(shape))``
    source : ``Out(range(count))``
        The input that is granted.
    """

    def __init__(self, shape: ShapeLike, count: int, *, keeps: bool = False) -> None:
        self._count, self._keeps = count, keeps
        super().__init__(
            {
                **({"keep": In(1)} if keeps else {}),
                "inputs": In(stream.Signature(shape)).array(count),
                "output": Out(stream.Signature(shape)),
                "source": Out(range(count)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        count = self._count
        valid = Cat(source.valid for source in self.inputs)
        # `pointer` has a one for each source that has priority.
        waits, held, pointer = Signal(), Signal(range(count)), Signal(count)

        chosen = one_hot_index(round_robin(valid, pointer))
        m.d.comb += self.source.eq(Mux(waits, held, chosen))
        kept = Value.cast(self.keep) if self._keeps else Const(0)
        # One whose grant is kept may have nothing to offer yet.
        offered = Mux(waits, valid.bit_select(held, 1), valid.any()) if self._keeps else valid.any()
        m.d.comb += self.output.valid.eq(offered)
        with m.Switch(self.source):
            for number, source in enumerate(self.inputs):
                with m.Case(number):
                    m.d.comb += [
                        Value.cast(self.output.payload).eq(source.payload),
                        source.ready.eq(self.output.ready),
                    ]
        with m.If(self.output.valid):
            m.d.sync += [waits.eq(~self.output.ready | kept), held.eq(self.source)]
            for number in range(count):
                with m.If(self.output.ready & (self.source == number)):
                    m.d.sync += pointer.eq(-1 << number + 1)
        return m


class SharedClient(wiring.Component):
    """Lets several clients share one port whose responses come in the order of the requests, `beats` for each.

    `client` is a client's signature: a stream `request` and a stream `response`. At most `outstanding` requests are
    in flight.

    Members
    -------
    clients : ``In(client)``, `count` of them
    shared : ``Out(client)``
    """

    def __init__(self, client: wiring.Signature, count: int, *, beats: int = 1, outstanding: int = 8) -> None:
        self._count, self._beats, self._outstanding = count, beats, outstanding
        super().__init__({"clients": In(client).array(count), "shared": Out(client)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        request, responses = self.shared.request, self.shared.response
        m.submodules.arbiter = arbiter = Arbiter(request.payload.shape(), self._count)
        width = max(1, len(arbiter.source))
        m.submodules.order = order = SyncFIFO(width=width, depth=self._outstanding)
        for number, client in enumerate(self.clients):
            wiring.connect(m, wiring.flipped(client.request), arbiter.inputs[number])
        chosen = arbiter.output
        m.d.comb += [
            request.valid.eq(chosen.valid & order.w_rdy),
            Value.cast(request.payload).eq(chosen.payload),
            chosen.ready.eq(request.ready & order.w_rdy),
            order.w_data.eq(arbiter.source),
            order.w_en.eq(request.valid & request.ready),
        ]
        beat = Signal(range(self._beats))
        last = beat == self._beats - 1
        arrives = responses.valid & responses.ready
        with m.Switch(order.r_data):
            for number, client in enumerate(self.clients):
                own = client.response
                m.d.comb += Value.cast(own.payload).eq(responses.payload)
                with m.Case(number):
                    m.d.comb += [
                        own.valid.eq(responses.valid & order.r_rdy),
                        responses.ready.eq(own.ready & order.r_rdy),
                    ]
        with m.If(arrives):
            m.d.sync += beat.eq(Mux(last, 0, beat + 1))
        m.d.comb += order.r_en.eq(arrives & last)
        return m
