"""A core as a module of its own: it is written once and instantiated for each core."""

from amaranth import Instance, Module, ResetSignal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_border import core_members
from ctm.rtl.dpp.instruction_set import InstructionSet
from ctm.rtl.lib.clock_gating import resettable
from ctm.rtl.lib.forwarding import forward
from ctm.rtl.lib.instance import instance_of

NAME = "ctm_core"
"""The name of a core's module."""


def _members(config: MachineConfig, instruction_set: InstructionSet) -> dict[str, Member]:
    """The members of every core, and a reset."""
    return core_members(config.array, instruction_set.shapes, config) | {"reset": In(1)}


class CoreModule(wiring.Component):
    """A core.

    Members
    -------
    reset : ``In(1)``
        Resets the core, beside the reset of the clock domain; two cycles at least.
    program and so on
        See `core_members`.
    """

    def __init__(self, config: MachineConfig, instruction_set: InstructionSet) -> None:
        self.core = instruction_set.core(config)
        super().__init__(_members(config, instruction_set))

    def elaborate(self, platform: object) -> Module:
        """Build the hardware."""
        m = Module()
        m.submodules.core = resettable(self.core, self.reset)
        forward(m, self, self.core, (name for name in self.signature.members if name != "reset"))
        return m


class CoreInstance(wiring.Component):
    """An instance of the module `NAME`, which is a `CoreModule` and is written separately.

    Members
    -------
    As those of `CoreModule`.
    """

    def __init__(self, config: MachineConfig, instruction_set: InstructionSet) -> None:
        super().__init__(_members(config, instruction_set))

    def elaborate(self, platform: object) -> Instance:
        """Instantiate the module."""
        return instance_of(self, NAME, reset=ResetSignal())
