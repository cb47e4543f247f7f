"""Conditional execution: of each group, only the processors that the conditional unit lets pass."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.isa.limits import WORD_BITS

_UNDER_WAY = 16


class GroupTester(wiring.Component):
    """Lets groups through, combinationally; with `tests`, only their processors that pass, in the same order.

    Of a group whose processors all fail, nothing is left. Up to 16 groups may wait for their tests, and one test is
    asked for and one answered in each cycle. The groups are for `cores` cores.

    Members
    -------
    tests : ``In(1)``
        Must not change while `busy`, or while a group is offered.
    value : ``In(32)``
        Conditional value of all processors.
    domain_group : ``In(stream.Signature(wavefront_layout(lanes, cores)))``
        `covered` are those that are in the domain.
    group : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
    dropped : ``Out(cores)``
        Whose group is not given out.
    client : ``Out(ConditionalClient(lanes))``
    busy : ``Out(1)``
        Groups wait for their tests.
    walked : ``Out(range(lanes + 1))``
        Processors of the domain that are disposed of in this cycle: given out, or failed.
    """

    def __init__(self, lanes: int, cores: int = 1) -> None:
        self._lanes, self._cores = lanes, cores
        self._layout = wavefront_layout(lanes, cores)
        super().__init__(
            {
                "tests": In(1),
                "value": In(WORD_BITS),
                "domain_group": In(stream.Signature(self._layout)),
                "group": Out(stream.Signature(self._layout)),
                "dropped": Out(cores),
                "client": Out(ConditionalClient(lanes)),
                "busy": Out(1),
                "walked": Out(range(lanes + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        layout = self._layout
        m.submodules.waiting = waiting = SyncFIFO(width=layout.size, depth=_UNDER_WAY)
        source, request, response, group = self.domain_group, self.client.request, self.client.response, self.group
        m.d.comb += [
            self.busy.eq(waiting.r_rdy),
            request.payload.i.eq(source.payload.i),
            request.payload.j.eq(source.payload.j),
            request.payload.mask.eq(source.payload.covered),
            *(value.eq(self.value) for value in request.payload.values),
            waiting.w_data.eq(source.payload),
        ]
        disposed, tested = Signal(self._lanes), layout(waiting.r_data)
        with m.If(self.tests):
            passed = response.payload.passed
            m.d.comb += [
                request.valid.eq(source.valid & waiting.w_rdy),
                source.ready.eq(request.ready & waiting.w_rdy),
                waiting.w_en.eq(request.valid & request.ready),
                Value.cast(group.payload).eq(tested),
                group.payload.covered.eq(passed),
                group.valid.eq(response.valid & waiting.r_rdy & passed.any()),
                response.ready.eq(waiting.r_rdy & (group.ready | ~passed.any())),
                waiting.r_en.eq(response.valid & response.ready),
            ]
            with m.If(waiting.r_en):
                m.d.comb += [
                    disposed.eq(tested.covered),
                    self.dropped.bit_select(tested.core, 1).eq(~passed.any()),
                ]
        with m.Else():
            m.d.comb += [
                Value.cast(group.payload).eq(source.payload),
                group.valid.eq(source.valid),
                source.ready.eq(group.ready),
            ]
            with m.If(group.valid & group.ready):
                m.d.comb += disposed.eq(source.payload.covered)
        m.d.comb += self.walked.eq(sum(disposed))
        return m
