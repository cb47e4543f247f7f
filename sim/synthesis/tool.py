"""The tools of synthesis: WebAssembly packages, each run in a process of its own."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ctm.sim.compiled.tools.package import Package
from ctm.sim.compiled.tools.programs import Tools

_PROGRAM = "import sys, importlib as i; sys.exit(getattr(i.import_module(sys.argv[1]), sys.argv[2])(sys.argv[3:]))"
"""Runs a function of a package with arguments."""


def command(package: Package, function: str, *arguments: str) -> list[str]:
    """What runs a tool of a package; it sees its working folder, not the system's temporary one."""
    return [sys.executable, "-c", _PROGRAM, package.module, function, *arguments]


def read_json(path: Path) -> Any:
    """What a tool wrote."""
    return json.loads(path.read_text())


def side_by_side() -> Tools:
    """What runs tools, as many at a time as there are processors."""
    return Tools(len(os.sched_getaffinity(0)))
