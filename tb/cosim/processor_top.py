"""The command processor as a module of its own."""

from amaranth import Module, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In

from ctm.rtl.config import ArrayConfig
from ctm.rtl.isa.r5xx.program import PROGRAM_FORMAT
from ctm.rtl.lib.forwarding import forward
from ctm.rtl.pe.processor import CommandProcessor

TOP = "processor"


class Mistake(enum.Enum, shape=3):
    """What the module does wrong at its border, to see that tests find it."""

    NONE = 0
    UNCOVERED = 1
    """Lane 0 of a wavefront is never covered."""
    WITHDRAWN = 2
    """A request for a line goes away before it was taken."""
    WRONG_WORD = 3
    """A bit of the word that an error reports is inverted."""
    LOST_COMMAND = 4
    """The conditional unit is given no command."""
    UNSEEN_REFUSAL = 5
    """A line with an error is taken as a good one."""
    UNSEEN_ARRAY = 6
    """The array seems always idle."""
    SECOND_END = 7
    """A buffer's end is told in each idle cycle."""


class ProcessorTop(wiring.Component):
    """Ports are those of `CommandProcessor`, and `mistake`, ``In(Mistake)``."""

    def __init__(self, config: ArrayConfig) -> None:
        self._processor = CommandProcessor(config, PROGRAM_FORMAT)
        self._members = dict(self._processor.signature.members.items())
        super().__init__(self._members | {"mistake": In(Mistake)})

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.processor = processor = self._processor
        forward(m, self, processor, self._members)
        toggle = Signal()
        m.d.sync += toggle.eq(~toggle)
        with m.Switch(self.mistake):
            with m.Case(Mistake.UNCOVERED):
                m.d.comb += self.wavefront.payload.covered[0].eq(0)
            with m.Case(Mistake.WITHDRAWN):
                offers = processor.memory.lines.request.valid & (toggle | self.memory.lines.request.ready)
                m.d.comb += self.memory.lines.request.valid.eq(offers)
            with m.Case(Mistake.WRONG_WORD):
                m.d.comb += self.host.error.payload.word[0].eq(~processor.host.error.payload.word[0])
            with m.Case(Mistake.LOST_COMMAND):
                m.d.comb += [self.co_command.valid.eq(0), processor.co_command.ready.eq(1)]
            with m.Case(Mistake.UNSEEN_REFUSAL):
                m.d.comb += processor.memory.lines.response.payload.error.eq(0)
            with m.Case(Mistake.UNSEEN_ARRAY):
                m.d.comb += processor.array.idle.eq(1)
            with m.Case(Mistake.SECOND_END):
                m.d.comb += self.host.consumed.eq(processor.host.consumed | processor.host.idle)
        return m
