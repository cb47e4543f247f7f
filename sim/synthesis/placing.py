"""A whole machine placed and routed: the netlists of its units, linked, between registers."""

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctm.sim.compiled.error import ToolchainError
from ctm.sim.compiled.tools.package import ASSIGNMENT
from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.devices import Nextpnr
from ctm.sim.synthesis.linking import LinkedNames, link
from ctm.sim.synthesis.report import Placement, placement
from ctm.sim.synthesis.spreading import spread
from ctm.sim.synthesis.timing.delays import read_delays
from ctm.sim.synthesis.timing.slow_paths import slow_paths
from ctm.sim.synthesis.tool import command, read_json

_OPTIONS = ("--timing-allow-fail", "--quiet")
ROUTED = "routed.json"
"""The netlist after routing, of the last seed."""
_NETLIST, _PLACED, _REPORT, _LOG = "linked.json", "placed.json", "report.json", "nextpnr.log"
_DELAYS = "delays.sdf"
_PLACEMENTS = 2
"""Placements that find sites of block RAMs; the second one begins with the sites of the first."""
_LOOK = 2.0
"""Seconds between two readings of the tool's log."""
_INFO = "Info:"
_ITERATION = re.compile(r"iter=\d+ .*\boverused=(\d+)")
"""The second router's message of each iteration: the number of overused wires."""
_HOLD_VIOLATIONS = re.compile(r"^Info: (\d+) Hold/min time violations", re.MULTILINE)
_ITERATIONS = 120
"""Iterations without fewer such wires after which routing has failed; machines that are routed have had 40."""
_MANY, _ITERATIONS_OF_MANY = 500, 30
"""The same as long as the fewest are so many: then they become more again."""


Modules = Mapping[str, Mapping[str, Any]]
"""A design's modules by their names, as Yosys writes them."""


class UnroutedError(ToolchainError):
    """nextpnr cannot route all nets with this seed."""


@dataclass(frozen=True, kw_only=True)
class Placer:
    """nextpnr for an FPGA and a clock: `frequency` is the target in MHz.

    `options` are more of nextpnr's, for pins. It works in `folder`; `progress` is called every two seconds of a run.
    With `tells_paths` a placement has its slow paths, of one clock, which takes a minute.
    Its methods raise a `ToolchainError` where nextpnr is missing or fails, as it does where a design does not fit.
    """

    nextpnr: Nextpnr
    frequency: float
    folder: Path
    progress: Callable[[str], None]
    options: Sequence[str] = ()
    tells_paths: bool = False

    def with_sites(self, modules: Modules, top: str, seed: int) -> Modules:
        """A design of these modules with sites for block RAMs, which two placements of its own find.

        If the device spreads no block RAMs, the design is returned unchanged. Later placements of it may take any seed.
        """
        nextpnr = self.nextpnr
        if not nextpnr.block_ram_rows:
            return modules
        ASSIGNMENT.require()
        found = modules
        for number in range(1, _PLACEMENTS + 1):
            title = f"seed {seed}, sites of block RAMs, {number} of {_PLACEMENTS}"
            self._run(title, found, top, seed, *nextpnr.placer, "--no-route", "--write", _PLACED)
            (placed,) = read_json(self.folder / _PLACED)["modules"].values()
            found = {**modules, top: spread(modules[top], placed, nextpnr.block_ram_rows)}
        return found

    def place(self, modules: Modules, top: str, seed: int) -> Placement:
        """Place and route a design of these modules.

        Raises
        ------
        UnroutedError
            Its router makes no progress: 120 iterations without fewer overused wires, or 30 if they are 500 or more.
        """
        told = ("--sdf", _DELAYS) if self.tells_paths else ()
        written = ("--report", _REPORT, "--write", ROUTED, *told)
        self._run(f"seed {seed}", modules, top, seed, *self.nextpnr.placer, *written)
        names = LinkedNames(modules, top)
        slow = slow_paths(read_delays(self.folder / _DELAYS), names) if told else ()
        found = placement(read_json(self.folder / _REPORT), names, seed, slow)
        violations = _HOLD_VIOLATIONS.search((self.folder / _LOG).read_text(errors="replace"))
        return replace(found, hold_violations=int(violations[1]) if violations else 0)

    def _run(self, title: str, modules: Modules, top: str, seed: int, *options: str) -> None:
        """Run nextpnr with more options, and wait for it."""
        nextpnr, log = self.nextpnr, self.folder / _LOG
        nextpnr.package.require()
        write_file(self.folder / _NETLIST, json.dumps(link(modules, top, nextpnr.settings)).encode())
        # A log that exists is an earlier run's.
        log.unlink(missing_ok=True)
        aim = ("--freq", str(self.frequency), "--seed", str(seed), "--json", _NETLIST, "--log", _LOG)
        words = command(
            nextpnr.package, nextpnr.function, *nextpnr.options, *_OPTIONS, *aim, *self.options, *options
        )  # fmt: skip
        with Tools() as tools:
            run = tools.start(words, self.folder)
            _watch(run, log, lambda text: self.progress(f"{title}: {text}"))
        check(run.result(), nextpnr.package.distribution)


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
    """Raise the error of a router without progress; `counts` has the overused wires of each iteration."""
    fewest = min(counts, default=0)
    iteration = counts.index(fewest) + 1 if counts else 0
    limit = _ITERATIONS if fewest < _MANY else _ITERATIONS_OF_MANY
    if len(counts) - iteration >= limit:
        raise UnroutedError(
            f"nextpnr does not route all nets: more than one wanted {fewest} wires in iteration {iteration}, and not "
            f"fewer in {limit} iterations since"
        )
