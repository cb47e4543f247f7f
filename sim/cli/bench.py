"""``ctm bench``: how fast engines run."""

from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ctm.rtl.config import DEFAULT_PRESETS, MachineConfig
from ctm.sim.cli.options import Json, Preset, Settings, configuration, one_of, prepare_engine
from ctm.sim.cli.outcome import BadInput, Mismatch, Outcome
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.rtl import RtlEngine

Machines = Mapping[str, MachineConfig]
"""Configurations by the instruction sets of their workloads."""
Tell = Callable[[str], None]
"""Is told what comes next."""
Listed = Callable[[], list[Any]]
"""Gives the workloads: what numpy computes of them takes seconds, once for all engines."""
Figures = tuple[dict[str, Any], Callable[[], None]]
"""The fields for JSON, and what prints a table."""


def _golden(config: MachineConfig, machines: Machines, listed: Listed, tell: Tell) -> Figures:
    from ctm.sim.report import benchmark

    found = benchmark.measure_all(listed(), GoldenEngine.name, machines, tell)
    return benchmark.as_fields(found), lambda: benchmark.print_measurements(GoldenEngine.name, found)


def _fast(config: MachineConfig, machines: Machines, listed: Listed, tell: Tell) -> Figures:
    from ctm.sim.report import speedup

    found = speedup.measure_all(listed(), machines, tell)
    return speedup.as_fields(found), lambda: speedup.print_speedups(found)


def _rtl(config: MachineConfig, machines: Machines, listed: Listed, tell: Tell) -> Figures:
    from ctm.sim.report import cycles

    counted = cycles.measure_all(RtlEngine.name, machines, tell)
    succession = cycles.measure_succession(RtlEngine.name, config)
    fields = cycles.as_fields(counted, succession)
    return fields, lambda: cycles.print_cycles(RtlEngine.name, counted, succession)


def _workloads(tell: Tell) -> list[Any]:
    from ctm.sim.report import r700_workloads, workloads

    tell("computing in numpy what has to come out")
    return [*workloads.workloads(), *r700_workloads.workloads()]


def _scale(config: MachineConfig, picture: Path | None, tell: Tell) -> Figures:
    from ctm.sim.report import scale

    found = scale.measure_all(RtlEngine.name, config, tell)
    if picture is not None:
        scale.plot(found, picture)
    return scale.as_fields(found), lambda: scale.print_scale(RtlEngine.name, found)


_PICTURES = (".svg", ".png")
SCALE = "scale"
"""Machines of many cores; not among `ENGINES`, because its models take long to compile."""
ENGINES: Mapping[str, Callable[[MachineConfig, Machines, Listed, Tell], Figures]] = {
    GoldenEngine.name: _golden,
    FastEngine.name: _fast,
    RtlEngine.name: _rtl,
}
"""Who measures an engine."""


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=f"{', '.join(ENGINES)}; all of these without. {SCALE}: 1 to 16 cores, about an hour.",
            autocompletion=one_of([*ENGINES, SCALE]),
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help=f"With {SCALE}: draw it, as .svg or .png.", dir_okay=False),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    json_wanted: Json = False,
) -> None:
    """Measure engines with programs of examples/: golden's speed, fast beside golden, rtl's cycles and speed."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if name is not None and name not in (*ENGINES, SCALE):
            raise BadInput(f"bench: there are no figures of '{name}'; there are: {', '.join((*ENGINES, SCALE))}")
        if picture is not None:
            _check_picture(name, picture)
        config = configuration(preset, settings)
        # Imported here, because it reads the examples, which nothing else needs.
        from ctm.sim.report.benchmark import WrongResultError, calibrate

        _prepare(name, config)
        try:
            with Console(stderr=True).status("") as status:
                if name == SCALE:
                    figures = [_scale(config, picture, status.update)]
                else:
                    figures = _measure(name, config, preset, settings, status.update)
        except WrongResultError as error:
            raise Mismatch(str(error)) from None
        for fields, _ in figures:
            outcome.fields |= fields
        if "calibration_rate" not in outcome.fields:
            outcome.fields["calibration_rate"] = calibrate()
        if not json_wanted:
            for _, show in figures:
                show()


def _prepare(name: str | None, config: MachineConfig) -> None:
    """Compile what is measured."""
    if name != SCALE:
        for engine in ENGINES if name is None else (name,):
            prepare_engine(engine, config)
        return
    from ctm.sim.report import scale

    for cores in scale.CORES:
        prepare_engine(RtlEngine.name, scale.machine(config, cores, scale.WIDTHS[0]))


def _measure(
    name: str | None, config: MachineConfig, preset: str | None, settings: list[str] | None, tell: Tell
) -> list[Figures]:
    """Of one engine, or of all."""
    machines = {kind: configuration(preset, settings, kind=kind) for kind in DEFAULT_PRESETS}
    listed = cache(lambda: _workloads(tell))
    return [measure(config, machines, listed, tell) for each, measure in ENGINES.items() if name in (None, each)]


def _check_picture(name: str | None, picture: Path) -> None:
    """Refuse before an hour of work what would fail behind it."""
    if name != SCALE:
        raise BadInput(f"--plot goes with '{SCALE}' only")
    if picture.suffix not in _PICTURES:
        raise BadInput(f"--plot {picture}: the file must end with {' or '.join(_PICTURES)}")
    if not picture.parent.is_dir():
        raise BadInput(f"--plot {picture}: there is no folder {picture.parent}")
    if find_spec("matplotlib") is None:
        raise BadInput("--plot needs matplotlib: pip install 'ctm-machine[plot]'")
