"""Verilator as a linter."""

import os
import re
import subprocess
from pathlib import Path

from ctm.sim.compiled.tools.toolchain import find_verilator

REMAINING = frozenset({"UNUSEDSIGNAL", "PROCASSINIT", "INITIALDLY", "DECLFILENAME", "SYNCASYNCNET"})
"""What it may warn of: the waivers beside the Verilog say why."""


def lint(folder: Path, *files: str, top: str) -> str:
    """All that Verilator prints of files in a folder, every warning on."""
    verilator = find_verilator()
    command = [str(verilator.root / "bin" / "verilator_bin"), "--lint-only", "--quiet", "-Wall", "-Wno-fatal",
               "--top-module", top]  # fmt: skip
    done = subprocess.run([*command, *files], cwd=folder, env=os.environ | {"VERILATOR_ROOT": str(verilator.root)},
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done.stdout + done.stderr


def complaints(verilog: str, top: str, folder: Path) -> set[str]:
    """The classes of warnings and errors but `REMAINING`."""
    (folder / f"{top}.v").write_text(verilog)
    found = re.findall(r"^%(?:Warning-(\w+)|(Error))", lint(folder, f"{top}.v", top=top), re.MULTILINE)
    return {warning or error for warning, error in found} - REMAINING
