"""The queue of uncached writes."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.clients import uncached_write_layout
from ctm.rtl.config import ArrayConfig
from ctm.rtl.dpp.beats import counted, is_last, lanes_of
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits

_QUEUE = 16
_IN_FLIGHT = 3
"""Instructions that may be issued until the announcement of the first of them is counted."""


def uncached_result_layout(config: ArrayConfig) -> data.StructLayout:
    """An instruction's write: whether it comes in this cycle, and its `uncached_write_layout`."""
    return data.StructLayout({"valid": 1, "write": uncached_write_layout(config.lanes, wave_bits(config))})


class UncachedWrites(wiring.Component):
    """A FIFO of writes to memory. Latency is two cycles; one write is taken in each cycle, one beat is sent in each.

    Results cannot stall, so space is reserved for each write after its instruction is issued (`announced`). A write of
    no lane is sent only if it acquires: its write response says that the earlier ones are done. Another one takes a
    cycle at the FIFO's end, because lanes come too late in the cycle to keep it out. With several beats the last one
    acquires.

    Members
    -------
    announced : ``In(1)``
        Reserves space for a write, at most two cycles after the issue of its instruction.
    ready : ``Out(1)``
        An instruction that writes may be issued.
    result : ``In(uncached_result_layout(config))``
        Each announced write, in order; cannot stall.
    empty : ``Out(1)``
        All announced writes have been sent, or dropped because they have no lane.
    write : ``Out(stream.Signature(uncached_write_layout(at_once, wave)))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config = config
        super().__init__(
            {
                "announced": In(1),
                "ready": Out(1),
                "result": In(uncached_result_layout(config)),
                "empty": Out(1),
                "write": Out(stream.Signature(uncached_write_layout(config.at_once, wave_bits(config)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        result, payload = self.result, self.result.write
        m.submodules.queue = queue = SyncFIFOBuffered(width=payload.shape().size + 1, depth=_QUEUE)
        announced, remaining = Signal(range(_QUEUE + 1)), Signal(range(_QUEUE + 1))
        has_space = Signal(init=1)
        sends, oldest = queue.r_data[-1], queue.r_data[:-1]
        sent = self._send(m, oldest, queue.r_rdy & sends)
        takes = ~sends | sent
        m.d.comb += remaining.eq(announced + self.announced - (queue.r_rdy & takes))
        m.d.sync += [announced.eq(remaining), has_space.eq(remaining <= _QUEUE - _IN_FLIGHT)]
        m.d.comb += [
            self.ready.eq(has_space),
            self.empty.eq(announced == 0),
            queue.w_en.eq(result.valid),
            queue.w_data.eq(Cat(payload, payload.mask.any() | payload.acquires)),
            queue.r_en.eq(takes),
        ]
        return m

    def _send(self, m: Module, oldest: Value, valid: Value) -> Value:
        """Offer the oldest write if it is valid; whether its last beat would be taken."""
        config, sent = self._config, self.write.payload
        m.d.comb += self.write.valid.eq(valid)
        if config.beats == 1:
            m.d.comb += Value.cast(sent).eq(oldest)
            return Value.cast(self.write.ready)
        write = data.View(self.result.write.shape(), oldest)
        beat = counted(m, config, valid & self.write.ready)
        m.d.comb += [
            sent.wave.eq(write.wave),
            sent.acquires.eq(write.acquires & is_last(config, beat)),
            *(Value.cast(sent[name]).eq(lanes_of(config, write[name], beat)) for name in ("x", "y", "values", "mask")),
        ]
        return Value.cast(self.write.ready & is_last(config, beat))
