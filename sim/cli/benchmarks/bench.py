"""``ctm bench``: how fast engines run."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ctm.rtl.config import DEFAULT_PRESETS, MachineConfig
from ctm.sim.cli.benchmarks.scale import measure_scale
from ctm.sim.cli.options.engines import prepare_engine
from ctm.sim.cli.options.machine import Json, Preset, Settings, configuration, one_of
from ctm.sim.cli.outcome import BadInput, Mismatch, Outcome
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.rtl import RtlEngine
from ctm.sim.files import STANDARD_OUTPUT, naming

Machines = Mapping[str, MachineConfig]
"""Configurations by the instruction sets of their workloads."""
Tell = Callable[[str], None]
"""Takes the title of the next step."""
Listed = Callable[[], list[Any]]
"""Gives the workloads; their expected results take numpy seconds, once for all engines."""
_DRAWING = "r700"
"""The instruction set of draws' programs."""
Figures = tuple[dict[str, Any], Callable[[], None]]
"""The fields for JSON, and a function that prints a table."""


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


def _draws(config: MachineConfig, machines: Machines, listed: Listed, tell: Tell) -> Figures:
    from ctm.sim.report import draws

    found = draws.measure_all(machines[_DRAWING], tell)
    return draws.as_fields(found), lambda: draws.print_speeds(found)


def _takes(name: str, machines: Machines) -> bool:
    """Whether the machines can do what is measured: an R5xx machine does not draw."""
    return name != DRAWS or machines[_DRAWING].array.instruction_set == _DRAWING


def _workloads(tell: Tell) -> list[Any]:
    from ctm.sim.report import r700_workloads, workloads

    tell("computing the expected results in numpy")
    return [*workloads.workloads(), *r700_workloads.workloads()]


SCALE = "scale"
"""Machines of many cores; not among `ENGINES`, because its models take long to compile."""
DRAWS = "draws"
"""Draws on engines `golden` and `fast`."""
ENGINES: Mapping[str, Callable[[MachineConfig, Machines, Listed, Tell], Figures]] = {
    GoldenEngine.name: _golden,
    FastEngine.name: _fast,
    RtlEngine.name: _rtl,
    DRAWS: _draws,
}
"""Measures an engine, or draws on two of them."""


def bench(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help=f"{', '.join(ENGINES)}; default: all of these. {SCALE}: 1 to 16 cores, about an hour.",
            autocompletion=one_of([*ENGINES, SCALE]),
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help=f"With {SCALE}: plot the result, as .svg or .png.", dir_okay=False),
    ] = None,
    kept: Annotated[
        Path | None,
        typer.Option(
            "--record",
            metavar="FILE",
            dir_okay=False,
            help=f"With {SCALE}: record measurements in this file, and skip those that it has.",
        ),
    ] = None,
    chosen: Annotated[
        list[str] | None,
        typer.Option("--workload", metavar="W", help=f"With {SCALE}: this workload only, as 'matmul 128'; repeatable."),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    json_wanted: Json = False,
) -> None:
    """Measure engines with programs of examples/: speed of golden, speed-up of fast, cycles of rtl, draws."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if name is not None and name not in (*ENGINES, SCALE):
            raise BadInput(f"bench: there are no figures of '{name}'; there are: {', '.join((*ENGINES, SCALE))}")
        _check_options(name, {"--plot": picture, "--record": kept, "--workload": chosen})
        config = configuration(preset, settings)
        # Imported here, because it reads the examples, which nothing else needs.
        from ctm.sim.report.benchmark import WrongResultError, calibrate

        try:
            if name == SCALE:
                origin = {"preset": preset, "settings": settings or []}
                figures = [measure_scale(config, origin, picture=picture, kept=kept, chosen=chosen)]
            else:
                machines = {kind: configuration(preset, settings, kind=kind) for kind in DEFAULT_PRESETS}
                if name is not None and not _takes(name, machines):
                    raise BadInput(f"bench {name}: draws are of {_DRAWING} cores; --preset r700 is a machine with them")
                _prepare(name, machines)
                with Console(stderr=True).status("") as status:
                    figures = _measure(name, config, machines, status.update)
        except WrongResultError as error:
            raise Mismatch(str(error)) from None
        for fields, _ in figures:
            outcome.fields |= fields
        if "calibration_rate" not in outcome.fields:
            outcome.fields["calibration_rate"] = calibrate()
        if not json_wanted:
            with naming(STANDARD_OUTPUT):
                for _, show in figures:
                    show()


def _prepare(name: str | None, machines: Machines) -> None:
    """Compile the engines that are measured."""
    for engine in ENGINES if name is None else (name,):
        for config in machines.values():
            prepare_engine(FastEngine.name if engine == DRAWS else engine, config)


def _measure(name: str | None, config: MachineConfig, machines: Machines, tell: Tell) -> list[Figures]:
    """The figures of one engine, or of all."""
    listed = cache(lambda: _workloads(tell))
    wanted = [each for each in ENGINES if name in (None, each) and _takes(each, machines)]
    return [ENGINES[each](config, machines, listed, tell) for each in wanted]


def _check_options(name: str | None, given: Mapping[str, Any]) -> None:
    """Reject options of the machines of many cores for other benchmarks."""
    for option, value in given.items():
        if value and name != SCALE:
            raise BadInput(f"{option} goes with '{SCALE}' only")
