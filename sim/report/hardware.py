"""The machine's hardware as files for other tools."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ctm.rtl.config import MachineConfig
from ctm.sim.files import try_files, write_file
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.jobs.recording import record
from ctm.sim.report.core_description import core_description
from ctm.sim.report.header import c_header
from ctm.sim.report.testbench import EXPECTED, HOST, TESTBENCH, replaying
from ctm.sim.report.waivers import waivers
from ctm.sim.runtime.device import WATCHDOG

TOP = "ctm"
_SUFFIXES = {"verilog": "v", "list": "f", "configuration": "json", "header": "h", "waivers": "vlt", "core": "core"}


def write_hardware(config: MachineConfig, folder: Path, job: LoadedJob | None = None) -> dict[str, Path]:
    """Write the machine of a configuration into a folder, each file completely or not at all.

    With a job also a testbench that replays it, see `ctm.sim.report.testbench`.

    Returns
    -------
    files
        By what they are: ``verilog``, ``list`` (the sources, for tools that take one with ``-f``), ``configuration``
        (JSON), ``header`` (C), ``waivers`` (for Verilator's linter) and ``core`` (for FuseSoC); with a job
        ``testbench``, and what it reads, ``host`` and ``expected``.

    Raises
    ------
    ToolchainError
        Yosys, which writes the Verilog, is missing or failed.
    OSError
        A file cannot be written.
    MachineError
        The job fails on the golden model.
    ValueError
        There is no such hardware.
    """
    config.check_hardware()
    names = {kind: f"{TOP}.{suffix}" for kind, suffix in _SUFFIXES.items()}
    if job is not None:
        names |= {"testbench": f"{TESTBENCH}.v", "host": HOST, "expected": EXPECTED}
    files = {kind: folder / name for kind, name in names.items()}
    try_files(dict.fromkeys(files.values(), 0), make_folders=True)

    # Imported here, because they take long and nothing else of the command line needs them.
    from ctm.sim.compiled.machine import machine_verilog

    recording = None if job is None else record(job, config, watchdog=WATCHDOG)
    texts = {
        "verilog": machine_verilog(config, top=TOP),
        "list": f"{names['verilog']}\n",
        "configuration": json.dumps(_configuration(config), indent=2) + "\n",
        "header": c_header(),
        "waivers": waivers(names["verilog"], names["waivers"]),
        "core": core_description(TOP, names),
    }
    if recording is not None:
        texts |= replaying(recording, config, [names["verilog"]])
    for kind, text in texts.items():
        write_file(files[kind], text.encode(), make_folders=True)
    return files


def _configuration(config: MachineConfig) -> dict[str, Any]:
    """All settings by unit, and what follows from them at the module's border."""
    return {"top": TOP, "memory_ports": [f"m_axi_{name}" for name in config.memory.ports], **asdict(config)}
