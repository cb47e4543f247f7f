"""The command processor's registers that commands set."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ctm.rtl.border.commands import PARAMETERS
from ctm.rtl.border.interface import Interface
from ctm.rtl.border.programs import DOMAIN
from ctm.rtl.isa.commands import BASE_MASK, BOUND
from ctm.rtl.isa.limits import ADDRESS_BITS, WORD_BITS

SETTING_COMMANDS = data.StructLayout({"domain": 1, "value": 1, "base": 1, "keep": 1, "restore": 1})
"""Commands for the registers, each in one cycle: take a command's parameters as `domain`, `value` or `base`; save
domain and value; or restore them, which comes with none of the others."""


class SettingsControl(Interface):
    """The registers that commands set, seen from the unit that executes these.

    Members
    -------
    commands : ``Out(SETTING_COMMANDS)``
    words : ``Out(ArrayLayout(32, 4))``
        The parameters of the command.
    is_empty : ``In(1)``
        The domain has no pair.
    """

    def __init__(self) -> None:
        words = data.ArrayLayout(WORD_BITS, PARAMETERS)
        super().__init__({"commands": Out(SETTING_COMMANDS), "words": Out(words), "is_empty": In(1)})


class Settings(wiring.Component):
    """Domain, conditional value and instruction base, from the following cycle on.

    Members
    -------
    control : ``In(SettingsControl())``
    domain : ``Out(DOMAIN)``
    conditional_value : ``Out(32)``
    instruction_base : ``Out(32)``
        A multiple of 2 KiB.
    """

    control: In(SettingsControl())
    domain: Out(DOMAIN)
    conditional_value: Out(WORD_BITS)
    instruction_base: Out(ADDRESS_BITS)

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        domain, kept_domain, kept_value = self.domain, Signal(DOMAIN), Signal(WORD_BITS)
        commands, words = self.control.commands, self.control.words
        m.d.comb += self.control.is_empty.eq((domain.i0 > domain.i1) | (domain.j0 > domain.j1))
        with m.If(commands.domain):
            for number, name in enumerate(("i0", "j0", "i1", "j1")):
                m.d.sync += domain[name].eq(BOUND(words[number]).bound)
        with m.If(commands.value):
            m.d.sync += self.conditional_value.eq(words[0])
        with m.If(commands.base):
            m.d.sync += self.instruction_base.eq(words[0] & BASE_MASK)
        with m.If(commands.keep):
            m.d.sync += [kept_domain.eq(domain), kept_value.eq(self.conditional_value)]
        with m.If(commands.restore):
            m.d.sync += [domain.eq(kept_domain), self.conditional_value.eq(kept_value)]
        return m
