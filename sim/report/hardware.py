"""The machine's hardware as files for other tools."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.report.header import c_header

TOP = "ctm"


def write_hardware(config: MachineConfig, folder: Path) -> dict[str, Path]:
    """Write the machine of a configuration into a folder, each file completely or not at all.

    Returns
    -------
    files
        By what they are: ``verilog``, ``list`` (the sources, for tools that take one with ``-f``), ``configuration``
        (JSON) and ``header`` (C).

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    OSError
        A file cannot be written.
    """
    # Imported here, because they take long and nothing else of the command line needs them.
    from ctm.sim.compiled.machine import machine_verilog

    texts = {
        "verilog": (f"{TOP}.v", machine_verilog(config, top=TOP)),
        "list": (f"{TOP}.f", f"{TOP}.v\n"),
        "configuration": (f"{TOP}.json", json.dumps(_configuration(config), indent=2) + "\n"),
        "header": (f"{TOP}.h", c_header()),
    }
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for kind, (name, text) in texts.items():
        files[kind] = folder / name
        partial = folder / f".{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(files[kind])
    return files


def _configuration(config: MachineConfig) -> dict[str, Any]:
    """All settings by part, and what follows from them at the module's border."""
    return {"top": TOP, "memory_ports": [f"m_axi_{name}" for name in config.memory.ports], **asdict(config)}
