"""``ctm bench``: how fast engines run."""

from typing import Annotated

import typer
from rich.console import Console

from rtl.config import DEFAULT
from sim.cli.options import Json, check_engine
from sim.cli.outcome import BadInput, Mismatch, Outcome
from sim.engines.choice import ENGINES


def bench(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help=f"{', '.join(ENGINES)}; all without.")] = None,
    json_wanted: Json = False,
) -> None:
    """Measure how fast an engine runs programs of examples/."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if name is not None:
            check_engine(name, None)
        try:
            # Imported here, because an installed package has no examples/ and needs none for anything else.
            from sim.report import benchmark
            from sim.report.workloads import workloads
        except ModuleNotFoundError as error:
            raise BadInput(f"bench runs the programs of examples/, which are not here: {error}") from None
        console = Console(stderr=True)
        with console.status("calibrating") as status:
            calibration = benchmark.calibrate()
            status.update("computing in numpy what has to come out")
            listed = workloads()
            measurements: dict[str, list[benchmark.Measurement]] = {}
            for engine in ENGINES if name is None else [name]:
                measurements[engine] = []
                for workload in listed:
                    status.update(f"{workload.name} on engine {engine}")
                    try:
                        found = benchmark.measure(workload, engine, DEFAULT, calibration)
                    except benchmark.WrongResultError as error:
                        raise Mismatch(str(error)) from None
                    measurements[engine].append(found)
        outcome.fields |= benchmark.as_fields(calibration, measurements)
        if not json_wanted:
            benchmark.print_measurements(calibration, measurements)
