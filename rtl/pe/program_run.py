"""Runs a program: walks its domain, dispatches its wavefronts to the array, and records its first fault."""

from collections.abc import Sequence

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import DOMAIN, ArrayReport, CoreCredit, program_fault_layout, wavefront_layout
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pe.dispatcher import Dispatcher
from ctm.rtl.pe.tester import WavefrontTester
from ctm.rtl.pe.walker import DomainWalker


class RunControl(Interface):
    """The run of a program, seen from the unit that commands it.

    Members
    -------
    start : ``Out(1)``
        Only when the previous program has ended.
    ended : ``In(1)``
        All wavefronts were dispatched and the array is idle.
    failed : ``In(1)``
        From the cycle after the first fault on, until the next `start`.
    failure : ``In(program_fault_layout(program_format))``
        The first fault.
    """

    def __init__(self, program_format: ProgramFormat) -> None:
        failure = In(program_fault_layout(program_format))
        super().__init__({"start": Out(1), "ended": In(1), "failed": In(1), "failure": failure})


class ProgramRun(wiring.Component):
    """Walks a domain and watches the array until all wavefronts have ended. A fault does not end the walk.

    `tiles` are those of the walk. The first wavefront is offered three cycles after `start`, then one in each cycle
    unless tests or the array stall.

    Members
    -------
    control : ``In(RunControl(program_format))``
    domain : ``In(DOMAIN)``
        In the cycle of `control.start`; not empty.
    start_draw : ``In(1)``
        A draw starts, likewise: of it this keeps the conditional value only.
    value : ``In(32)``
        Conditional value, in the cycle of `control.start` or `start_draw`.
    starts : ``Out(1)``
        Pulse in the cycle after `control.start`.
    conditional_value : ``Out(32)``
    program_domain : ``Out(DOMAIN)``
        Those of the program, from `starts` on.
    tests, tester, wavefront, credits, array, walked
        As the command processor's.
    """

    def __init__(self, lanes: int, program_format: ProgramFormat, tiles: Sequence[int] = (), cores: int = 1) -> None:
        self._lanes, self._tiles, self._cores = lanes, tiles, cores
        super().__init__(
            {
                "control": In(RunControl(program_format)),
                "domain": In(DOMAIN),
                "start_draw": In(1),
                "value": In(WORD_BITS),
                "starts": Out(1),
                "conditional_value": Out(WORD_BITS),
                "program_domain": Out(DOMAIN),
                "tests": In(1),
                "tester": Out(ConditionalClient(lanes)),
                "wavefront": Out(stream.Signature(wavefront_layout(lanes, cores))),
                "credits": In(CoreCredit()).array(cores),
                "array": In(ArrayReport(program_format)),
                "walked": Out(range(lanes + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.walker = walker = DomainWalker(self._lanes, self._tiles, self._cores)
        m.submodules.tester = tester = WavefrontTester(self._lanes, self._cores)
        wiring.connect(m, walker.wavefront, tester.domain_wavefront)
        wiring.connect(m, tester.wavefront, wiring.flipped(self.wavefront))
        wiring.connect(m, tester.client, wiring.flipped(self.tester))
        # `array.idle` may still be high in the cycle after a wavefront was taken.
        given = Signal()
        m.d.sync += given.eq(self.wavefront.valid & self.wavefront.ready)
        m.d.comb += [
            walker.start.eq(self.control.start),
            walker.domain.eq(self.domain),
            self.program_domain.eq(walker.walked),
            tester.tests.eq(self.tests),
            tester.value.eq(self.conditional_value),
            self.walked.eq(tester.walked),
            self.control.ended.eq(~walker.busy & ~tester.busy & ~given & self.array.idle),
        ]
        self._dispatch(m, walker, tester)
        m.d.sync += self.starts.eq(self.control.start)
        with m.If(self.array.fault.valid & ~self.control.failed):
            m.d.sync += [self.control.failed.eq(1), self.control.failure.eq(self.array.fault.payload)]
        with m.If(self.control.start):
            m.d.sync += self.control.failed.eq(0)
        with m.If(self.control.start | self.start_draw):
            m.d.sync += self.conditional_value.eq(self.value)
        return m

    def _dispatch(self, m: Module, walker: DomainWalker, tester: WavefrontTester) -> None:
        """Select the core of a wavefront. A single core needs no credits: its stream has backpressure."""
        if self._cores == 1:
            m.d.comb += walker.core.valid.eq(1)
            return
        m.submodules.dispatcher = dispatcher = Dispatcher(self._cores)
        wiring.connect(m, dispatcher.core, walker.core)
        m.d.comb += dispatcher.dropped.eq(tester.dropped)
        for own, credit in zip(dispatcher.credits, self.credits, strict=True):
            wiring.connect(m, own, wiring.flipped(credit))
