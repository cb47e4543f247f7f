"""``ctm run``: run a job."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer

from ctm.rtl.config import MachineConfig
from ctm.rtl.isa.status import Status
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
from ctm.sim.cli.outcome import BadInput, Mismatch, Outcome
from ctm.sim.cli.split.command import run_split
from ctm.sim.cli.split.options import Authority, Certificate, Division, Key, Scheduler, Split, Workers, tiles
from ctm.sim.cli.waves.request import WaveFile, WavesAround, WavesAt, WavesCycles, WavesDepth, WavesFrom, wave_request
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.files import is_same_file, try_files, write_file
from ctm.sim.jobs.destinations import Destinations, made_of
from ctm.sim.jobs.drawing import draw_problem, draws_in_hardware
from ctm.sim.jobs.ending import Ending
from ctm.sim.jobs.execution import (
    Execution,
    Run,
    check_kinds,
    count_difference,
    first_difference,
    processors,
)
from ctm.sim.jobs.loading import LoadedJob, load_job
from ctm.sim.jobs.sample import Sample, sample
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
        check_engine(engine, None, port=port, hazards=hazards, trace=trace is not None)
        observation = Observation(
            profile=profile, timeline=timeline, most_events=most_events, page=report,
            waves=wave_request(waves, waves_from, waves_cycles, waves_around, waves_at, waves_depth),
        )  # fmt: skip
        loaded = load_job(job, output)
        is_untimed = loaded.draw is not None or hazards or trace is not None
        engine = observation.engine(engine, is_untimed=is_untimed)
        check_engine(engine, max_cycles, port=port, hazards=hazards, trace=trace is not None)
        config = configuration(preset, settings, kind=loaded.kinds[0], draws=draws_in_hardware(loaded, engine))
        for warning in loaded.warnings:
            typer.echo(f"warning: {warning}", err=True)
        try_outputs(loaded)
        others = {"--trace": trace, "--timeline": timeline, "--report": report, "--waves": waves}
        _check_files(loaded, others, pictures=png)
        lines = _trace(trace, loaded)
        check_kinds(loaded, config)
        observation.check(loaded)
        problem = draw_problem(loaded, engine, config)
        if problem:
            raise BadInput(f"--engine {engine}: {problem}")
        prepare_engine(engine, config, observation.watching)
        observation = observation.located(
            lambda watch: Execution(
                loaded, engine=engine, config=config, watchdog=watchdog, max_cycles=max_cycles, watch=watch
            )
        )
        execution, result = _executed(
            outcome, loaded, observation, config, lines, trace,
            engine=engine, watchdog=watchdog, hazards=hazards, max_cycles=max_cycles, port=port,
        )  # fmt: skip
        checked = ""
        if check or check_all:
            checked = _checked(loaded, result, execution.device.ran, config, watchdog, whole=check_all)
        save(loaded, result)
        if png:
            _save_pictures(outcome, loaded, result)
        outcome.fields["outputs"] = {str(key): str(path) for key, path in loaded.files.items()}
        _summarise(outcome, config, result, loaded.files, checked)
        observation.report(outcome, execution, result, config)


def _executed(
    outcome: Outcome,
    loaded: LoadedJob,
    observation: Observation,
    config: MachineConfig,
    lines: StringIO | None,
    trace: Path | None,
    *,
    watchdog: int,
    **options: Any,
) -> tuple[Execution, Run]:
    """Run a job, with what it counted in the outcome; `options` are those of `Execution`, `trace` takes the lines."""
    with (
        run_progress(processors(loaded), watchdog) as progress,
        Ending(loaded, config, watchdog) as ending,
    ):
        execution = Execution(
            loaded, config=config, watchdog=watchdog, progress=progress.advance, trace=lines,
            watch=observation.watching, **options,
        )  # fmt: skip
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
            if trace is not None and lines is not None:
                write_file(trace, lines.getvalue().encode(), make_folders=True)


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
"""Most processors of a domain that is traced: a line is kept for each instruction of their wavefronts."""


def _trace(file: Path | None, loaded: LoadedJob) -> StringIO | None:
    """Where the lines of a trace go until the run has ended."""
    if file is None:
        return None
    count = processors(loaded)
    if count > _MOST_TRACED:
        raise BadInput(f"--trace: {count:,} processors are more than {_MOST_TRACED:,}: make the domain smaller")
    try_files({file: 0}, make_folders=True)
    return StringIO()


_NOTHING_RAN: dict[str, object] = {
    "cycles": None, "instructions": 0, "lane_instructions": 0, "counters": {}, "outputs": {},
}  # fmt: skip


def _checked(loaded: LoadedJob, result: Run, ran: str, config: MachineConfig, watchdog: int, *, whole: bool) -> str:
    """Compare with the golden model, and return the text of a summary."""
    part = sample(loaded) if ran == FastEngine.name and not whole else None
    _check(loaded, result, part, ran, config, watchdog)
    said = ", equal to the golden model in every bit"
    if part is not None:
        said += f" of a sample of {part.processors:,} processors; --check-all compares all"
    return said


def _check(
    loaded: LoadedJob, result: Run, part: Sample | None, engine: str, config: MachineConfig, watchdog: int
) -> None:
    """Compare with the golden model, all or a part; the golden engine itself with wavefronts of another size.

    They have the same size if a program can see it. Counters are compared if wavefronts and domain are the same.
    """
    sees_size = any(launch.program.executable.sees_group_size for launch in loaded.launches)
    has_other_groups = engine == GoldenEngine.name and not sees_size
    if has_other_groups:
        config = replace(config, array=config.array.with_wavefront(16 if config.array.wavefront_lanes == 4 else 4))
    golden = Execution(loaded if part is None else part.job, engine="golden", config=config, watchdog=watchdog).run()
    if part is not None:
        result, golden = part.of(result), part.of(golden)
    difference = first_difference(result, golden)
    # Hardware shades a vertex again that comes in several batches.
    if difference is None and part is None and not has_other_groups and not draws_in_hardware(loaded, engine):
        difference = count_difference(result, golden)
    if difference is not None:
        raise Mismatch(f"{difference}{_hazard(loaded, config, watchdog)}")


def _hazard(loaded: LoadedJob, config: MachineConfig, watchdog: int) -> str:
    """The message of a hazard that may explain a difference; empty if the job has none."""
    try:
        Execution(loaded, engine="golden", config=config, watchdog=watchdog, hazards=True).run()
    except MachineError as error:
        if error.status is Status.HAZARD:
            return f"\na likely reason, which --engine golden --hazards reports too: {error}"
    return ""


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
