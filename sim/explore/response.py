"""The response to a request: the source compiled, and run if that is wanted, in the process of the caller."""

import tomllib
from pathlib import Path

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiler.source import kernel_in
from ctm.sim.explore.compilation import Compiled, compiled
from ctm.sim.explore.execution import ran
from ctm.sim.explore.folder import OutsideError
from ctm.sim.explore.job import made_up, program_name
from ctm.sim.explore.request import Explored, Problem, Request, Run
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.jobs.error import JobError


def respond(request: Request, scratch: Path) -> Explored:
    """Compile and run a source; `scratch` is an empty folder to write in. An error in a source is no exception."""
    try:
        named = kernel_in(program_name(request.job) or "")[1] if request.job else None
    except tomllib.TOMLDecodeError:
        named = None
    try:
        found = compiled(request, named, scratch)
    except ToolchainError as error:
        return Explored(failure=str(error))
    programs = tuple(each.program for each in found)
    chosen = _chosen(found, request.isa)
    job = request.job
    if not job and chosen is not None and chosen.executable is not None:
        job = made_up(request.name, chosen.executable)
    if not request.engine:
        return Explored(programs=programs, job=job)
    if chosen is None or chosen.executable is None:
        return Explored(programs=programs, job=job, failure="there is no program that could run")
    run, problems = _run(request, job, chosen, scratch)
    return Explored(programs=programs, run=run, job=job, problems=problems)


def _chosen(found: list[Compiled], isa: str) -> Compiled | None:
    """The program of an instruction set, the first one if none is named."""
    there = [each for each in found if each.executable is not None]
    return next((each for each in there if isa in ("", each.program.isa)), None)


def _run(request: Request, job: str, chosen: Compiled, scratch: Path) -> tuple[Run | None, tuple[Problem, ...]]:
    assert chosen.executable is not None
    try:
        return ran(request, job, chosen.executable, scratch), ()
    except MachineError as error:
        own = error.line if error.line is not None and error.file == request.name else 0
        return None, (Problem(message=str(error), line=own),)
    except (JobError, OutsideError, tomllib.TOMLDecodeError, CycleLimitError, ToolchainError) as error:
        message = str(error).replace(f"{scratch}/", "")
        return None, (Problem(message=message, location="" if isinstance(error, JobError) else "job"),)
