"""``ctm verilog``: the machine as Verilog."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ctm.sim.cli.options.machine import Json, Preset, Settings, configuration
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.jobs.drawing import hardware_problem
from ctm.sim.jobs.execution import check_kinds
from ctm.sim.jobs.loading import load_job
from ctm.sim.report.hardware import TOP, write_hardware


def verilog(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the files.")] = Path("."),
    preset: Preset = None,
    settings: Settings = None,
    testbench: Annotated[
        Path | None, typer.Option("--testbench", metavar="JOB.toml", help="Also a testbench that replays this job.")
    ] = None,
    json_wanted: Json = False,
) -> None:
    """Write the machine as synthesizable Verilog: module `ctm`, file list, configuration, C header, waivers."""
    outcome = Outcome(json_wanted=json_wanted, files={})
    with outcome.reported():
        job = None if testbench is None else load_job(testbench)
        config = configuration(
            preset, settings, kind=None if job is None else job.kinds[0],
            draws=job is not None and job.draw is not None,
        )  # fmt: skip
        if job is not None:
            check_kinds(job, config)
            problem = hardware_problem(job, config)
            if problem:
                raise BadInput(f"--testbench {testbench}: {problem}")
        with Console(stderr=True).status("writing the machine as Verilog"):
            try:
                files = write_hardware(config, output, job)
            except ValueError as error:
                raise BadInput(str(error)) from None
        outcome.fields["files"] = {kind: str(path) for kind, path in files.items()}
        outcome.say(f"module {TOP}: {files['verilog']}; sources {files['list']}; configuration "
                    f"{files['configuration']}; registers {files['header']}; waivers "
                    f"for Verilator's linter {files['waivers']}")  # fmt: skip
        if job is not None:
            outcome.say(f"testbench {files['testbench']}; its first lines say how to run it; of tiny "
                        "Icarus runs 12 cycles a second; Verilator compiles for minutes, then is faster")  # fmt: skip
