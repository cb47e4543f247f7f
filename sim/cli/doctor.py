"""``ctm doctor``: is this machine set up right."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import typer
from packaging.requirements import Requirement
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ctm.sim.cli.options.machine import Json
from ctm.sim.cli.outcome import Outcome
from ctm.sim.compiled.tools.package import PROJECT, installation
from ctm.sim.files import STANDARD_OUTPUT, naming
from ctm.sim.memory import Memory

_TOOLS = {"g++": "g++", "make": "make", "perl": "perl"}
# An extra comes after those that it includes.
_EXTRAS = {
    "fast": "engine fast needs it",
    "kernels": "ctm cc, and jobs with kernels, need it",
    "rtl": "engine rtl and ctm verilog need it",
    "synth": "ctm synth needs it",
    "board": "ctm bitstream needs it",
    "explore": "ctm explore needs it",
    "report": "ctm run --report and the page of ctm sweep need it",
    "debug": "ctm debug --screen needs it",
    "plot": "ctm bench scale --plot needs it",
    "sweep": "ctm sweep and ctm run --split need it",
    "zarr": "files that end in .zarr need it",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `advice` is empty where it is right."""

    name: str
    found: str
    advice: str = ""
    is_needed: bool = True


def doctor(json_wanted: Json = False) -> None:
    """Check that everything the machine needs is installed; exit 1 if something is missing."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        findings = [*_python(), *_packages(), *_memory(), *_tools()]
        is_right = not any(finding.advice and finding.is_needed for finding in findings)
        outcome.fields |= {"findings": [asdict(finding) for finding in findings]}
        if not is_right:
            outcome.fields["status"] = "incomplete"
        if not json_wanted:
            with naming(STANDARD_OUTPUT):
                _print(findings, is_right)
    if not is_right:
        raise typer.Exit(1)


def _print(findings: list[Finding], is_right: bool) -> None:
    table = Table("what", "found", "advice")
    for finding in findings:
        mark = "" if not finding.advice else "missing: " if finding.is_needed else "optional: "
        table.add_row(finding.name, finding.found, mark + escape(finding.advice))
    Console().print(table)
    if is_right:
        typer.echo("This machine is set up right.")


def _python() -> Iterator[Finding]:
    version = platform.python_version()
    right = (3, 11) <= sys.version_info[:2] <= (3, 13)
    yield Finding("Python", version, "" if right else "use Python 3.11, 3.12 or 3.13")
    system = f"{platform.system()} {platform.machine()}"
    advice = "" if system == "Linux x86_64" else "the project is tested on Linux x86_64 only"
    yield Finding("system", system, advice, is_needed=False)


def _packages() -> Iterator[Finding]:
    try:
        requirements = importlib.metadata.requires(PROJECT) or []
    except importlib.metadata.PackageNotFoundError:
        yield Finding(PROJECT, "not installed", "run scripts/demo, which sets everything up")
        return
    # What several extras need is listed once, by the reason that says most.
    by_name: dict[str, Requirement] = {}
    for requirement in sorted(map(Requirement, requirements), key=_rank):
        by_name.setdefault(requirement.name, requirement)
    for requirement in sorted(by_name.values(), key=lambda requirement: requirement.name):
        if requirement.name == PROJECT:
            continue
        is_extra = requirement.marker is not None
        try:
            yield Finding(requirement.name, importlib.metadata.version(requirement.name), is_needed=not is_extra)
        except importlib.metadata.PackageNotFoundError:
            yield Finding(requirement.name, "not installed", _advice(requirement), is_needed=not is_extra)


def _rank(requirement: Requirement) -> int:
    """The order of advice: 0 for what is always needed, then each of `_EXTRAS`, then all others."""
    if requirement.marker is None:
        return 0
    needing = [requirement.marker.evaluate({"extra": extra}) for extra in _EXTRAS]
    return 1 + (needing.index(True) if True in needing else len(needing))


def _advice(requirement: Requirement) -> str:
    """How to get a package that is missing."""
    if requirement.marker is None:
        return "run scripts/demo, which installs it"
    for extra, purpose in _EXTRAS.items():
        if requirement.marker.evaluate({"extra": extra}):
            return f"{purpose}: {installation(extra)}"
    return "scripts/test installs it"


def _memory() -> Iterator[Finding]:
    try:
        Memory()
    except MemoryError as error:
        yield Finding("4 GiB of address space", "not mapped", str(error))
    else:
        yield Finding("4 GiB of address space", "mapped")


def _tools() -> Iterator[Finding]:
    for name, command in _TOOLS.items():
        path = shutil.which(command)
        advice = "" if path else f"install {name}: the compiled engines need it"
        yield Finding(name, str(Path(path)) if path else "not found", advice, is_needed=False)
