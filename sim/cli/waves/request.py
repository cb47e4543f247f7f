"""The wave that ``ctm run`` writes."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.engines.choice import TRACED
from ctm.sim.engines.fast.engine import AutoEngine
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.engines.waves.window import FORMATS, MOST, VCD, Waves, Written
from ctm.sim.fault import CycleLimitError, MachineError
from ctm.sim.files import is_stream
from ctm.sim.jobs.execution import Execution
from ctm.sim.jobs.loading import LoadedJob

_PANEL = "Waves"
WaveFile = Annotated[
    Path | None,
    typer.Option(
        "--waves", metavar="FILE", rich_help_panel=_PANEL,
        help=f"Write every signal in every cycle, for GTKWave and Surfer; {', '.join(FORMATS)}.",
    ),
]  # fmt: skip
WavesFrom = Annotated[
    int | None,
    typer.Option("--waves-from", metavar="CYCLE", min=0, help="The wave's first cycle.", rich_help_panel=_PANEL),
]
WavesCycles = Annotated[
    int | None,
    typer.Option("--waves-cycles", metavar="N", min=1, help="Most cycles of the wave.", rich_help_panel=_PANEL),
]
WavesAround = Annotated[
    str | None,
    typer.Option(
        "--waves-around", metavar="fault|end",
        help="Only 2,000 cycles, or --waves-cycles: around the first fault, or the last ones. Runs the job twice.",
        rich_help_panel=_PANEL,
    ),
]  # fmt: skip
WavesAt = Annotated[
    str | None,
    typer.Option(
        "--waves-at",
        metavar="I,J",
        help="Only the cycles in which the wavefront of pixel (I, J) has a wave slot.",
        rich_help_panel=_PANEL,
    ),
]
WavesDepth = Annotated[
    int | None,
    typer.Option(
        "--waves-depth", metavar="N", min=0,
        help="Also the words of memories with at most N words; each N compiles a model.", rich_help_panel=_PANEL,
    ),
]  # fmt: skip
FAULT, END = "fault", "end"
_CYCLES = 2_000
"""Default length of a window around an event, in cycles."""
_AFTER = 4
"""A window around a fault has a quarter of its cycles after it."""

Rerun = Callable[[Waves], Execution]
"""Makes an execution of the job that is recorded as a `Waves` says."""


@dataclass(frozen=True, kw_only=True)
class WaveRequest:
    """A wave, and where `around` is given, what its window is around."""

    waves: Waves
    around: str | None = None

    def engine(self, name: str) -> str:
        """The engine that writes the wave: `name`, or engine `rtl` for ``auto``; BadInput if `name` writes none."""
        if name == AutoEngine.name:
            return RtlEngine.name
        if name not in TRACED:
            raise BadInput(f"--waves: engine '{name}' writes none; {' and '.join(map(repr, TRACED))} can")
        if name != RtlEngine.name and (self.waves.suffix != VCD or self.around or self.waves.at or self.waves.depth):
            raise BadInput(f"--waves: engine '{name}' writes {VCD} only, --waves-from and --waves-cycles of it")
        return name

    def check(self, job: LoadedJob) -> None:
        """Reject a pixel that no launch has, before a model is compiled; of draws only the run can tell."""
        if self.waves.at is None or job.draw is not None:
            return
        i, j = self.waves.at
        domains = [(launch.section.domain_i, launch.section.domain_j) for launch in job.launches]
        if not any(first <= i <= last and begin <= j <= end for (first, last), (begin, end) in domains):
            raise BadInput(f"--waves-at {i},{j}: {self._no_wavefront()}")

    def located(self, rerun: Rerun) -> "WaveRequest":
        """The same with the window around its event, which a first run of the whole job finds: runs are deterministic.

        Raises
        ------
        BadInput
            There is no fault.
        """
        if self.around is None:
            return self
        execution = rerun(replace(self.waves, path=None))
        try:
            execution.run()
        except (MachineError, CycleLimitError):
            # The second run has it again, and tells of it.
            pass
        found = execution.device.end_waves()
        cycles = self.waves.cycles or _CYCLES
        if self.around == END:
            # The last one is that of the interrupt.
            first = found.cycles + 1 - cycles
        elif found.fault is None:
            raise BadInput(f"--waves-around {FAULT}: there is none in {found.cycles:,} cycles")
        else:
            first = found.fault - cycles + cycles // _AFTER
        return WaveRequest(waves=replace(self.waves, first=max(0, first), cycles=cycles))

    def end(self, outcome: Outcome, execution: Execution) -> None:
        """Close the file and report its cycles; the outcome has the reason of a missing wave, see `problem_of`."""
        has_failed = sys.exc_info()[1] is not None
        noted: dict[str, Any] = {"file": str(self.waves.path)}
        outcome.fields["waves"] = noted
        try:
            written = execution.device.end_waves()
        except OSError as error:
            noted["problem"] = f"--waves {self.waves.path}: {error.strerror}; the wave is not complete"
        else:
            noted |= {"first": written.first, "end": written.end}
            if written.first is not None and written.end is not None:
                outcome.say(f"waves: {self.waves.path}, cycles {written.first:,} to {written.end - 1:,}")
                self._add_views(outcome, noted, execution)
            else:
                noted["problem"] = self._never(written)
        if has_failed and "problem" in noted:
            typer.echo(f"warning: {noted['problem']}", err=True)

    def _add_views(self, outcome: Outcome, noted: dict[str, Any], execution: Execution) -> None:
        """Write what viewers load with it; Amaranth's simulator has another hierarchy and no observer."""
        path, device = self.waves.path, execution.device
        if path is None or is_stream(path) or device.ran != RtlEngine.name:
            return
        # It imports the cores' hardware, for which runs without a wave should not wait.
        from ctm.sim.report.waves.viewers import write_views

        try:
            views = write_views(path, device.config, execution.programs())
        except OSError as error:
            noted["problem"] = f"--waves {path}: its views were not written: {error.filename}: {error.strerror}"
            return
        noted["views"] = [str(view) for view in views]
        listed = (f"{view} (kept as it was)" if was_there else str(view) for view, was_there in views.items())
        outcome.say(f"views: {', '.join(listed)}")

    def _no_wavefront(self) -> str:
        return f"no wavefront has that pixel; {self.waves.path} is not written"

    def _never(self, written: Written) -> str:
        """Why there is no wave."""
        if self.waves.at is not None and self.waves.first < written.cycles:
            i, j = self.waves.at
            return f"--waves-at {i},{j}: {self._no_wavefront()}"
        return (f"--waves-from {self.waves.first}: the job's last interrupt is in cycle {written.cycles:,}; "
                f"{self.waves.path} is not written")  # fmt: skip


def wave_request(
    path: Path | None,
    first: int | None,
    cycles: int | None,
    around: str | None,
    at: str | None,
    depth: int | None,
) -> WaveRequest | None:
    """The wave that the options describe; None if there is no ``--waves``.

    Raises
    ------
    BadInput
        They do not go together, or one has no meaning.
    """
    given = {"--waves-from": first, "--waves-cycles": cycles, "--waves-around": around, "--waves-at": at,
             "--waves-depth": depth}  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if path is None:
        if named:
            raise BadInput(f"{named[0]}: it needs --waves FILE")
        return None
    if around is not None and around not in (FAULT, END):
        raise BadInput(f"--waves-around {around}: it is {FAULT} or {END}")
    if around is not None and (first is not None or at is not None):
        raise BadInput(f"--waves-around: not together with {'--waves-from' if at is None else '--waves-at'}")
    for name, number in (("--waves-from", first), ("--waves-cycles", cycles), ("--waves-depth", depth)):
        if number is not None and number > MOST:
            raise BadInput(f"{name} {number}: it is {MOST} at most")
    try:
        waves = Waves(path=path, first=first or 0, cycles=cycles, at=_pixel(at), depth=depth or 0)
    except ValueError as error:
        raise BadInput(f"--waves: {error}") from None
    return WaveRequest(waves=waves, around=around)


def _pixel(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    try:
        i, j = (int(number) for number in text.split(","))
    except ValueError:
        raise BadInput(f"--waves-at {text}: write it as I,J") from None
    if i < 0 or j < 0:
        raise BadInput(f"--waves-at {text}: indices are not negative")
    return i, j


def problem_of(fields: dict[str, Any]) -> str | None:
    """Why there is no wave, as `WaveRequest.end` has noted it."""
    waves: dict[str, Any] = fields.get("waves", {})
    problem: str | None = waves.get("problem")
    return problem
