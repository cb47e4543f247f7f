"""``ctm`` as a user calls it, inside this process or as one of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from ctm.sim.cli.application import application
from ctm.tb.cli.processes import limited


def ctm(*arguments: object) -> Result:
    """Run ``ctm``; an exception that escapes is a failure of the test."""
    result = CliRunner().invoke(application(), [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def report(*arguments: object) -> dict[str, Any]:
    """The JSON object of ``ctm ... --json``, which must be all of standard output."""
    return dict(json.loads(ctm(*arguments, "--json").stdout))


def error_line(*arguments: object) -> str:
    """What ``ctm`` says on standard error, with exit status 2: one line."""
    result = ctm(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return str(result.stderr)


def process(*arguments: object, most: int | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run ``ctm`` as a process of its own, whose files have at most `most` bytes.

    `options` are those of `subprocess.run`.
    """
    command = [sys.executable, "-c", "from ctm.sim.cli import main; main()", *map(str, arguments)]
    if most is not None:
        command = limited(command, most)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(command, cwd=Path(__file__).parents[2], text=True, check=False, **streams)
