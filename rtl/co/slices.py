"""A client whose wavefronts are wider than the conditional unit: they are tested slice by slice.

Source: docs/design/conditional-unit.md.
"""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient


class WavefrontSlices(wiring.Component):
    """Tests wavefronts of `size` lanes as slices of `lanes`, one in each cycle. There are at least two slices.

    Slices are neighbours in i. The response is given with that of the last slice.

    Members
    -------
    client : ``In(ConditionalClient(size))``
    unit : ``Out(ConditionalClient(lanes))``
    """

    def __init__(self, size: int, lanes: int) -> None:
        self._lanes, self._slices = lanes, size // lanes
        super().__init__({"client": In(ConditionalClient(size)), "unit": Out(ConditionalClient(lanes))})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        lanes, last = self._lanes, self._slices - 1
        requested, responded = Signal(range(self._slices)), Signal(range(self._slices))
        whole, own = self.client.request, self.unit.request
        words = Value.cast(whole.payload.values)
        m.d.comb += [
            own.valid.eq(whole.valid),
            whole.ready.eq(own.ready & (requested == last)),
            own.payload.i.eq(whole.payload.i + requested * (lanes // 2)),
            own.payload.j.eq(whole.payload.j),
            own.payload.mask.eq(whole.payload.mask.word_select(requested, lanes)),
            Value.cast(own.payload.values).eq(words.word_select(requested, len(words) // self._slices)),
        ]
        with m.If(own.valid & own.ready):
            m.d.sync += requested.eq(requested + 1)
        response, gathered = self.unit.response, Signal(lanes * last)
        m.d.comb += [
            self.client.response.valid.eq(response.valid & (responded == last)),
            self.client.response.payload.passed.eq(Cat(gathered, response.payload.passed)),
            response.ready.eq((responded != last) | self.client.response.ready),
        ]
        with m.If(response.valid & response.ready):
            m.d.sync += [responded.eq(responded + 1), gathered.eq(Cat(gathered, response.payload.passed)[lanes:])]
        return m
