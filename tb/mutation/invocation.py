"""The command as a process of its own, as users start it.

It forks, which a suite's process should not: a fork destroys compiled models that are garbage there, and waits at that
for threads that it does not have.
"""

import subprocess
import sys

from ctm.tb.mutation.mutants import TOP

_PROGRAM = """
import sys
from ctm.tb.mutation import runner
from ctm.tb.mutation.command import main

runner.LEAST_SECONDS = float(sys.argv.pop(1))
sys.exit(main(sys.argv[1:]))
"""


def mutation(*arguments: object, least: float = 20.0) -> subprocess.CompletedProcess[str]:
    """Run the command; `least` is `LEAST_SECONDS`."""
    command = [sys.executable, "-c", _PROGRAM, str(least), *map(str, arguments)]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=False)
