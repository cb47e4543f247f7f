"""The testbench that `ctm verilog` writes as a program, by Verilator."""

import os
import shlex
import subprocess
from pathlib import Path

from ctm.sim.compiled.tools.package import VERILATOR
from ctm.sim.report.testbench import VERILATOR_OPTIONS

# Those that its head names, what waves need, and what is quicker for few cycles.
_OPTIONS = (*shlex.split(" ".join(VERILATOR_OPTIONS)), "--trace", "-MAKEFLAGS", "OPT_SLOW=-O0", "-j", "2")


def verilated(folder: Path) -> str:
    """The program that Verilator makes of the testbench in a folder, which it has to run in."""
    root = VERILATOR.folder
    tool = [str(root / "bin" / "verilator_bin"), *_OPTIONS, "--Mdir", str(folder / "obj"), "ctm_tb.v", "ctm.v"]
    subprocess.run(tool, cwd=folder, check=True, env=os.environ | {"VERILATOR_ROOT": str(root)}, capture_output=True)
    return str(folder / "obj" / "Vctm_tb")
