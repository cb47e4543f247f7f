"""The whole machine as Verilog and as RTLIL."""

from rtl.config import MachineConfig
from rtl.ctm import Ctm
from rtl.dpp.core_module import NAME, CoreInstance, CoreModule
from rtl.lib.rest import ClockGating
from sim.compiled import cxxrtl
from sim.compiled.beside import Beside
from sim.compiled.sampled import Sampled
from sim.compiled.verilog import convert


def machine_verilog(config: MachineConfig, *, top: str) -> str:
    """Module `top`, and the modules that it is made of; a core is written once, however many there are.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    """
    return _written(Ctm, config, top)


def _written(
    machine: type[Ctm] | type[Sampled], config: MachineConfig, top: str, platform: ClockGating | None = None
) -> str:
    with Beside(_core_verilog, config, platform) as core:
        return convert(machine(config, CoreInstance), top=top, platform=platform) + core.result()


def _core_verilog(config: MachineConfig, platform: ClockGating | None) -> str:
    return convert(CoreModule(config), top=NAME, platform=platform)


def sampled_verilog(config: MachineConfig, *, top: str) -> str:
    """The same for simulation: with a register at each input, see `Sampled`, and units that rest.

    Raises
    ------
    ToolchainError
        As `machine_verilog`.
    """
    return _written(Sampled, config, top, ClockGating())


def machine_rtlil(config: MachineConfig, *, top: str) -> str:
    """The machine in the text form of Yosys's own netlists; a core is written once, however many there are."""
    return cxxrtl.convert(Ctm(config, CoreInstance), top=top) + cxxrtl.convert(CoreModule(config), top=NAME)
