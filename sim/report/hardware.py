"""The machine's hardware as files for other tools."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig, check_hardware
from ctm.sim.files import try_files, write_file
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
    ValueError
        There is no hardware of this configuration.
    """
    check_hardware(config)
    names = {"verilog": f"{TOP}.v", "list": f"{TOP}.f", "configuration": f"{TOP}.json", "header": f"{TOP}.h"}
    files = {kind: folder / name for kind, name in names.items()}
    try_files(dict.fromkeys(files.values(), 0), make_folders=True)

    # Imported here, because they take long and nothing else of the command line needs them.
    from ctm.sim.compiled.machine import machine_verilog

    texts = {
        "verilog": machine_verilog(config, top=TOP),
        "list": f"{names['verilog']}\n",
        "configuration": json.dumps(_configuration(config), indent=2) + "\n",
        "header": c_header(),
    }
    for kind, text in texts.items():
        write_file(files[kind], text.encode(), make_folders=True)
    return files


def _configuration(config: MachineConfig) -> dict[str, Any]:
    """All settings by part, and what follows from them at the module's border."""
    return {"top": TOP, "memory_ports": [f"m_axi_{name}" for name in config.memory.ports], **asdict(config)}
