"""Conditional execution: masks each wavefront by the conditional unit's test."""

from amaranth import Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.programs import wavefront_layout
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.lib.register_slice import RegisterSlice, SliceMode

_IN_FLIGHT = 16


class WavefrontTester(wiring.Component):
    """Passes wavefronts on, a cycle later; with `tests`, only their lanes that pass, in the same order.

    A wavefront whose lanes all fail is dropped. Up to 16 tests are in flight; throughput is one in each cycle. The
    wavefronts are for `cores` cores.

    Members
    -------
    tests : ``In(1)``
        Must not change while `busy`, or while a wavefront is offered.
    value : ``In(32)``
        Conditional value of all lanes.
    domain_wavefront : ``In(stream.Signature(wavefront_layout(lanes, cores)))``
        `covered` are those that are in the domain.
    wavefront : ``Out(stream.Signature(wavefront_layout(lanes, cores)))``
    dropped : ``Out(cores)``
        The core whose wavefront is dropped.
    client : ``Out(ConditionalClient(lanes))``
    busy : ``Out(1)``
        Wavefronts wait for their tests, or for the array.
    walked : ``Out(range(lanes + 1))``
        Lanes of the domain that are dispatched or fail in this cycle.
    """

    def __init__(self, lanes: int, cores: int = 1) -> None:
        self._lanes, self._cores = lanes, cores
        self._layout = wavefront_layout(lanes, cores)
        super().__init__(
            {
                "tests": In(1),
                "value": In(WORD_BITS),
                "domain_wavefront": In(stream.Signature(self._layout)),
                "wavefront": Out(stream.Signature(self._layout)),
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
        m.submodules.waiting = waiting = SyncFIFO(width=layout.size, depth=_IN_FLIGHT)
        m.submodules.registered = registered = RegisterSlice(layout, SliceMode.FULL)
        wiring.connect(m, registered.output, wiring.flipped(self.wavefront))
        source, wavefront = self.domain_wavefront, registered.input
        request, response = self.client.request, self.client.response
        m.d.comb += [
            self.busy.eq(waiting.r_rdy | ~registered.empty),
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
                Value.cast(wavefront.payload).eq(tested),
                wavefront.payload.covered.eq(passed),
                wavefront.valid.eq(response.valid & waiting.r_rdy & passed.any()),
                response.ready.eq(waiting.r_rdy & (wavefront.ready | ~passed.any())),
                waiting.r_en.eq(response.valid & response.ready),
            ]
            with m.If(waiting.r_en):
                m.d.comb += [
                    disposed.eq(tested.covered),
                    self.dropped.bit_select(tested.core, 1).eq(~passed.any()),
                ]
        with m.Else():
            m.d.comb += [
                Value.cast(wavefront.payload).eq(source.payload),
                wavefront.valid.eq(source.valid),
                source.ready.eq(wavefront.ready),
            ]
            with m.If(wavefront.valid & wavefront.ready):
                m.d.comb += disposed.eq(source.payload.covered)
        m.d.comb += self.walked.eq(sum(disposed))
        return m
