"""The machine as an FPGA's cells, compiled by Verilator: what synthesis made of it, with the cells' own models."""

import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.rtl.dpp.core_module import CoreInstance
from ctm.sim.compiled.machine import rtlil
from ctm.sim.compiled.sampled import Sampled
from ctm.sim.compiled.tools.package import FPGA_NEXTPNR, FPGA_YOSYS
from ctm.sim.compiled.tools.programs import run
from ctm.sim.compiled.tools.toolchain import Model, build
from ctm.sim.engines.model import TOP
from ctm.sim.engines.rtl import wrapper
from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.hierarchy import units
from ctm.sim.synthesis.linking import link
from ctm.sim.synthesis.placing import ROUTED
from ctm.sim.synthesis.synthesis import Synthesis
from ctm.sim.synthesis.tool import command, read_json, side_by_side
from ctm.sim.synthesis.whole import FREQUENCY
from ctm.tb.gates.netlist import verilog

_MODELS = "common_sim.vh"
_TAKEN = re.compile(r"^module (?:L6MUX21|PFUMX|TRELLIS_DPR16X4|TRELLIS_FF)\b.*?^endmodule\n", re.MULTILINE | re.DOTALL)
_SPECIFIED = re.compile(r"^\s*specify$.*?^\s*endspecify$", re.MULTILINE | re.DOTALL)


def library(config: MachineConfig) -> Path:
    """The machine for a host, as `CompiledEngine.library`: the cells of an ECP5 that `ctm synth --preset` counts."""
    text = cells() + verilog(synthesised(rtlil(Sampled(config, CoreInstance), config, TOP), TOP))
    return build(Model(TOP, text), wrapper(config, "verilated_model.h"))


def synthesised(text: str, top: str) -> Mapping[str, Mapping[str, Any]]:
    """The netlists of a design's units, by their names."""
    with tempfile.TemporaryDirectory(prefix="ctm-gates-") as name, side_by_side() as tools:
        synthesis = Synthesis(Path(name), tools, FREQUENCY)
        list(synthesis.run(units(text, top), lambda line: None))
        return synthesis.netlist(top)


def routed(modules: Mapping[str, Mapping[str, Any]], top: str) -> Mapping[str, Any]:
    """What nextpnr writes of a small design after routing on an LFE5U-25F, at whatever pins there are."""
    nextpnr = DEVICES["25k"].alone
    assert nextpnr is not None
    with tempfile.TemporaryDirectory(prefix="ctm-gates-") as name:
        folder = Path(name)
        (folder / "linked.json").write_text(json.dumps(link(modules, top)))
        options = (*nextpnr.options, "--quiet", "--json", "linked.json", "--write", ROUTED)
        run(command(nextpnr.package, nextpnr.function, *options), folder, name=FPGA_NEXTPNR.distribution)
        (module,) = read_json(folder / ROUTED)["modules"].values()
    return dict(module)


def cells() -> str:
    """Models of the cells: Yosys's own, and those that it does not have."""
    folder = FPGA_YOSYS.folder / "share" / "lattice"
    taken = _TAKEN.findall((folder / _MODELS).read_text())
    # Verilator warns of each delay that it ignores.
    return _SPECIFIED.sub("", "".join(taken)) + (Path(__file__).parent / "cells.v").read_text()
