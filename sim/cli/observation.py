"""Options of ``ctm run`` that observe programs: profiles, timelines, pages and waves."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Annotated

import typer

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.options.files import PAGE, check_ending
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.waves.request import Rerun, WaveRequest, problem_of
from ctm.sim.compiled.tools.package import PLOTLY
from ctm.sim.engines.choice import ENGINES, WATCHED
from ctm.sim.engines.fast.engine import AutoEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.seen import Watching
from ctm.sim.engines.watching.engine import WatchedEngine
from ctm.sim.files import try_files, write_file
from ctm.sim.jobs.arrays import Array
from ctm.sim.jobs.execution import Execution, Run
from ctm.sim.jobs.loading import LoadedJob
from ctm.sim.profile.profile import as_json, profiles
from ctm.sim.profile.text import print_profile, profile_console
from ctm.sim.report.timeline import write_timeline

Profile = Annotated[
    bool,
    typer.Option(
        "--profile", help="Print what each source line issued; on engine rtl also what wavefronts waited for."
    ),
]
Timeline = Annotated[
    Path | None,
    typer.Option(
        "--timeline",
        metavar="FILE.json",
        help="Write a timeline of each wavefront, for ui.perfetto.dev; also .json.gz.",
    ),
]
MostEvents = Annotated[
    int | None,
    typer.Option(
        "--timeline-events",
        min=1,
        metavar="N",
        help="With --timeline: number of events of each core that are kept, from the first on; default: a million.",
    ),
]
PageFile = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="FILE.html", help="Write a page for a browser: outputs, profile, charts, counters."
    ),
]
_MOST_EVENTS = 1_000_000
_PAGE_EVENTS = 200_000
"""Events that a page needs, because a screen has few pixels."""
_COMPRESSED = ".gz"
_TIMELINE = (".json", ".json" + _COMPRESSED)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The observations of a run that the user wants."""

    profile: bool = False
    timeline: Path | None = None
    most_events: int | None = None
    """Of a timeline; None: a million."""
    page: Path | None = None
    waves: WaveRequest | None = None

    @property
    def watching(self) -> Watching | None:
        """What the engine has to record; None if nothing is observed."""
        if self.waves is not None:
            return self.waves.waves
        if self.timeline is not None:
            return Watching(most_events=self.most_events or _MOST_EVENTS)
        if self.page is not None:
            return Watching(most_events=_PAGE_EVENTS)
        return Watching() if self.profile else None

    @property
    def files(self) -> dict[str, Path | None]:
        """The files that are written, by the options that name them."""
        return {
            "--timeline": self.timeline, "--report": self.page,
            "--waves": None if self.waves is None else self.waves.waves.path,
        }  # fmt: skip

    @property
    def _option(self) -> str:
        """The option that a message is about."""
        return "--profile" if self.profile else "--timeline" if self.timeline is not None else "--report"

    def engine(self, name: str, *, is_untimed: bool) -> str:
        """The engine that runs the job: `name`, or one that can be observed if `name` cannot.

        `is_untimed`: whether only engines without times do the job, or what else is wanted of it.

        Raises
        ------
        BadInput
            There is none.
        """
        if self.waves is not None:
            if self.profile or self.timeline is not None or self.page is not None:
                raise BadInput(f"--waves: not together with {self._option}; runs are deterministic, so run it twice")
            return self.waves.engine(name)
        if self.watching is None or name in WATCHED:
            return name
        if name == AutoEngine.name and not is_untimed and (self.timeline is not None or self.page is not None):
            return WatchedEngine.name
        if name not in ENGINES or ENGINES[name].counts_cycles:
            raise BadInput(f"{self._option}: engine '{name}' cannot be watched; {' and '.join(WATCHED)} can")
        if name != AutoEngine.name:
            typer.echo(f"note: engine 'golden' runs it, which counts for each instruction what '{name}' does", err=True)
        return GoldenEngine.name

    def check(self, job: LoadedJob) -> None:
        """Reject a job that cannot be observed as wanted, and a file that cannot be written."""
        if self.most_events is not None and self.timeline is None:
            raise BadInput("--timeline-events: it needs --timeline FILE")
        check_ending("--timeline", self.timeline, _TIMELINE)
        check_ending("--report", self.page, PAGE)
        if self.page is not None:
            PLOTLY.require()
        try_files({path: 0 for path in (self.timeline, self.page) if path is not None}, make_folders=True)
        if self.waves is not None:
            self.waves.check(job)
        if self.waves is not None and self.waves.waves.path is not None:
            try_files({self.waves.waves.path: 0})

    def located(self, rerun: Rerun) -> "Observation":
        """The same with a window for waves, see `WaveRequest.located`."""
        return self if self.waves is None else replace(self, waves=self.waves.located(rerun))

    def end(self, outcome: Outcome, execution: Execution) -> None:
        """Close the files that were written while the job ran, whether or not it has failed."""
        if self.waves is not None:
            self.waves.end(outcome, execution)

    def report(self, outcome: Outcome, execution: Execution, result: Run | None, config: MachineConfig) -> None:
        """Print and write what was wanted, of a job that failed (`result` None) as far as it ran.

        Raises
        ------
        BadInput
            The window of waves never came.
        """
        problem = problem_of(outcome.fields) if result is not None else None
        if problem is not None:
            raise BadInput(problem)
        if self.profile:
            _print_profiles(outcome, execution)
        if self.timeline is not None:
            _save_timeline(outcome, self.timeline, execution, config)
        if self.page is not None:
            outputs = {} if result is None else result.outputs
            _save_page(outcome, self.page, execution, outputs, config)


def _print_profiles(outcome: Outcome, execution: Execution) -> None:
    found = profiles(execution.device.seen(), execution.programs())
    outcome.fields["profile"] = [as_json(profile) for profile in found]
    if not outcome.json_wanted:
        console = profile_console()
        for profile in found:
            console.print()
            print_profile(profile, console)


def _save_timeline(outcome: Outcome, path: Path, execution: Execution, config: MachineConfig) -> None:
    seen = execution.device.seen()
    if seen.lost_events:
        end = int(seen.events["cycle"][-1]) if seen.events.size else 0
        lost = f"{seen.lost_events:,} events were left out, and --timeline-events keeps more"
        unit = "cycle" if seen.has_times else "step"
        typer.echo(f"note: the timeline ends at {unit} {end:,}: {lost}", err=True)
    data = BytesIO()
    count = write_timeline(data, seen, execution.programs(), config, compressed=path.suffix.lower() == _COMPRESSED)
    write_file(path, data.getvalue(), make_folders=True)
    outcome.say(f"timeline: {path}, {count:,} events, for ui.perfetto.dev")


def _save_page(
    outcome: Outcome, path: Path, execution: Execution, outputs: Mapping[int | str, Array], config: MachineConfig
) -> None:
    # Plotly is an optional package.
    from ctm.sim.report.page.page import Ran, page_of

    ran = Ran(
        name=execution.name, command=shlex.join(["ctm", *sys.argv[1:]]), engine=execution.device.ran, config=config,
        report=execution.device.report(), programs=execution.programs(), seen=execution.device.seen(),
        outputs={f"output {key}" if isinstance(key, int) else key: array for key, array in outputs.items()},
    )  # fmt: skip
    write_file(path, page_of(ran).encode(), make_folders=True)
    outcome.say(f"report: {path}")
