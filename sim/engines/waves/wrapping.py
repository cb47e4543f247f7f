"""C++ around the model that Verilator traces."""

import hashlib
from functools import cache
from importlib import resources

from ctm.rtl.config import MachineConfig
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.toolchain import find_verilator
from ctm.sim.engines.model import host

_LIBRARIES = ("#include <lz4.h>", "#include <zlib.h>")
_WRITER_SOURCES = ('#include "fstcpp/fstcpp_variable_info.cpp"', '#include "fstcpp/fstcpp_writer.cpp"')


def wrapper(config: MachineConfig) -> str:
    """C++ around that model: `machine.cc`, and what writes waves.

    Raises
    ------
    ToolchainError
        Verilator is missing, or its sources are others.
    """
    cores = " ".join(f"USE({core})" for core in range(config.array.cores))
    machine = host(config.memory, "unwatched.h", "verilated.h", "waves/model.h", following=["waves/waves.cc"])
    return "\n".join(('#include "models.h"', _tracer(), f"#define WAVES_CORES(USE) {cores}", machine))


def _tracer() -> str:
    """Verilator's own, with `compression.h` instead of libraries and `writer.h` instead of its writer of files."""
    include = find_verilator().root / "include"
    writer = _without((include / "fstcpp" / "fstcpp_writer.cpp").read_text(), *_LIBRARIES)
    tracer = _without((include / "verilated_fst_c.cpp").read_text(), *_WRITER_SOURCES)
    return "\n".join(
        (_text("compression.h"), "#define Writer FileWriter", _WRITER_SOURCES[0], writer, "#undef Writer",
         *map(_text, ("names.h", "blocks.h", "sinks.h", "writer.h")), tracer)
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
    """A hash of what translates the machine; the wrapper stands for all else."""
    digest = hashlib.sha256()
    for name in ("hardware.py", "names.py", "translation.py"):
        digest.update(_text(name).encode())
    return digest.hexdigest()
