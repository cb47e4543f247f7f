"""The machine made so that what Amaranth would initialise starts as anything: compiled, or in four states."""

import re
from functools import partial
from pathlib import Path

import pytest

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.compiled.machine import machine_rtlil, rtlil
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.tools import toolchain
from ctm.sim.compiled.verilog import from_rtlil
from ctm.sim.engines.model import TOP
from ctm.sim.engines.rtl import wrapper

_INIT = re.compile(r"^ *attribute \\init .*\n", re.MULTILINE)
_MODULE = re.compile(r"(?m)^(?=module )")
_CELL = r"^  cell \${} .*\n(?:    .*\n)*?    parameter \\MEMID \"(.*)\"\n(?:    .*\n)*  end\n"
_WRITE, _START = (re.compile(_CELL.format(kind), re.MULTILINE) for kind in ("memwr_v2", "meminit_v2"))
_MEMORY = re.compile(r"^  reg (?:\[(?P<top>\d+):0\] )?(?P<name>\S+) \[(?P<last>\d+):0\];\n", re.MULTILINE)
_OUTPUT = re.compile(r"^  output (?:\[\d+:0\] )?(\w+);\n", re.MULTILINE)
_CHANNEL = re.compile(r"(?P<stream>\w+_(?:ar|aw|r|w|b))(?P<signal>[a-z]+)")
_HANDSHAKE = ("valid", "ready")
_WATCH = """
// Reports outputs of the machine that are unknown after its reset.
module watch;
  always @(posedge ctm_tb.clk) if (!ctm_tb.rst) begin
@CHECKS@  end
endmodule
"""
_RANDOM_WORD_BITS = 32
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


def four_states(config: MachineConfig) -> str:
    """Module `ctm` as Verilog: registers start unknown, rows of memories as random words, other words in each instance.

    Rows are not unknown, because some count from wherever they begin, and for ever one cannot add to what is unknown.
    """
    modules = _MODULE.split(from_rtlil(without_start(machine_rtlil(config, top="ctm"))))
    return "".join(_MEMORY.sub(partial(_random_rows, module=module), module) for module in modules)


def _random_rows(memory: re.Match[str], module: str) -> str:
    name, last, row = memory["name"], memory["last"], f"row_{memory.start()}"
    if f"    {name}[0] = " in module:
        return memory[0]
    words = int(memory["top"] or 0) // _RANDOM_WORD_BITS + 1
    random = ", ".join(["$random"] * words)
    loop = f"for ({row} = 0; {row} <= {last}; {row} = {row} + 1) {name}[{row}] = {{{random}}};"
    return f"{memory[0]}  integer {row};\n  initial {loop}\n"


def watch(machine: str) -> str:
    """Verilog's module `watch`: no output of module `ctm`, as `four_states` has it, is unknown in testbench `ctm_tb`.

    A handshake's payload is checked while it is valid; no unit may read it otherwise.
    """
    border = machine[machine.index("\nmodule ctm(") :]
    checks = ""
    for name in _OUTPUT.findall(border[: border.index("\nendmodule")]):
        found = _CHANNEL.fullmatch(name)
        valid = "1" if found is None or found["signal"] in _HANDSHAKE else f"ctm_tb.ctm.{found['stream']}valid"
        checks += f'    if ({valid} && ^ctm_tb.ctm.{name} === 1\'bx) $display("UNKNOWN: {name}");\n'
    return _WATCH.replace("@CHECKS@", checks)


def library(config: MachineConfig, monkeypatch: pytest.MonkeyPatch, *, resets: bool = True) -> Path:
    """A machine whose registers and memories are random before its reset, other ones each time one is made."""
    unique = tuple("unique" if flag == "fast" else flag for flag in toolchain._VERILATOR_FLAGS)
    monkeypatch.setattr(toolchain, "_VERILATOR_FLAGS", unique)
    text = without_start(rtlil(Sampled(config, CoreInstance), config, TOP))
    source = wrapper(config, "verilated_model.h")
    plain = re.search(r"struct ModelContext \{.*?^\};\n", source, re.MULTILINE | re.DOTALL)
    assert plain is not None
    source = source.replace(plain[0], _RANDOM)
    if not resets:
        assert source.count("model.rst = 1;") == 1
        source = source.replace("model.rst = 1;", "model.rst = 0;")
    return toolchain.build(toolchain.Model(TOP, from_rtlil(text)), source)
