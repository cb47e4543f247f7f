"""Components as compiled models: Verilog through Verilator and a C++ compiler, clocked from numpy.

`CompiledUnit` runs one component; `tools.toolchain.build` compiles any Verilog with any C++ around it.
"""

from typing import TYPE_CHECKING

from ctm.sim.compiled.error import ToolchainError

if TYPE_CHECKING:
    from ctm.sim.compiled.unit import CompiledUnit

__all__ = ["CompiledUnit", "ToolchainError"]


def __getattr__(name: str) -> object:
    """Import what needs all of Amaranth when it is used: the tools here serve others too."""
    if name != "CompiledUnit":
        raise AttributeError(f"module 'ctm.sim.compiled' has no attribute {name!r}")
    from ctm.sim.compiled.unit import CompiledUnit

    return CompiledUnit
