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
"""The netlist behind routing, of the last seed."""
_NETLIST, _PLACED, _REPORT, _LOG = "linked.json", "placed.json", "report.json", "nextpnr.log"
_LOOK = 2.0
"""Seconds between two looks at what the tool has to say."""
_INFO = "Info:"
_TURN = re.compile(r"iter=\d+ .*\boverused=(\d+)")
"""What the second router says of each turn: how many wires more than one net wants."""
_TURNS = 120
"""Without fewer such wires, behind which there is no hope; machines that are routed have had 40 of them."""


class UnroutedError(ToolchainError):
    """With this seed nextpnr finds no way for some nets."""


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
    """Tell what a tool wrote last, and for how long it has been at work; error if its router does not get on."""
    start = time.monotonic()
    progress("placing")
    while not wait_for([run], timeout=_LOOK).done:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        _check([int(turn[1]) for turn in map(_TURN.search, lines) if turn is not None])
        last = next((line for line in reversed(lines) if line.startswith(_INFO)), "")
        minutes = (time.monotonic() - start) / 60
        progress(f"{minutes:.0f} min, {' '.join(last.removeprefix(_INFO).split())}")


def _check(turns: Sequence[int]) -> None:
    """Raise the error of a router that does not get on; of each turn how many wires more than one net wanted."""
    fewest = min(turns, default=0)
    turn = turns.index(fewest) + 1 if turns else 0
    if len(turns) - turn >= _TURNS:
        raise UnroutedError(
            f"nextpnr finds no way for all nets: more than one wanted {fewest} wires in turn {turn}, and not fewer in "
            f"{_TURNS} turns since"
        )
