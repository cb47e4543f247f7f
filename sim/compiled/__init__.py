"""Hardware as compiled models: Amaranth to Verilog, Verilator to C++, g++ to a shared object that numpy drives."""

from sim.compiled.toolchain import ToolError
from sim.compiled.unit import CompiledUnit

__all__ = ["CompiledUnit", "ToolError"]
