"""Serializes a wavefront's pairs: the address of each in the conditional buffer, and its operand."""

from amaranth import Cat, EnableInserter, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import BUFFER, has_pair
from ctm.rtl.border.conditional import wavefront_test_layout
from ctm.rtl.config import PipelineConfig
from ctm.rtl.fp.conversion import ToUnorm
from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import ADDRESS_BITS, COLUMN_BITS, COORDINATE_BITS, QUAD, WORD_BITS
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.views import record
from ctm.rtl.mc.address import ElementAddress

_UNORM_BITS = 16
_CONVERSION = PipelineConfig(alignment=1, result=0)


def pair_layout(lanes: int) -> data.StructLayout:
    """A pair to be tested; `last` of its wavefront. Without `exists` it is outside the buffer, or an empty mask.

    `operand` is compared and stored: the bits of the conditional value, or that value converted to an integer.
    """
    return data.StructLayout(
        {"address": ADDRESS_BITS, "operand": WORD_BITS, "lane": range(lanes), "last": 1, "exists": 1}
    )


class Pairs(wiring.Component):
    """Serializes wavefronts: one pair in each cycle, in the order of the lanes, without a gap between wavefronts.

    A wavefront without lanes to be tested gives one pair that does not exist. Latency is three cycles from a wavefront
    to its first pair.

    Members
    -------
    buffer : ``In(BUFFER)``
        Constant while not idle.
    wavefront : ``In(stream.Signature(wavefront_test_layout(lanes)))``
    pair : ``Out(stream.Signature(pair_layout(lanes)))``
    idle : ``Out(1)``
        All pairs have been taken.
    """

    def __init__(self, lanes: int) -> None:
        if lanes % QUAD or lanes < QUAD:
            raise ValueError(f"lanes must be whole quads, not {lanes}")
        self._lanes = lanes
        self._about = {"lane": range(lanes), "last": 1, "exists": 1}
        super().__init__(
            {
                "buffer": In(BUFFER),
                "wavefront": In(stream.Signature(wavefront_test_layout(lanes))),
                "pair": Out(stream.Signature(pair_layout(lanes))),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        # `mask` are the remaining lanes.
        busy, wavefront, moves = Signal(), record(wavefront_test_layout(self._lanes)), Signal()
        first = lowest_one(wavefront.mask)
        remaining, last = wavefront.mask & ~first, Signal()
        m.d.comb += [
            moves.eq(~self.pair.valid | self.pair.ready),
            last.eq(~remaining.any()),
            self.wavefront.ready.eq(~busy | (moves & last)),
        ]
        with m.If(self.wavefront.ready):
            m.d.sync += busy.eq(self.wavefront.valid)
        with m.If(self.wavefront.ready & self.wavefront.valid):
            m.d.sync += wavefront.eq(self.wavefront.payload)
        with m.Elif(moves):
            m.d.sync += wavefront.mask.eq(remaining)

        stage = Signal(2)
        with m.If(moves):
            m.d.sync += stage.eq(Cat(busy, stage))
        m.d.comb += [self.pair.valid.eq(stage[1]), self.idle.eq(~busy & ~stage.any())]
        self._locate(m, self._choose(m, wavefront, first, last, moves), moves)
        return m

    def _choose(self, m: Module, wavefront: data.View, first: Value, last: Value, moves: Value) -> data.View:
        """The first stage: the pair's lane, its index pair and its value."""
        layout = data.StructLayout({"x": COORDINATE_BITS, "y": COORDINATE_BITS, "value": WORD_BITS, **self._about})
        chosen, lane = record(layout, reset_less=True), Signal(range(self._lanes))
        x, y = Signal(COLUMN_BITS), Signal(COLUMN_BITS)
        m.d.comb += [
            lane.eq(one_hot_index(first)),
            # Lanes 0 to 3 of a quad are (0, 0), (1, 0), (0, 1), (1, 1); quads stand side by side.
            x.eq(wavefront.i + Cat(lane[0], lane[2:])),
            y.eq(wavefront.j + lane[1]),
        ]
        with m.If(moves):
            m.d.sync += [
                chosen.x.eq(x),
                chosen.y.eq(y),
                chosen.value.eq(wavefront.values[lane]),
                chosen.lane.eq(lane),
                chosen.last.eq(last),
                chosen.exists.eq(first.any() & has_pair(self.buffer, x, y)),
            ]
        return chosen

    def _locate(self, m: Module, chosen: data.View, moves: Value) -> None:
        """The second stage, and the end of the conversion in the third: the pair's address and its operand."""
        m.submodules.element = element = ElementAddress()
        unorm = ToUnorm(_UNORM_BITS, _CONVERSION)
        m.submodules.unorm = EnableInserter(moves)(unorm)
        located, pair = Signal.like(chosen, name="located", reset_less=True), self.pair.payload
        address = Signal(ADDRESS_BITS, reset_less=True)
        with m.If(moves):
            m.d.sync += [located.eq(chosen), address.eq(element.address)]
        m.d.comb += [
            element.buffer.eq(self.buffer),
            element.x.eq(chosen.x),
            element.y.eq(chosen.y),
            unorm.word.eq(chosen.value),
            pair.address.eq(address),
            pair.operand.eq(Mux(is_integer(self.buffer), unorm.result, located.value)),
            *(pair[name].eq(located[name]) for name in self._about),
        ]


def is_integer(buffer: data.View) -> Value:
    """Whether the buffer's elements are integers of 16 bits."""
    return Value.cast(buffer.format) == DataFormat.UINT16_1.value
