"""A whole machine placed and routed: the netlists of its units, linked, between registers."""

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from pathlib import Path
from typing import Any

from ctm.sim.compiled.tools.programs import Result, Tools, check
from ctm.sim.files import write_file
from ctm.sim.synthesis.devices import Nextpnr
from ctm.sim.synthesis.linking import LinkedNames, link
from ctm.sim.synthesis.report import Placement, placement
from ctm.sim.synthesis.tool import command, read_json

_OPTIONS = ("--timing-allow-fail", "--quiet")
_NETLIST, _REPORT, _LOG = "linked.json", "report.json", "nextpnr.log"
_LOOK = 2.0
"""Seconds between two looks at what the tool has to say."""
_INFO = "Info:"


def place(
    modules: Mapping[str, Mapping[str, Any]],
    top: str,
    *,
    nextpnr: Nextpnr,
    frequency: float,
    seeds: Iterable[int],
    folder: Path,
    tools: Tools,
    progress: Callable[[str], None],
    options: Sequence[str],
) -> tuple[Placement, ...]:
    """Place and route a design of these modules, once for each seed; `frequency`, in MHz, is what is aimed at.

    `options` are more of nextpnr's, for its pins; it works in `folder`.

    Raises
    ------
    ToolchainError
        nextpnr is missing or failed, as it does where the design does not fit.
    """
    nextpnr.package.require()
    write_file(folder / _NETLIST, json.dumps(link(modules, top)).encode())
    names = LinkedNames(modules, top)
    found = []
    for seed in seeds:
        aim = (*nextpnr.options, *_OPTIONS, "--freq", str(frequency), "--seed", str(seed), "--json", _NETLIST)
        run = tools.start(
            command(nextpnr.package, nextpnr.function, *aim, *options, "--report", _REPORT, "--log", _LOG), folder
        )
        _watch(run, folder / _LOG, lambda text, seed=seed: progress(f"seed {seed}: {text}"))  # type: ignore[misc]
        check(run.result(), nextpnr.package.distribution)
        found.append(placement(read_json(folder / _REPORT), names, seed))
    return tuple(found)


def _watch(run: Future[Result], log: Path, progress: Callable[[str], None]) -> None:
    """Tell what a tool wrote last, and for how long it has been at work."""
    start = time.monotonic()
    progress("placing")
    while not wait_for([run], timeout=_LOOK).done:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        last = next((line for line in reversed(lines) if line.startswith(_INFO)), "")
        minutes = (time.monotonic() - start) / 60
        progress(f"{minutes:.0f} min, {' '.join(last.removeprefix(_INFO).split())}")
