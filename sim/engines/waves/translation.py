"""The machine with all its names as a model that Verilator traces."""

import re

from ctm.rtl.config import MachineConfig
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.toolchain import Model
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil
from ctm.sim.engines.waves.hardware import CORE, ObservedCore, ObservedMachine
from ctm.sim.engines.waves.names import names, without_fields

TOP = "top"
"""Must be that of `writer.h`."""
_UNNAMED = re.compile(r"^(  (?:wire|reg|integer) (?:signed )?(?:\[\d+:0\] )?(?:_\d|port\$|\w+\$row).*;)$", re.MULTILINE)
_WIDEST = 1 << 16
_STATEMENTS = "1000"
"""Of a function: with ten times as many the compiler takes several times as long."""


def traced(config: MachineConfig, *, depth: int) -> Model:
    """The machine as one model.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    YOSYS.require()
    with Beside(_core, config) as core:
        rtlil = convert_to_rtlil(ObservedMachine(config), top=TOP, is_shared=True) + core.result()
    verilog = _UNNAMED.sub(r"/*verilator tracing_off*/\1/*verilator tracing_on*/", from_rtlil(without_fields(rtlil)))
    # To Verilator 0 is any depth.
    options = (
        "--trace-fst", "--trace-max-array", str(max(depth, 1)), "--trace-max-width", str(_WIDEST),
        "--output-split-cfuncs", _STATEMENTS, "--output-split-ctrace", _STATEMENTS,
    )  # fmt: skip
    header = f'static const char FIELD_NAMES[] = R"names({names(rtlil).text()})names";\n'
    # Verilator's tracer specialises what the model's code uses.
    return Model(TOP, verilog, header, options=options, wrapper_apart=True)


def _core(config: MachineConfig) -> str:
    observed = ObservedCore(config, INSTRUCTION_SETS[config.array.instruction_set])
    return convert_to_rtlil(observed, top=CORE, is_shared=True)
