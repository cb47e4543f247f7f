"""The command processor's registers that commands set."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import PARAMETERS
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.commands import BASE_MASK, BOUND
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS

SETTING_COMMANDS = data.StructLayout({"domain": 1, "value": 1, "base": 1, "keep": 1, "restore": 1})
"""Commands for the registers, each in one cycle: take a command's parameters as `domain`, `value` or `base`; save
domain and value; or restore them, which comes with none of the others."""


class Settings(wiring.Component):
    """Domain, conditional value and instruction base, from the following cycle on.

    Members
    -------
    words : ``In(ArrayLayout(32, 4))``
        A command's parameters.
    commands : ``In(SETTING_COMMANDS)``
    domain : ``Out(DOMAIN)``
    is_empty : ``Out(1)``
        The domain has no pair.
    conditional_value : ``Out(32)``
    instruction_base : ``Out(32)``
        A multiple of 2 KiB.
    """

    words: In(data.ArrayLayout(WORD_BITS, PARAMETERS))
    commands: In(SETTING_COMMANDS)
    domain: Out(DOMAIN)
    is_empty: Out(1)
    conditional_value: Out(WORD_BITS)
    instruction_base: Out(ADDRESS_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        domain, kept_domain, kept_value = self.domain, Signal(DOMAIN), Signal(WORD_BITS)
        m.d.comb += self.is_empty.eq((domain.i0 > domain.i1) | (domain.j0 > domain.j1))
        with m.If(self.commands.domain):
            for number, name in enumerate(("i0", "j0", "i1", "j1")):
                m.d.sync += domain[name].eq(BOUND(self.words[number]).bound)
        with m.If(self.commands.value):
            m.d.sync += self.conditional_value.eq(self.words[0])
        with m.If(self.commands.base):
            m.d.sync += self.instruction_base.eq(self.words[0] & BASE_MASK)
        with m.If(self.commands.keep):
            m.d.sync += [kept_domain.eq(domain), kept_value.eq(self.conditional_value)]
        with m.If(self.commands.restore):
            m.d.sync += [domain.eq(kept_domain), self.conditional_value.eq(kept_value)]
        return m
