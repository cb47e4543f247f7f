"""``ctm run``: run a job."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.comparison import compare
from ctm.sim.cli.observation import MostEvents, Observation, PageFile, Profile, Timeline
from ctm.sim.cli.options.engines import (
    DEFAULT_WATCHDOG,
    EngineName,
    MaxCycles,
    Port,
    Watchdog,
    check_engine,
    prepare_engine,
)
from ctm.sim.cli.options.machine import Json, Preset, Settings, configuration
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.split.command import run_split
from ctm.sim.cli.split.options import Authority, Certificate, Division, Key, Scheduler, Split, Workers, tiles
from ctm.sim.cli.waves.request import WaveFile, WavesAround, WavesAt, WavesCycles, WavesDepth, WavesFrom, wave_request
from ctm.sim.engines.engine import Progress
from ctm.sim.engines.seen import Watching
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.files import is_same_file, try_files, write_file
from ctm.sim.jobs.destinations import Destinations, made_of
from ctm.sim.jobs.drawing import draw_problem, draws_in_hardware
from ctm.sim.jobs.ending import Ending
from ctm.sim.jobs.execution import Execution, Run, check_kinds, pixels
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.saving import picture_files, save, save_pictures, try_outputs
from ctm.sim.report.progress import run_progress
from ctm.sim.report.provenance import provenance
from ctm.sim.report.utilisation import draws_text, utilisation


def run(
    job: Annotated[Path, typer.Argument(metavar="JOB.toml", help="The job.", show_default=False)],
    engine: EngineName = "auto",
    preset: Preset = None,
    settings: Settings = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder of outputs; default: beside the job.")
    ] = None,
    json_wanted: Json = False,
    check: Annotated[
        bool, typer.Option("--check", help="Compare every bit with the golden model; of large domains a sample.")
    ] = False,
    check_all: Annotated[bool, typer.Option("--check-all", help="As --check, but all of a large domain.")] = False,
    watchdog: Watchdog = DEFAULT_WATCHDOG,
    max_cycles: MaxCycles = None,
    port: Port = None,
    hazards: Annotated[
        bool, typer.Option("--hazards", help="Report each read of a result that the program has not waited for.")
    ] = False,
    png: Annotated[bool, typer.Option("--png", help="Write a picture beside each output, clamped to 0..1.")] = False,
    profile: Profile = False,
    timeline: Timeline = None,
    most_events: MostEvents = None,
    report: PageFile = None,
    waves: WaveFile = None,
    waves_from: WavesFrom = None,
    waves_cycles: WavesCycles = None,
    waves_around: WavesAround = None,
    waves_at: WavesAt = None,
    waves_depth: WavesDepth = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Write each wavefront's masks after each instruction, as text."),
    ] = None,
    split: Split = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    tls_ca: Authority = None,
    tls_cert: Certificate = None,
    tls_key: Key = None,
) -> None:
    """Run a job and write its outputs, .npy or .png."""
    outcome = Outcome(json_wanted=json_wanted, engine=engine, **_NOTHING_RAN)
    with outcome.reported():
        division = Division(
            count=tiles(split), workers=workers, scheduler=scheduler,
            certificates={"--tls-ca": tls_ca, "--tls-cert": tls_cert, "--tls-key": tls_key},
        )  # fmt: skip
        division.check({
            "--check": check or check_all, "--hazards": hazards, "--profile": profile, "--timeline": timeline,
            "--report": report, "--waves": waves, "--trace": trace, "--png": png, "--port": port,
        })  # fmt: skip
        if split is not None:
            run_split(
                outcome, division, job, output, engine=engine, preset=preset, changes=settings, watchdog=watchdog,
                max_cycles=max_cycles,
            )  # fmt: skip
            return
        request = _Request(
            engine=engine, preset=preset, settings=settings, watchdog=watchdog, max_cycles=max_cycles, port=port,
            hazards=hazards, trace=trace, png=png,
        )  # fmt: skip
        check_engine(engine, None, port=port, hazards=hazards, trace=trace is not None)
        observation = Observation(
            profile=profile, timeline=timeline, most_events=most_events, page=report,
            waves=wave_request(waves, waves_from, waves_cycles, waves_around, waves_at, waves_depth),
        )  # fmt: skip
        prepared = _prepared(request, load_job(job, output), observation)
        execution, result = _executed(outcome, prepared)
        loaded, checked = prepared.loaded, ""
        if check or check_all:
            checked = compare(loaded, result, execution.device.ran, prepared.config, watchdog, whole=check_all)
        save(loaded, result)
        if png:
            _save_pictures(outcome, loaded, result)
        outcome.fields["outputs"] = {str(key): str(path) for key, path in loaded.files.items()}
        _summarise(outcome, prepared.config, result, loaded.files, checked)
        prepared.observation.report(outcome, execution, result, prepared.config)


@dataclass(frozen=True, kw_only=True)
class _Request:
    """What the options say of the engine, its machine and its limits, and of files beside the outputs."""

    engine: str
    preset: str | None
    settings: list[str] | None
    watchdog: int
    max_cycles: int | None
    port: str | None
    hazards: bool
    trace: Path | None
    png: bool


@dataclass(frozen=True, kw_only=True)
class _Prepared:
    """A job that has passed all checks, its engine built: it can run."""

    loaded: LoadedJob
    request: _Request
    """With the engine that runs, where the user left the choice."""
    config: MachineConfig
    observation: Observation
    lines: StringIO | None
    """Takes the lines of a trace; None without one."""

    def execution(self, watch: Watching | None, progress: Progress | None = None) -> Execution:
        """A new execution of the job, recorded as `watch` says."""
        request = self.request
        return Execution(
            self.loaded, engine=request.engine, config=self.config, watchdog=request.watchdog, progress=progress,
            hazards=request.hazards, max_cycles=request.max_cycles, trace=self.lines, port=request.port, watch=watch,
        )  # fmt: skip


def _prepared(request: _Request, loaded: LoadedJob, observation: Observation) -> _Prepared:
    """Choose engine and machine of a job, check that they can run it and that its files can be written.

    It ends with what takes long: building the engine, and a first run if waves are wanted around an event of it.

    Raises
    ------
    BadInput, JobError, ToolchainError, OSError
        The job cannot run as its options say; no output has been written.
    """
    is_untimed = loaded.draw is not None or request.hazards or request.trace is not None
    engine = observation.engine(request.engine, is_untimed=is_untimed)
    request = replace(request, engine=engine)
    check_engine(
        engine, request.max_cycles, port=request.port, hazards=request.hazards, trace=request.trace is not None
    )
    config = configuration(
        request.preset, request.settings, kind=loaded.kinds[0], draws=draws_in_hardware(loaded, engine)
    )
    for warning in loaded.warnings:
        typer.echo(f"warning: {warning}", err=True)
    try_outputs(loaded)
    _check_files(loaded, {"--trace": request.trace, **observation.files}, pictures=request.png)
    lines = _trace(request.trace, loaded)
    check_kinds(loaded, config)
    observation.check(loaded)
    problem = draw_problem(loaded, engine, config)
    if problem:
        raise BadInput(f"--engine {engine}: {problem}")
    prepare_engine(engine, config, observation.watching)
    prepared = _Prepared(loaded=loaded, request=request, config=config, observation=observation, lines=lines)
    return replace(prepared, observation=observation.located(prepared.execution))


def _executed(outcome: Outcome, prepared: _Prepared) -> tuple[Execution, Run]:
    """Run a job, with what it counted in the outcome; a trace is written whether or not it fails."""
    loaded, config, watchdog = prepared.loaded, prepared.config, prepared.request.watchdog
    observation = prepared.observation
    with (
        run_progress(pixels(loaded), watchdog) as progress,
        Ending(loaded, config, watchdog) as ending,
    ):
        execution = prepared.execution(observation.watching, progress.advance)
        progress.standing, progress.ask = execution.device.standing, ending.ask
        try:
            return execution, execution.run()
        except (MachineError, CycleLimitError):
            observation.report(outcome, execution, None, config)
            raise
        finally:
            outcome.add_report(execution.device.report())
            outcome.fields["engine"] = execution.device.ran
            outcome.fields |= provenance(config, execution.programs())
            observation.end(outcome, execution)
            for remark in execution.device.remarks:
                typer.echo(f"note: {remark}", err=True)
            if prepared.request.trace is not None and prepared.lines is not None:
                write_file(prepared.request.trace, prepared.lines.getvalue().encode(), make_folders=True)


def _check_files(loaded: LoadedJob, wanted: Mapping[str, Path | None], *, pictures: bool) -> None:
    """Reject files of options that would replace what the job is made of, an output, or each other."""
    taken = [*made_of(loaded.job, loaded.path)]
    taken += [(file, f"output {key}" if isinstance(key, int) else key) for key, file in loaded.files.items()]
    made = [("--png", file) for file in picture_files(loaded).values() if pictures]
    for option, file in (*made, *wanted.items()):
        if file is None:
            continue
        for other, name in taken:
            if is_same_file(file, other):
                raise BadInput(f"{option} {file}: it would replace {name}; choose another name or folder")
        taken.append((file, f"what {option} writes"))


def _save_pictures(outcome: Outcome, loaded: LoadedJob, result: Run) -> None:
    for picture, clamped in save_pictures(loaded, result):
        outcome.say(f"picture: {picture}")
        if clamped:
            typer.echo(f"warning: {picture}: every value is outside of 0..1 and was clamped", err=True)


_MOST_TRACED = 4096
"""Most pixels of a domain that is traced: a line is kept for each instruction of their wavefronts."""


def _trace(file: Path | None, loaded: LoadedJob) -> StringIO | None:
    """Where the lines of a trace go until the run has ended."""
    if file is None:
        return None
    count = pixels(loaded)
    if count > _MOST_TRACED:
        raise BadInput(f"--trace: {count:,} pixels are more than {_MOST_TRACED:,}: make the domain smaller")
    try_files({file: 0}, make_folders=True)
    return StringIO()


_NOTHING_RAN: dict[str, object] = {
    "cycles": None, "instructions": 0, "lane_instructions": 0, "counters": {}, "outputs": {},
}  # fmt: skip


def _summarise(outcome: Outcome, config: MachineConfig, result: Run, files: Destinations, checked: str) -> None:
    for key, path in files.items():
        outcome.say(f"{'output ' if isinstance(key, int) else ''}{key}: {path}")
    report = result.report
    cycles = "" if report.cycles is None else f"{report.cycles:,} cycles, "
    outcome.say(
        f"{cycles}{report.instructions:,} instructions, {report.lane_instructions:,} lane instructions{checked}"
    )
    if report.cycles is not None:
        used = utilisation(report.counters, cycles=report.cycles, array=config.array)
        outcome.fields["utilisation"] = asdict(used)
        outcome.say(str(used))
        drawn = draws_text(report.counters)
        if drawn:
            outcome.say(drawn)
