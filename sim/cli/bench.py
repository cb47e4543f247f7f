"""``ctm bench``: how fast engines run."""

from typing import Annotated

import typer
from rich.console import Console

from ctm.rtl.config import DEFAULT_PRESETS
from ctm.sim.cli.options import Json, Preset, Settings, configuration, one_of, prepare_engine
from ctm.sim.cli.outcome import BadInput, Mismatch, Outcome
from ctm.sim.engines.fast.engine import FastEngine
from ctm.sim.engines.golden import GoldenEngine
from ctm.sim.engines.rtl import RtlEngine

MEASURED = (GoldenEngine.name, FastEngine.name, RtlEngine.name)


def bench(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help=f"{', '.join(MEASURED)}; all without.", autocompletion=one_of(MEASURED)),
    ] = None,
    preset: Preset = None,
    settings: Settings = None,
    json_wanted: Json = False,
) -> None:
    """Measure an engine with programs of examples/: golden its speed, fast the same beside golden, rtl cycles and speed."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if name is not None and name not in MEASURED:
            raise BadInput(f"bench: there are no figures of '{name}'; there are: {', '.join(MEASURED)}")
        config = configuration(preset, settings)
        # Imported here, because they read the examples, which nothing else needs.
        from ctm.sim.report import benchmark, cycles, r700_workloads, speedup, workloads

        names = MEASURED if name is None else (name,)
        for engine in names:
            prepare_engine(engine, config)
        try:
            with Console(stderr=True).status("") as status:
                if names != (RtlEngine.name,):
                    status.update("computing in numpy what has to come out")
                    listed = [*workloads.workloads(), *r700_workloads.workloads()]
                    machines = {kind: configuration(preset, settings, kind=kind) for kind in DEFAULT_PRESETS}
                if GoldenEngine.name in names:
                    found = benchmark.measure_all(listed, GoldenEngine.name, machines, status.update)
                    outcome.fields |= benchmark.as_fields(found)
                if FastEngine.name in names:
                    speedups = speedup.measure_all(listed, machines, status.update)
                    outcome.fields |= speedup.as_fields(speedups)
                if RtlEngine.name in names:
                    counted = cycles.measure_all(RtlEngine.name, config, status.update)
                    succession = cycles.measure_succession(RtlEngine.name, config)
                    outcome.fields |= cycles.as_fields(counted, succession)
                if GoldenEngine.name not in names:
                    outcome.fields["calibration_rate"] = benchmark.calibrate()
        except benchmark.WrongResultError as error:
            raise Mismatch(str(error)) from None
        if json_wanted:
            return
        if GoldenEngine.name in names:
            benchmark.print_measurements(GoldenEngine.name, found)
        if FastEngine.name in names:
            speedup.print_speedups(speedups)
        if RtlEngine.name in names:
            cycles.print_cycles(RtlEngine.name, counted, succession)
