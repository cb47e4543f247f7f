"""What a result came from: enough to make it again, and to cite it."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ctm import __version__
from ctm.rtl.config import MachineConfig
from ctm.sim.elf import Executable, write


def settings_of(config: MachineConfig) -> dict[str, Any]:
    """All settings of a configuration, by the names that ``--set`` takes."""
    sections = asdict(config)
    return {f"{section}.{name}": value for section, values in sections.items() for name, value in values.items()}


def hashes(programs: Mapping[int, tuple[str, Executable]]) -> dict[str, str]:
    """The SHA-256 of each executable, by its program's name."""
    return {name: hashlib.sha256(write(executable)).hexdigest() for name, executable in programs.values()}


def provenance(config: MachineConfig, programs: Mapping[int, tuple[str, Executable]]) -> dict[str, Any]:
    """Version, configuration and programs, as plain values."""
    return {"version": __version__, "configuration": settings_of(config), "programs": hashes(programs)}
