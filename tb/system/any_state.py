"""The machine compiled so that what Amaranth would initialise starts as anything."""

import re
from pathlib import Path

import pytest

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.tools import toolchain
from ctm.sim.compiled.verilog import from_rtlil
from ctm.sim.engines.model import TOP, host

_INIT = re.compile(r"^ *attribute \\init .*\n", re.MULTILINE)
_MODULE = re.compile(r"(?m)^(?=module )")
_CELL = r"^  cell \${} .*\n(?:    .*\n)*?    parameter \\MEMID \"(.*)\"\n(?:    .*\n)*  end\n"
_WRITE, _START = (re.compile(_CELL.format(kind), re.MULTILINE) for kind in ("memwr_v2", "meminit_v2"))
_RANDOM = """
// Registers and memories that nothing initialises are random, in each machine others.
struct ModelContext {
    VerilatedContext context;
    ModelContext() {
        static int machines = 0;
        context.randReset(2);
        context.randSeed(++machines);
    }
};
"""


def without_start(text: str) -> str:
    """RTLIL in which only memories that are never written, tables, have contents at the start."""
    return "".join(_module_without_start(module) for module in _MODULE.split(_INIT.sub("", text)))


def _module_without_start(module: str) -> str:
    written = set(_WRITE.findall(module))
    return _START.sub(lambda start: "" if start[1] in written else start[0], module)


def library(config: MachineConfig, monkeypatch: pytest.MonkeyPatch, *, resets: bool = True) -> Path:
    """A machine whose registers and memories are random before its reset, other ones each time one is made."""
    unique = tuple("unique" if flag == "fast" else flag for flag in toolchain._VERILATOR_FLAGS)
    monkeypatch.setattr(toolchain, "_VERILATOR_FLAGS", unique)
    text = without_start(rtlil(Sampled(config, CoreInstance), config, TOP))
    wrapper = host(config.memory, "verilated.h", "verilated_model.h")
    plain = re.search(r"struct ModelContext \{.*?^\};\n", wrapper, re.MULTILINE | re.DOTALL)
    assert plain is not None
    wrapper = wrapper.replace(plain[0], _RANDOM)
    if not resets:
        assert wrapper.count("model.rst = 1;") == 1
        wrapper = wrapper.replace("model.rst = 1;", "model.rst = 0;")
    return toolchain.build(toolchain.Models({TOP: from_rtlil(text)}), f'#include "models.h"\n{wrapper}')
