"""Gathers the results of passes: words of a slice, masks and addresses of a whole wavefront.

Source: docs/design/r700-core.md.
"""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.isa.r700.limits import GROUP_SLOTS, VECTOR_SLOTS
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.r700.alu.pipeline.issued import results_layout
from ctm.rtl.r700.border.alu_clause import address_layout
from ctm.rtl.r700.border.lane import LaneResults
from ctm.rtl.r700.partition import Partition


class ResultGather(wiring.Component):
    """Holds the results of earlier passes until those of the last pass of a slice, or of the wavefront, come.

    Passes come in order, in consecutive cycles. Outputs are valid in the cycle of the last pass's results.

    Members
    -------
    passes : ``In(passes)``
        The bit of the pass whose results come; 0 if none do.
    lanes : ``In(ArrayLayout(LaneResults, lanes))``
        Its results.
    ends : ``Out(1)``
        They are those of the wavefront's last pass.
    results : ``Out(results_layout(partition))``
        Those of a slice; the last slice's come with `ends`.
    predicate, kill : ``Out(W)``, ``Out(ArrayLayout(W, 5))``
        With `ends`: the result of the group's PRED_SET, and of each slot's KILL, in each pixel.
    addresses : ``Out(address_layout(W))``
        With `ends`: MOVA's indices.
    """

    def __init__(self, partition: Partition) -> None:
        self._partition, size = partition, partition.wavefront
        super().__init__(
            {
                "passes": In(partition.passes),
                "lanes": In(data.ArrayLayout(LaneResults, partition.lanes)),
                "ends": Out(1),
                "results": Out(results_layout(partition)),
                "predicate": Out(size),
                "kill": Out(data.ArrayLayout(size, GROUP_SLOTS)),
                "addresses": Out(address_layout(size)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        in_slice, results = self._partition.slice_passes, self.results
        lanes = [self.lanes[lane] for lane in range(self._partition.lanes)]
        ends = self.passes[in_slice - 1 :: in_slice]
        m.d.comb += [
            self.ends.eq(self.passes[-1]),
            results.valid.eq(ends.any()),
            *([results.slice.eq(one_hot_index(ends))] if len(ends) > 1 else []),
        ]
        for slot in range(GROUP_SLOTS):
            words = [lane.words[slot] for lane in lanes]
            gathered = _together(m, words, in_slice, ends.any(), f"words_{slot}")
            m.d.comb += Value.cast(results.words[slot]).eq(gathered)
        self._gather(m, self.predicate, [lane.predicate for lane in lanes], "predicates")
        for slot in range(GROUP_SLOTS):
            self._gather(m, self.kill[slot], [lane.kill[slot] for lane in lanes], f"kills_{slot}")
        for slot in range(VECTOR_SLOTS):
            self._gather(m, self.addresses[slot], [lane.indices[slot] for lane in lanes], f"indices_{slot}")
        return m

    def _gather(self, m: Module, target: Value | data.View, values: Sequence[Value | data.View], name: str) -> None:
        """Gather what all pixels of a wavefront have."""
        gathered = _together(m, [Value.cast(value) for value in values], self._partition.passes, self.ends, name)
        m.d.comb += Value.cast(target).eq(gathered)


def _together(m: Module, values: list[Value], count: int, is_last: Value, name: str) -> Value:
    """One value of each lane, of `count` passes: those of the last one are the lanes' now."""
    now = Cat(values)
    if count == 1:
        return now
    held = Signal(len(now) * (count - 1), name=name, reset_less=True)
    with m.If(~is_last):
        m.d.sync += held.eq(Cat(held, now)[len(now) :])
    return Cat(held, now)
