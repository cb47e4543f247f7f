"""The command processor's registers that commands set."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import PARAMETERS
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.commands import BASE_MASK, BOUND
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS


class Settings(wiring.Component):
    """Domain, conditional value and instruction base, from the following cycle on.

    Members
    -------
    words : ``In(ArrayLayout(32, 4))``
        A command's parameters.
    set_domain, set_value, set_base : ``In(1)``
        Take them.
    keep : ``In(1)``
        Save domain and conditional value.
    restore : ``In(1)``
        Restore the saved values; not with one of the others.
    domain : ``Out(DOMAIN)``
    is_empty : ``Out(1)``
        The domain has no pair.
    conditional_value : ``Out(32)``
    instruction_base : ``Out(32)``
        A multiple of 2 KiB.
    """

    words: In(data.ArrayLayout(WORD_BITS, PARAMETERS))
    set_domain: In(1)
    set_value: In(1)
    set_base: In(1)
    keep: In(1)
    restore: In(1)
    domain: Out(DOMAIN)
    is_empty: Out(1)
    conditional_value: Out(WORD_BITS)
    instruction_base: Out(ADDRESS_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        domain, kept_domain, kept_value = self.domain, Signal(DOMAIN), Signal(WORD_BITS)
        m.d.comb += self.is_empty.eq((domain.i0 > domain.i1) | (domain.j0 > domain.j1))
        with m.If(self.set_domain):
            for number, name in enumerate(("i0", "j0", "i1", "j1")):
                m.d.sync += domain[name].eq(BOUND(self.words[number]).bound)
        with m.If(self.set_value):
            m.d.sync += self.conditional_value.eq(self.words[0])
        with m.If(self.set_base):
            m.d.sync += self.instruction_base.eq(self.words[0] & BASE_MASK)
        with m.If(self.keep):
            m.d.sync += [kept_domain.eq(domain), kept_value.eq(self.conditional_value)]
        with m.If(self.restore):
            m.d.sync += [domain.eq(kept_domain), self.conditional_value.eq(kept_value)]
        return m
