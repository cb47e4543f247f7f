"""A program that runs: its domain is walked, its groups are given to the array, its first fault is kept."""

from collections.abc import Sequence

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.conditional import ConditionalClient
from ctm.rtl.border.programs import DOMAIN, CoreCredit, program_fault_layout, wavefront_layout
from ctm.rtl.isa.executable import ProgramFormat
from ctm.rtl.isa.limits import WORD_BITS
from ctm.rtl.pe.dispatcher import Dispatcher
from ctm.rtl.pe.tester import GroupTester
from ctm.rtl.pe.walker import DomainWalker


class ProgramRun(wiring.Component):
    """Walks a domain and watches the array until all groups have ended. A fault does not end the walk.

    `tiles` are those of the walk. The first group is offered two cycles behind `start`, then one in each cycle if no
    test and not the array delays it.

    Members
    -------
    start : ``In(1)``
        Only when the program before has ended.
    domain : ``In(DOMAIN)``
        In the cycle of `start`; not empty.
    value : ``In(32)``
        Conditional value, in the cycle of `start`.
    starts : ``Out(1)``
        Pulse in the cycle behind `start`.
    conditional_value : ``Out(32)``
    program_domain : ``Out(DOMAIN)``
        Those of the program, from `starts` on.
    ended : ``Out(1)``
        All groups were given and the array is idle.
    failed : ``Out(1)``
        From the cycle behind the first fault on, until the next `start`.
    failure : ``Out(program_fault_layout(program_format))``
        The first fault.
    tests, tester, group, credits, array_idle, fault, walked
        As the command processor's.
    """

    def __init__(self, lanes: int, program_format: ProgramFormat, tiles: Sequence[int] = (), cores: int = 1) -> None:
        self._lanes, self._tiles, self._cores = lanes, tiles, cores
        fault = program_fault_layout(program_format)
        super().__init__(
            {
                "start": In(1),
                "domain": In(DOMAIN),
                "value": In(WORD_BITS),
                "starts": Out(1),
                "conditional_value": Out(WORD_BITS),
                "program_domain": Out(DOMAIN),
                "ended": Out(1),
                "failed": Out(1),
                "failure": Out(fault),
                "tests": In(1),
                "tester": Out(ConditionalClient(lanes)),
                "group": Out(stream.Signature(wavefront_layout(lanes, cores))),
                "credits": In(CoreCredit()).array(cores),
                "array_idle": In(1),
                "fault": In(stream.Signature(fault, always_ready=True)),
                "walked": Out(range(lanes + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.walker = walker = DomainWalker(self._lanes, self._tiles, self._cores)
        m.submodules.tester = tester = GroupTester(self._lanes, self._cores)
        wiring.connect(m, walker.group, tester.domain_group)
        wiring.connect(m, tester.group, wiring.flipped(self.group))
        wiring.connect(m, tester.client, wiring.flipped(self.tester))
        # The array may look idle in the cycle behind one in which it was given a group.
        given = Signal()
        m.d.sync += given.eq(self.group.valid & self.group.ready)
        m.d.comb += [
            walker.start.eq(self.start),
            walker.domain.eq(self.domain),
            self.program_domain.eq(walker.walked),
            tester.tests.eq(self.tests),
            tester.value.eq(self.conditional_value),
            self.walked.eq(tester.walked),
            self.ended.eq(~walker.busy & ~tester.busy & ~given & self.array_idle),
        ]
        self._allot(m, walker, tester)
        m.d.sync += self.starts.eq(self.start)
        with m.If(self.fault.valid & ~self.failed):
            m.d.sync += [self.failed.eq(1), self.failure.eq(self.fault.payload)]
        with m.If(self.start):
            m.d.sync += [self.failed.eq(0), self.conditional_value.eq(self.value)]
        return m

    def _allot(self, m: Module, walker: DomainWalker, tester: GroupTester) -> None:
        """Which core a group is for. One core alone takes each when it has room."""
        if self._cores == 1:
            m.d.comb += walker.core.valid.eq(1)
            return
        m.submodules.allotment = allotment = Dispatcher(self._cores)
        wiring.connect(m, allotment.core, walker.core)
        m.d.comb += allotment.dropped.eq(tester.dropped)
        for own, credit in zip(allotment.credits, self.credits, strict=True):
            wiring.connect(m, own, wiring.flipped(credit))
