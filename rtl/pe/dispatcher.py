"""Selects the core of the next wavefront."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import CORE_CREDITS, CoreCredit
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.sharing import round_robin


class Dispatcher(wiring.Component):
    """Dispatches wavefronts to cores, round-robin, with credits for free wave slots.

    So no wavefront waits for a core while another core has one. A core is granted in the cycle after it has
    a credit.

    Members
    -------
    core : ``Out(stream.Signature(range(cores)))``
        The walker takes this and sends the core a wavefront.
    credits : ``In(CoreCredit())`` for each core
    dropped : ``In(cores)``
        A wavefront is not sent: its credit returns.
    """

    def __init__(self, cores: int) -> None:
        self._cores = cores
        super().__init__(
            {
                "core": Out(stream.Signature(range(cores))),
                "credits": In(CoreCredit()).array(cores),
                "dropped": In(cores),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        cores = self._cores
        in_flight = [Signal(range(CORE_CREDITS + 1), name=f"in_flight_{core}") for core in range(cores)]
        has_credit = Signal(cores)
        m.d.comb += has_credit.eq(
            Cat(count < credit.free for count, credit in zip(in_flight, self.credits, strict=True))
        )  # fmt: skip
        # `pointer` has a one for each core that has priority.
        pointer, first, names = Signal(cores), Signal(cores), Signal()
        m.d.comb += [
            first.eq(round_robin(has_credit, pointer)),
            names.eq(has_credit.any() & (~self.core.valid | self.core.ready)),
        ]
        for core, (count, credit) in enumerate(zip(in_flight, self.credits, strict=True)):
            named = names & first[core]
            m.d.sync += count.eq(count + named - credit.taken - self.dropped[core])
            with m.If(named):
                m.d.sync += pointer.eq(-1 << core + 1)
        with m.If(names):
            m.d.sync += self.core.payload.eq(one_hot_index(first))
        m.d.sync += self.core.valid.eq(names | self.core.valid & ~self.core.ready)
        return m
