"""ATI's CTM machine (2006) as open hardware: what most programs import.

Everything else is below: `ctm.rtl` the hardware and the declarations, `ctm.sim` the software around it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctm.rtl.config import PRESETS, MachineConfig
    from ctm.rtl.isa.formats import DataFormat, Tiling
    from ctm.sim.assembler import assemble, disassemble
    from ctm.sim.fault import MachineError
    from ctm.sim.kernels import kernel
    from ctm.sim.runtime import CommandBuffer, Device, Layout
    from ctm.sim.runtime.draws import Draw, PixelInput, VertexArray, Viewport, pipeline
    from ctm.sim.split.session import Split

    __version__: str

__all__ = [
    "PRESETS",
    "CommandBuffer",
    "DataFormat",
    "Device",
    "Draw",
    "Layout",
    "MachineConfig",
    "MachineError",
    "PixelInput",
    "Split",
    "Tiling",
    "VertexArray",
    "Viewport",
    "__version__",
    "assemble",
    "disassemble",
    "kernel",
    "pipeline",
]

_MODULES = {
    "PRESETS": "ctm.rtl.config",
    "CommandBuffer": "ctm.sim.runtime",
    "DataFormat": "ctm.rtl.isa.formats",
    "Device": "ctm.sim.runtime",
    "Draw": "ctm.sim.runtime.draws",
    "Layout": "ctm.sim.runtime",
    "MachineConfig": "ctm.rtl.config",
    "MachineError": "ctm.sim.fault",
    "PixelInput": "ctm.sim.runtime.draws",
    "Split": "ctm.sim.split.session",
    "Tiling": "ctm.rtl.isa.formats",
    "VertexArray": "ctm.sim.runtime.draws",
    "Viewport": "ctm.sim.runtime.draws",
    "assemble": "ctm.sim.assembler",
    "disassemble": "ctm.sim.assembler",
    "kernel": "ctm.sim.kernels",
    "pipeline": "ctm.sim.runtime.draws",
}


def __getattr__(name: str) -> object:
    """Import a name when it is first used, so that a user of one of them does not import the packages of the others."""
    if name == "__version__":
        return import_module("importlib.metadata").version("ctm-machine")
    if name not in _MODULES:
        raise AttributeError(f"module 'ctm' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """All names, those that have not been used too."""
    return sorted({*globals(), *__all__})
