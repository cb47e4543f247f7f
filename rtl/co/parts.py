"""A client with larger groups than the conditional unit takes: they are tested part by part.

Source: docs/architecture.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient


class GroupParts(wiring.Component):
    """Tests groups of `size` processors as groups of `lanes`, a cycle for each part. There are two parts at least.

    Parts are neighbours in i. Answers are gathered, and given when all parts of a group have theirs.

    Members
    -------
    client : ``In(ConditionalClient(size))``
    unit : ``Out(ConditionalClient(lanes))``
    """

    def __init__(self, size: int, lanes: int) -> None:
        self._lanes, self._parts = lanes, size // lanes
        super().__init__({"client": In(ConditionalClient(size)), "unit": Out(ConditionalClient(lanes))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, last = self._lanes, self._parts - 1
        asked, answered = Signal(range(self._parts)), Signal(range(self._parts))
        whole, part = self.client.request, self.unit.request
        words = Value.cast(whole.payload.values)
        m.d.comb += [
            part.valid.eq(whole.valid),
            whole.ready.eq(part.ready & (asked == last)),
            part.payload.i.eq(whole.payload.i + asked * (lanes // 2)),
            part.payload.j.eq(whole.payload.j),
            part.payload.mask.eq(whole.payload.mask.word_select(asked, lanes)),
            Value.cast(part.payload.values).eq(words.word_select(asked, len(words) // self._parts)),
        ]
        with m.If(part.valid & part.ready):
            m.d.sync += asked.eq(asked + 1)
        answer, gathered = self.unit.response, Signal(lanes * last)
        m.d.comb += [
            self.client.response.valid.eq(answer.valid & (answered == last)),
            self.client.response.payload.passed.eq(Cat(gathered, answer.payload.passed)),
            answer.ready.eq((answered != last) | self.client.response.ready),
        ]
        with m.If(answer.valid & answer.ready):
            m.d.sync += [answered.eq(answered + 1), gathered.eq(Cat(gathered, answer.payload.passed)[lanes:])]
        return m
