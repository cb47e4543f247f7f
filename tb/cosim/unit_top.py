"""The conditional unit, without its cache, as a module of its own."""

from amaranth import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In

from ctm.rtl.co.unit import ConditionalUnit
from ctm.rtl.lib.forwarding import forward

TOP = "unit"


class Mistake(enum.Enum, shape=3):
    """What the module does wrong at its border, to see that tests find it."""

    NONE = 0
    NO_STORE = 1
    """Nothing is stored."""
    WRONG_STORE = 2
    """A bit that is stored is inverted."""
    FOREIGN_BYTES = 3
    """All bytes of a word are stored where any are."""
    WRONG_RESPONSE = 4
    """Lane 0 passes and should not, or the reverse, for the DPP array."""
    WITHDRAWN = 5
    """An access goes away before it was taken."""
    UNSEEN_REFUSAL = 6
    """A word with an error is taken as a good one."""
    EARLY_IDLE = 7
    """The unit says idle while it works."""


class UnitTop(wiring.Component):
    """Ports are those of `ConditionalUnit`, and `mistake`, ``In(Mistake)``."""

    def __init__(self, lanes: int) -> None:
        self._unit = ConditionalUnit(lanes)
        self._members = dict(self._unit.signature.members.items())
        super().__init__(self._members | {"mistake": In(Mistake)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.unit = unit = self._unit
        forward(m, self, unit, self._members)
        toggle = Signal()
        m.d.sync += toggle.eq(~toggle)
        change, response = self.cache.change, self.clients[1].response.payload
        with m.Switch(self.mistake):
            with m.Case(Mistake.NO_STORE):
                m.d.comb += change.mask.eq(0)
            with m.Case(Mistake.WRONG_STORE):
                m.d.comb += change.bits[0].eq(~unit.cache.change.bits[0])
            with m.Case(Mistake.FOREIGN_BYTES):
                m.d.comb += change.mask.eq(unit.cache.change.mask.any().replicate(len(change.mask)))
            with m.Case(Mistake.WRONG_RESPONSE):
                m.d.comb += response.passed[0].eq(~unit.clients[1].response.payload.passed[0])
            with m.Case(Mistake.WITHDRAWN):
                m.d.comb += self.cache.access.valid.eq(unit.cache.access.valid & (toggle | self.cache.access.ready))
            with m.Case(Mistake.UNSEEN_REFUSAL):
                m.d.comb += unit.cache.result.error.eq(0)
            with m.Case(Mistake.EARLY_IDLE):
                m.d.comb += self.idle.eq(1)
        return m
