"""Components as compiled models: Verilog through Verilator and a C++ compiler, clocked from numpy.

`CompiledUnit` runs one component; `tools.toolchain.build` compiles any Verilog with any C++ around it.
"""

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.unit import CompiledUnit

__all__ = ["CompiledUnit", "ToolchainError"]
