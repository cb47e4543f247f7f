"""The whole machine as Verilog and as RTLIL."""

from amaranth.lib import wiring

from ctm.rtl.config import MachineConfig
from ctm.rtl.ctm import Ctm
from ctm.rtl.dpp.core_module import NAME, CoreInstance, CoreModule
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.rtl.lib.clock_gating import ClockGating
from ctm.sim.compiled.rewriting.repeated import merge
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.toolchain import Model
from ctm.sim.compiled.verilog import convert, convert_to_rtlil, from_rtlil


def machine_verilog(config: MachineConfig, *, top: str) -> str:
    """Module `top`, and the modules that it is made of; a core is written once, however many there are.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    """
    YOSYS.require()
    with Beside(_core_verilog, config) as core:
        return convert(Ctm(config, CoreInstance), top=top) + core.result()


def _core_verilog(config: MachineConfig) -> str:
    return convert(CoreModule(config, INSTRUCTION_SETS[config.array.instruction_set]), top=NAME)


def simulated(config: MachineConfig, *, top: str) -> Model:
    """A machine of one core for simulation: a register at each input, see `Sampled`, clocks that stop, no module twice.

    Raises
    ------
    ToolchainError
        As `machine_verilog`.
    """
    YOSYS.require()
    machine = rtlil(Sampled(config, CoreInstance), config, top, ClockGating(), is_shared=True)
    return Model(top, from_rtlil(merge(machine, top)))


def machine_rtlil(config: MachineConfig, *, top: str) -> str:
    """The machine in the text form of Yosys's own netlists; a core is written once, however many there are."""
    return rtlil(Ctm(config, CoreInstance), config, top)


def rtlil(
    machine: wiring.Component, config: MachineConfig, top: str, platform: object = None, *, is_shared: bool = False
) -> str:
    """A machine with a `CoreInstance` for each core in that form, and the core.

    `is_shared` is that of `convert_to_rtlil`.
    """
    with Beside(_core_rtlil, config, platform, is_shared) as core:
        return convert_to_rtlil(machine, top=top, platform=platform, is_shared=is_shared) + core.result()


def _core_rtlil(config: MachineConfig, platform: object, is_shared: bool) -> str:
    core = CoreModule(config, INSTRUCTION_SETS[config.array.instruction_set])
    return convert_to_rtlil(core, top=NAME, platform=platform, is_shared=is_shared)
