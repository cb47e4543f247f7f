"""The machine's files as a core of FuseSoC (CAPI 2), which runs linters, simulators and FPGA tools on them."""

from collections.abc import Mapping
from importlib.metadata import version

from ctm.sim.compiled.tools.package import PROJECT

_FILES = """\
CAPI=2:
name: ::{top}:{version}
description: Close To the Metal, a machine that runs the command buffers of ATI's CTM
filesets:
  rtl:
    files: [{verilog}]
    file_type: verilogSource-2005
  waivers:
    files: [{waivers}]
    file_type: vlt
"""
_TESTBENCH = """\
  testbench:
    files:
      - {testbench}: {{file_type: verilogSource-2005}}
      - {host}: {{file_type: user, copyto: {host}}}
      - {expected}: {{file_type: user, copyto: {expected}}}
"""
_TARGETS = """\
targets:
  default:
    filesets: [rtl]
    toplevel: {top}
  lint:
    default_tool: verilator
    filesets: [waivers, rtl]
    toplevel: {top}
    tools:
      verilator:
        mode: lint-only
        verilator_options: [-Wall]
"""
_SIMULATION = """\
  sim:
    default_tool: icarus
    filesets: [rtl, testbench]
    toplevel: {top}_tb
    tools:
      icarus:
        iverilog_options: [-g2005]
"""


def core_description(top: str, names: Mapping[str, str]) -> str:
    """The text; `names` are those of the files beside it by what they are, see `ctm.sim.report.hardware`.

    Target `lint` runs Verilator, and with a testbench `sim` runs Icarus.
    """
    sections = [_FILES, _TESTBENCH, _TARGETS, _SIMULATION] if "testbench" in names else [_FILES, _TARGETS]
    return "".join(sections).format(top=top, version=version(PROJECT), **names)
