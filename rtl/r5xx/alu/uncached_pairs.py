"""Where an uncached write (UMRT) of an OUTPUT goes, and what of it.

Source: CTM Guide p. 31.
"""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMITS
from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import COMBINATIONAL, ArrayConfig
from ctm.rtl.dpp.groups.scheduling import slot_bits
from ctm.rtl.dpp.memory.uncached_writes import uncached_result_layout
from ctm.rtl.fp.conversion import CoordinateIndex
from ctm.rtl.isa.limits import COORDINATE_BITS, QUAD
from ctm.rtl.isa.r5xx.opcodes import UmrtTarget
from ctm.rtl.lib.rest import Resting
from ctm.rtl.lib.views import record

ACQUIRING = (UmrtTarget.SAME_IDX_ACQUIRE.value, UmrtTarget.PER_PROCESSOR_IDX_ACQUIRE.value)
"""Targets of writes that are waited for."""


def uncached_layout(config: ArrayConfig) -> data.StructLayout:
    """Results of an OUTPUT; the lanes that write, and those that may lend their quad a pair."""
    return data.StructLayout(
        {
            "valid": 1,
            "slot": slot_bits(config),
            "target": UmrtTarget,
            "words": words_layout(config.lanes),
            "mask": config.lanes,
            "eligible": config.lanes,
        }
    )


class WritePairs(wiring.Component):
    """Where the lanes write: each at its own pair, or a quad at that of its first eligible lane. Combinational.

    Members
    -------
    limits : ``In(LIMITS)``
    target, words, eligible : as those of `uncached_layout`
    x, y : ``Out(ArrayLayout(12, lanes))``
    inside : ``Out(lanes)``
        Whether the pair is inside the limits.
    """

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        indices = data.ArrayLayout(COORDINATE_BITS, lanes)
        super().__init__(
            {
                "limits": In(LIMITS),
                "target": In(UmrtTarget),
                "words": In(words_layout(lanes)),
                "eligible": In(lanes),
                "x": Out(indices),
                "y": Out(indices),
                "inside": Out(lanes),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        shared = Value.cast(self.target).matches(UmrtTarget.SAME_IDX.value, UmrtTarget.SAME_IDX_ACQUIRE.value)
        pairs = [self._pair(m, lane) for lane in range(self._lanes)]
        for first in range(0, self._lanes, QUAD):
            leader = record(pairs[0].shape(), name=f"leader_{first}")
            m.d.comb += leader.eq(pairs[first])
            for lane in reversed(range(first, first + QUAD)):
                with m.If(self.eligible[lane]):
                    m.d.comb += leader.eq(pairs[lane])
            for lane in range(first, first + QUAD):
                own = data.View(leader.shape(), Mux(shared, Value.cast(leader), Value.cast(pairs[lane])))
                m.d.comb += [self.x[lane].eq(own.x), self.y[lane].eq(own.y), self.inside[lane].eq(own.inside)]
        return m

    def _pair(self, m: Module, lane: int) -> data.View:
        """A lane's own pair, and whether it is inside the limits."""
        indices = []
        for channel, limit in ((1, self.limits.width), (2, self.limits.height)):
            m.submodules[f"index_{lane}_{channel}"] = unit = CoordinateIndex(COMBINATIONAL)
            m.d.comb += [unit.word.eq(self.words[lane][channel]), unit.limit.eq(limit)]
            indices.append(unit)
        x, y = indices
        layout = data.StructLayout({"x": x.index.shape(), "y": y.index.shape(), "inside": 1})
        pair = record(layout, name=f"pair_{lane}")
        m.d.comb += [pair.x.eq(x.index), pair.y.eq(y.index), pair.inside.eq(x.inside & y.inside)]
        return pair


class UncachedPairs(wiring.Component):
    """Turns results into writes: red is the data, green and blue are the pair. A cycle later, one in each cycle.

    Lanes whose pair is outside the limits write nothing.

    Members
    -------
    limits : ``In(LIMITS)``
    result : ``In(uncached_layout(config))``
    write : ``Out(uncached_result_layout(config))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._lanes = config.lanes
        super().__init__(
            {
                "limits": In(LIMITS),
                "result": In(uncached_layout(config)),
                "write": Out(uncached_result_layout(config)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        result, write = Signal.like(self.result), self.write.write
        m.d.sync += result.eq(self.result)
        m.submodules.pairs = pairs = Resting(WritePairs(self._lanes))
        m.d.comb += [
            pairs.wanted.eq(result.valid),
            pairs.limits.eq(self.limits),
            *(getattr(pairs, name).eq(result[name]) for name in ("target", "words", "eligible")),
            self.write.valid.eq(result.valid),
            write.slot.eq(result.slot),
            write.acquires.eq(Value.cast(result.target).matches(*ACQUIRING)),
            write.x.eq(pairs.x),
            write.y.eq(pairs.y),
            write.mask.eq(result.mask & pairs.inside),
            *(write.values[lane].eq(result.words[lane][0]) for lane in range(self._lanes)),
        ]
        return m
