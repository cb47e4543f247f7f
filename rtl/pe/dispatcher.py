"""Which core is given the next group."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.programs import CORE_CREDITS, CoreCredit
from ctm.rtl.lib.encoding import one_hot_index
from ctm.rtl.lib.sharing import round_robin


class Dispatcher(wiring.Component):
    """Names cores by turns, each only while fewer groups are on their way to it than it has free slots.

    So no group waits for a slot of a core while another core has one. A core is named in the cycle behind the one in
    which it has room, if it has the turn.

    Members
    -------
    core : ``Out(stream.Signature(range(cores)))``
        Whoever takes this sends the core a group.
    credits : ``In(CoreCredit())`` for each core
    dropped : ``In(cores)``
        A group is not sent after all.
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
        on_the_way = [Signal(range(CORE_CREDITS + 1), name=f"on_the_way_{core}") for core in range(cores)]
        has_room = Signal(cores)
        m.d.comb += has_room.eq(
            Cat(count < credit.free for count, credit in zip(on_the_way, self.credits, strict=True))
        )  # fmt: skip
        # Cores that come before the others.
        turn, first, names = Signal(cores), Signal(cores), Signal()
        m.d.comb += [
            first.eq(round_robin(has_room, turn)),
            names.eq(has_room.any() & (~self.core.valid | self.core.ready)),
        ]
        for core, (count, credit) in enumerate(zip(on_the_way, self.credits, strict=True)):
            named = names & first[core]
            m.d.sync += count.eq(count + named - credit.taken - self.dropped[core])
            with m.If(named):
                m.d.sync += turn.eq(-1 << core + 1)
        with m.If(names):
            m.d.sync += self.core.payload.eq(one_hot_index(first))
        m.d.sync += self.core.valid.eq(names | self.core.valid & ~self.core.ready)
        return m
