"""Addresses and masks of uncached writes (UMRT) of an OUTPUT.

Source: CTM Guide p. 31.
"""

from collections.abc import Iterator

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.buffers import LIMITS
from ctm.rtl.border.clients import words_layout
from ctm.rtl.config import COMBINATIONAL, ArrayConfig
from ctm.rtl.dpp.beats import counted, gathered, is_last
from ctm.rtl.dpp.memory.uncached_writes import uncached_result_layout
from ctm.rtl.dpp.wavefronts.scheduling import wave_bits
from ctm.rtl.fp.conversion import CoordinateIndex
from ctm.rtl.isa.limits import COORDINATE_BITS, QUAD, WORD_BITS
from ctm.rtl.isa.r5xx.opcodes import ACQUIRING, UmrtTarget
from ctm.rtl.lib.clock_gating import GatedStateless
from ctm.rtl.lib.encoding import lowest_one, one_hot_index
from ctm.rtl.lib.views import record

_PAIR = data.StructLayout({"x": COORDINATE_BITS, "y": COORDINATE_BITS, "inside": 1})
_LANE = data.StructLayout({"pair": _PAIR, "value": WORD_BITS, "mask": 1, "eligible": 1})


def uncached_layout(config: ArrayConfig) -> data.StructLayout:
    """Results of an OUTPUT; the lanes that write, and those that may lend their quad a pair. Of one beat."""
    return data.StructLayout(
        {
            "valid": 1,
            "wave": wave_bits(config),
            "target": UmrtTarget,
            "words": words_layout(config.at_once),
            "mask": config.at_once,
            "eligible": config.at_once,
        }
    )


class WritePairs(wiring.Component):
    """Pairs of the lanes' writes: each at its own pair, or a quad at that of its first eligible lane. Combinational.

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
        pairs = [_own_pair(m, self.limits, words, lane) for lane, words in enumerate(self.words)]
        for lane, pair in enumerate(_chosen(m, self.target, pairs, self.eligible)):
            m.d.comb += [self.x[lane].eq(pair.x), self.y[lane].eq(pair.y), self.inside[lane].eq(pair.inside)]
        return m


def _own_pair(m: Module, limits: data.View, words: data.View, lane: int) -> data.View:
    """A lane's own pair, and whether it is inside the limits."""
    indices = []
    for channel, limit in ((1, limits.width), (2, limits.height)):
        m.submodules[f"index_{lane}_{channel}"] = unit = CoordinateIndex(COMBINATIONAL)
        m.d.comb += [unit.word.eq(words[channel]), unit.limit.eq(limit)]
        indices.append(unit)
    x, y = indices
    pair = record(_PAIR, name=f"pair_{lane}")
    m.d.comb += [pair.x.eq(x.index), pair.y.eq(y.index), pair.inside.eq(x.inside & y.inside)]
    return pair


def _chosen(m: Module, target: data.View, pairs: list[data.View], eligible: Value) -> Iterator[data.View]:
    """The pair of each lane: its own, or that of its quad's first eligible lane."""
    shared = Value.cast(target).matches(UmrtTarget.SAME_IDX.value, UmrtTarget.SAME_IDX_ACQUIRE.value)
    for first in range(0, len(pairs), QUAD):
        quad = Cat(map(Value.cast, pairs[first : first + QUAD]))
        leader = one_hot_index(lowest_one(eligible[first : first + QUAD]))
        for lane in range(QUAD):
            # By number, which does not wait for the pairs.
            yield data.View(_PAIR, quad.word_select(Mux(shared, leader, lane), _PAIR.size))


class UncachedPairs(wiring.Component):
    """Makes writes of results: red is the data, green and blue are the pair. Latency is a cycle; one per cycle.

    Lanes whose pair is outside the limits write nothing. With several beats there is one write, with the last of them.

    Members
    -------
    limits : ``In(LIMITS)``
    result : ``In(uncached_layout(config))``
    write : ``Out(uncached_result_layout(config))``
    """

    def __init__(self, config: ArrayConfig) -> None:
        self._config, self._lanes = config, config.lanes
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
        m.d.comb += [
            write.wave.eq(result.wave),
            write.acquires.eq(Value.cast(result.target).matches(*ACQUIRING)),
        ]
        if self._config.beats > 1:
            self._gather(m, result)
            return m
        m.submodules.pairs = pairs = GatedStateless(WritePairs(self._lanes))
        m.d.comb += [
            pairs.wanted.eq(result.valid),
            pairs.limits.eq(self.limits),
            *(getattr(pairs, name).eq(result[name]) for name in ("target", "words", "eligible")),
            self.write.valid.eq(result.valid),
            write.x.eq(pairs.x),
            write.y.eq(pairs.y),
            write.mask.eq(result.mask & pairs.inside),
            *(write.values[lane].eq(result.words[lane][0]) for lane in range(self._lanes)),
        ]
        return m

    def _gather(self, m: Module, result: data.View) -> None:
        """One write of all beats: pairs are computed beat by beat, and chosen when a quad has all of its own."""
        config, write = self._config, self.write.write
        beat = counted(m, config, result.valid)
        own = record(data.ArrayLayout(_LANE, config.at_once), name="own")
        whole = record(data.ArrayLayout(_LANE, config.lanes), name="whole")
        for lane, entry in enumerate(own):
            pair = _own_pair(m, self.limits, result.words[lane], lane)
            m.d.comb += [
                entry.pair.eq(pair),
                entry.value.eq(result.words[lane][0]),
                entry.mask.eq(result.mask[lane]),
                entry.eligible.eq(result.eligible[lane]),
            ]
        m.d.comb += [
            Value.cast(whole).eq(gathered(m, config, Value.cast(own))),
            self.write.valid.eq(result.valid & is_last(config, beat)),
        ]
        lanes = list(whole)
        pairs = _chosen(m, result.target, [lane.pair for lane in lanes], Cat(lane.eligible for lane in lanes))
        for number, (lane, pair) in enumerate(zip(lanes, pairs, strict=True)):
            m.d.comb += [
                write.x[number].eq(pair.x),
                write.y[number].eq(pair.y),
                write.values[number].eq(lane.value),
                write.mask[number].eq(lane.mask & pair.inside),
            ]
