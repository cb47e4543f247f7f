"""How a subcommand ends: exit status, message, JSON.

0 is done, 1 a machine error or a mismatch, 2 bad arguments or input, 128 and more a signal. Nothing that a user can
cause is a traceback.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ctm.sim.assembler import AssemblyError
from ctm.sim.cli.signals import Interruption
from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiler.error import KernelError
from ctm.sim.elf import ElfError
from ctm.sim.engines.serial.error import BoardError
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.files import STANDARD_OUTPUT, naming
from ctm.sim.jobs.error import JobError

if TYPE_CHECKING:
    from ctm.sim.engines.engine import Report

MACHINE_ERROR, BAD_INPUT = 1, 2


class BadInput(Exception):  # noqa: N818 - it is no fault of the program
    """Arguments or files that cannot be used; the message says which and why."""


BAD_INPUTS = BadInput, JobError, AssemblyError, KernelError, ElfError, ToolchainError, BoardError
"""What arguments and input files can be wrong with."""


class Mismatch(Exception):  # noqa: N818
    """A checked run that differs from the golden model."""


class Outcome:
    """Collects what a subcommand reports and ends it; use as ``with Outcome(...).reported():``."""

    def __init__(self, *, json_wanted: bool, **fields: Any) -> None:
        self.json_wanted = json_wanted
        self._start = time.perf_counter()
        self.fields: dict[str, Any] = {**fields, "status": "ok", "error": None}

    def add_report(self, report: "Report") -> None:
        """Take over what an engine counted."""
        self.fields |= {
            "cycles": report.cycles,
            "instructions": report.instructions,
            "lane_instructions": report.lane_instructions,
            "counters": report.counters,
        }

    def say(self, message: str) -> None:
        """Tell the user something."""
        with naming(STANDARD_OUTPUT):
            typer.echo(message, err=self.json_wanted)

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Run the body; print the JSON object if it is wanted; report errors as messages and exit statuses."""
        try:
            yield
        except MachineError as error:
            details = {name: value for name, value in vars(error).items() if name != "status" and value is not None}
            if error.client is not None:
                details["client"] = error.client.name.lower()
            self._fail(MACHINE_ERROR, error.status.name.lower(), str(error), details)
        except CycleLimitError as limit:
            self._fail(MACHINE_ERROR, "cycle_limit", str(limit), {"cycles": limit.cycles})
        except Mismatch as mismatch:
            self._fail(MACHINE_ERROR, "mismatch", str(mismatch), {})
        except BAD_INPUTS as error:
            self._fail(BAD_INPUT, "bad_input", str(error), {})
        except OSError as error:
            file = f"{error.filename}: " if error.filename else ""
            self._fail(BAD_INPUT, "bad_input", f"{file}{error.strerror or error}", {})
        except MemoryError as error:
            self._fail(BAD_INPUT, "bad_input", str(error) or "out of memory", {})
        except Interruption as interruption:
            self._fail(interruption.status, "interrupted", str(interruption), {"signal": interruption.name})
        self._finish()

    def _fail(self, status: int, name: str, message: str, details: dict[str, Any]) -> NoReturn:
        self.fields |= {"status": name, "error": {"message": message, **details}}
        typer.echo(f"error: {message}", err=True)
        self._finish()
        raise typer.Exit(status) from None

    def _finish(self) -> None:
        self.fields["wall_s"] = round(time.perf_counter() - self._start, 6)
        if self.json_wanted:
            try:
                typer.echo(json.dumps(self.fields))
            except OSError as error:
                typer.echo(f"error: {STANDARD_OUTPUT}: {error.strerror}", err=True)
                raise typer.Exit(BAD_INPUT) from None
