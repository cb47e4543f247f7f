"""The demonstration in a process of its own, on the suite's machine for R5xx."""

import sys

_PROGRAM = """
from ctm.rtl.config import DEFAULT_PRESETS, PRESETS
from ctm.tb.lib.machines import machine
PRESETS[DEFAULT_PRESETS["r5xx"]] = machine("r5xx")
{before}
import typer
from ctm.sim.cli.signals import interruptible
from scripts.demonstration import main
with interruptible():
    typer.run(main)
"""


def command(*arguments: object, before: str = "") -> list[str]:
    """The command, with some Python before it; it is to run in the project's folder."""
    return [sys.executable, "-c", _PROGRAM.format(before=before), *map(str, arguments)]
