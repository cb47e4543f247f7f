"""A whole machine placed and routed: the netlists of its units, linked, between registers."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.devices import Nextpnr
from ctm.sim.synthesis.linking import LinkedNames, link
from ctm.sim.synthesis.report import Placement, placement
from ctm.sim.synthesis.spreading import spread
from ctm.sim.synthesis.tool import command, read_json

_OPTIONS = ("--timing-allow-fail", "--quiet")
ROUTED = "routed.json"
"""The netlist after routing, of the last seed."""
_NETLIST, _PLACED, _REPORT, _LOG = "linked.json", "placed.json", "report.json", "nextpnr.log"
_LOOK = 2.0
"""Seconds between two readings of the tool's log."""
_INFO = "Info:"
_ITERATION = re.compile(r"iter=\d+ .*\boverused=(\d+)")
"""The second router's message of each iteration: how many wires more than one net wants."""
_ITERATIONS = 120
"""Iterations without fewer such wires after which routing has failed; machines that are routed have had 40."""


class UnroutedError(ToolchainError):
    """With this seed nextpnr does not route some nets."""


def place(
    modules: Mapping[str, Mapping[str, Any]],
    top: str,
    *,
    nextpnr: Nextpnr,
    frequency: float,
    seed: int,
    folder: Path,
    progress: Callable[[str], None],
    options: Sequence[str] = (),
) -> Placement:
    """Place and route a design of these modules; `frequency`, in MHz, is what is aimed at.

    Where block RAMs are to be spread, `top` has all cells itself, and is placed twice. `options` are more of nextpnr's,
    for its pins; it works in `folder`.

    Raises
    ------
    UnroutedError
        Its router does not get on.
    ToolchainError
        nextpnr is missing or failed, as it does where the design does not fit.
    """
    nextpnr.package.require()
    arguments = (*nextpnr.options, *_OPTIONS, "--freq", str(frequency), "--seed", str(seed), *options)
    tool = _Tool(nextpnr=nextpnr, arguments=arguments, folder=folder, progress=progress)
    placeable = modules
    if nextpnr.block_ram_rows:
        first = (*(nextpnr.spreads_by or nextpnr.placer), "--no-route", "--write", _PLACED)
        tool.run(f"seed {seed}, places of block RAMs", link(modules, top, nextpnr.settings), *first)
        (placed,) = read_json(folder / _PLACED)["modules"].values()
        placeable = {**modules, top: spread(modules[top], placed, nextpnr.block_ram_rows)}
    last = (*nextpnr.placer, "--report", _REPORT, "--write", ROUTED)
    tool.run(f"seed {seed}", link(placeable, top, nextpnr.settings), *last)
    return placement(read_json(folder / _REPORT), LinkedNames(modules, top), seed)


@dataclass(frozen=True, kw_only=True)
class _Tool:
    """nextpnr with some arguments."""

    nextpnr: Nextpnr
    arguments: tuple[str, ...]
    folder: Path
    progress: Callable[[str], None]

    def run(self, title: str, netlist: Mapping[str, Any], *options: str) -> None:
        """Run it to its end, with more options."""
        write_file(self.folder / _NETLIST, json.dumps(netlist).encode())
        log, package = self.folder / _LOG, self.nextpnr.package
        # It may be an earlier run's.
        log.unlink(missing_ok=True)
        files = ("--json", _NETLIST, "--log", _LOG)
        words = command(package, self.nextpnr.function, *self.arguments, *files, *options)
        with Tools() as tools:
            run = tools.start(words, self.folder)
            _watch(run, log, lambda text: self.progress(f"{title}: {text}"))
        check(run.result(), package.distribution)


def _watch(run: Future[Result], log: Path, progress: Callable[[str], None]) -> None:
    """Report a tool's last message and its time; an error if its router makes no progress."""
    start = time.monotonic()
    progress("placing")
    while not wait_for([run], timeout=_LOOK).done:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        _check([int(iteration[1]) for iteration in map(_ITERATION.search, lines) if iteration is not None])
        last = next((line for line in reversed(lines) if line.startswith(_INFO)), "")
        minutes = (time.monotonic() - start) / 60
        progress(f"{minutes:.0f} min, {' '.join(last.removeprefix(_INFO).split())}")


def _check(counts: Sequence[int]) -> None:
    """Raise the error of a router without progress; `counts` has the wires of each iteration that several nets want."""
    fewest = min(counts, default=0)
    iteration = counts.index(fewest) + 1 if counts else 0
    if len(counts) - iteration >= _ITERATIONS:
        raise UnroutedError(
            f"nextpnr does not route all nets: more than one wanted {fewest} wires in iteration {iteration}, and not "
            f"fewer in {_ITERATIONS} iterations since"
        )
