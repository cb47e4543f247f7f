"""The machine with all its names as a model that Verilator traces."""

import hashlib
import re
from functools import cache
from importlib import resources

from ctm.rtl.config import MachineConfig
from ctm.rtl.instruction_sets import INSTRUCTION_SETS
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.beside import Beside
from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.toolchain import Models, find_verilator
from ctm.sim.compiled.verilog import convert_to_rtlil, from_rtlil
from ctm.sim.engines.model import host
from ctm.sim.engines.waves.hardware import CORE, ObservedCore, ObservedMachine
from ctm.sim.engines.waves.names import names, without_fields

TOP = "top"
"""Must be that of `writer.h`."""
_UNNAMED = re.compile(r"^(  (?:wire|reg|integer) (?:signed )?(?:\[\d+:0\] )?(?:_\d|port\$|\w+\$row).*;)$", re.MULTILINE)
_LIBRARIES = ("#include <lz4.h>", "#include <zlib.h>")
_WRITER_SOURCES = ('#include "fstcpp/fstcpp_variable_info.cpp"', '#include "fstcpp/fstcpp_writer.cpp"')
_WIDEST = 1 << 16


def traced(config: MachineConfig, *, depth: int) -> Models:
    """The machine as one model.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    YOSYS.require()
    with Beside(_core, config) as core:
        rtlil = convert_to_rtlil(ObservedMachine(config), top=TOP) + core.result()
    verilog = _UNNAMED.sub(r"/*verilator tracing_off*/\1/*verilator tracing_on*/", from_rtlil(without_fields(rtlil)))
    options = ("--trace-fst", "--trace-max-array", str(depth), "--trace-max-width", str(_WIDEST))
    header = f'static const char FIELD_NAMES[] = R"names({names(rtlil).text()})names";\n'
    return Models({TOP: verilog}, header, options=options)


def _core(config: MachineConfig) -> str:
    return convert_to_rtlil(ObservedCore(config, INSTRUCTION_SETS[config.array.instruction_set]), top=CORE)


def wrapper(config: MachineConfig) -> str:
    """C++ around that model: `machine.cc`, and what writes waves.

    Raises
    ------
    ToolchainError
        Verilator is missing, or its sources are others.
    """
    cores = " ".join(f"USE({core})" for core in range(config.array.cores))
    machine = host(config.memory, "unwatched.h", "verilated.h", "waves/model.h", behind=["waves/waves.cc"])
    return "\n".join(('#include "models.h"', _tracer(), f"#define WAVES_CORES(USE) {cores}", machine))


def _tracer() -> str:
    """Verilator's own, with `compression.h` in place of libraries and `writer.h` in front of its writer of files."""
    include = find_verilator().root / "include"
    writer = _without((include / "fstcpp" / "fstcpp_writer.cpp").read_text(), *_LIBRARIES)
    tracer = _without((include / "verilated_fst_c.cpp").read_text(), *_WRITER_SOURCES)
    return "\n".join(
        (_text("compression.h"), "#define Writer FileWriter", _WRITER_SOURCES[0], writer, "#undef Writer",
         _text("writer.h"), tracer)
    )  # fmt: skip


def _without(text: str, *lines: str) -> str:
    for line in lines:
        if line not in text:
            raise ToolchainError(
                f"Verilator's writer of waves is another one than that of the package's version: {line}"
            )
        text = text.replace(line, "")
    return text


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text()


@cache
def sources() -> str:
    """A hash of what is in this package."""
    digest = hashlib.sha256()
    for file in sorted(resources.files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith((".py", ".h", ".cc")):
            digest.update(file.read_bytes())
    return digest.hexdigest()
