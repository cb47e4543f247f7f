"""What a result came from: enough to make it again, and to cite it."""

import hashlib
from collections.abc import Mapping
from typing import Any

from ctm import __version__
from ctm.rtl.config import MachineConfig, settings_of
from ctm.sim.elf import Executable, write


def hashes(programs: Mapping[int, tuple[str, Executable]]) -> dict[str, str]:
    """The SHA-256 of each executable, by its program's name."""
    return {name: hashlib.sha256(write(executable)).hexdigest() for name, executable in programs.values()}


def provenance(config: MachineConfig, programs: Mapping[int, tuple[str, Executable]]) -> dict[str, Any]:
    """Version, configuration and programs, as plain values."""
    return {"version": __version__, "configuration": settings_of(config), "programs": hashes(programs)}
