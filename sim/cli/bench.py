"""``ctm bench``: how fast engines run."""

from collections.abc import Callable, Mapping
from functools import cache
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

    counted = cycles.measure_all(RtlEngine.name, config, tell)
    succession = cycles.measure_succession(RtlEngine.name, config)
    fields = cycles.as_fields(counted, succession)
    return fields, lambda: cycles.print_cycles(RtlEngine.name, counted, succession)


def _workloads(tell: Tell) -> list[Any]:
    from ctm.sim.report import r700_workloads, workloads

    tell("computing in numpy what has to come out")
    return [*workloads.workloads(), *r700_workloads.workloads()]


ENGINES: Mapping[str, Callable[[MachineConfig, Machines, Listed, Tell], Figures]] = {
    GoldenEngine.name: _golden,
    FastEngine.name: _fast,
    RtlEngine.name: _rtl,
}
"""Who measures an engine."""


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help=f"{', '.join(ENGINES)}; all without.", autocompletion=one_of(ENGINES)),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    json_wanted: Json = False,
) -> None:
    """Measure engines with programs of examples/: golden's speed, fast beside golden, rtl's cycles and speed."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if name is not None and name not in ENGINES:
            raise BadInput(f"bench: there are no figures of '{name}'; there are: {', '.join(ENGINES)}")
        config = configuration(preset, settings)
        # Imported here, because it reads the examples, which nothing else needs.
        from ctm.sim.report.benchmark import WrongResultError, calibrate

        names = ENGINES if name is None else {name: ENGINES[name]}
        for engine in names:
            prepare_engine(engine, config)
        machines = {kind: configuration(preset, settings, kind=kind) for kind in DEFAULT_PRESETS}
        try:
            with Console(stderr=True).status("") as status:
                listed = cache(lambda: _workloads(status.update))
                figures = [measure(config, machines, listed, status.update) for measure in names.values()]
        except WrongResultError as error:
            raise Mismatch(str(error)) from None
        for fields, _ in figures:
            outcome.fields |= fields
        if "calibration_rate" not in outcome.fields:
            outcome.fields["calibration_rate"] = calibrate()
        if not json_wanted:
            for _, show in figures:
                show()
