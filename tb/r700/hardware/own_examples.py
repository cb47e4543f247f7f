"""The modules of the golden model's own examples, and how one of them is run in hardware as well."""

import json

from ctm.tb.lib.own_tests import modules_of, run_module
from ctm.tb.r700.hardware.machine import Settings
from ctm.tb.r700.hardware.plugin import SETTINGS

_FOLDER, _PLUGIN = "tb/r700", "ctm.tb.r700.hardware.plugin"
MODULES = modules_of(_FOLDER, ("test_*examples.py", "test_faults*.py", "test_stack.py"))


def run_examples(module: str, settings: Settings = ()) -> None:
    """Run a module with the plugin that compares; `settings` are other than in the preset."""
    run_module(_FOLDER, module, _PLUGIN, **{SETTINGS: json.dumps(dict(settings))})
