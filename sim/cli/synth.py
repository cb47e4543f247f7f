"""``ctm synth``: what a unit takes of an FPGA, and how fast it runs there."""

from typing import Annotated

import typer
from rich.console import Console

from ctm.sim.cli.options import Json, one_of
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.compiled import ToolchainError
from ctm.sim.files import STANDARD_OUTPUT, naming
from ctm.sim.synthesis.flow import DEVICE, FREQUENCY, measure
from ctm.sim.synthesis.table import as_fields, print_result
from ctm.sim.synthesis.units import UNITS, summary


def synth(
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="NAME", help="The unit; --list lists them.", autocompletion=one_of(UNITS)),
    ] = None,
    list_wanted: Annotated[bool, typer.Option("--list", help="List the units and do nothing else.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="First seed of placement.")] = 1,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="K", help="Seeds to try, from --seed on.")] = 1,
    frequency: Annotated[
        float, typer.Option("--frequency", min=1, metavar="MHz", help="Clock that the placer aims at.")
    ] = FREQUENCY,
    json_wanted: Json = False,
) -> None:
    """Synthesise a unit for an ECP5, place and route it; docs/synthesis.md says what is measured."""
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if list_wanted:
            outcome.fields["units"] = units = {name: summary(name) for name in UNITS}
            if not json_wanted:
                typer.echo("\n".join(f"{name:{max(map(len, units))}}  {text}" for name, text in units.items()))
            return
        if unit is None:
            raise BadInput("--unit is missing; --list lists the units")
        if unit not in UNITS:
            raise BadInput(f"--unit: there is no unit '{unit}'; there are {', '.join(UNITS)}")
        with Console(stderr=True).status(unit) as status:
            try:
                result = measure(
                    UNITS[unit](), seeds=range(seed, seed + seeds), frequency=frequency,
                    progress=lambda text: status.update(f"{unit}: {text}"),
                )  # fmt: skip
            except ToolchainError as error:
                raise BadInput(str(error)) from None
        outcome.fields |= {"unit": unit, "device": DEVICE, "target_frequency": frequency, **as_fields(result)}
        if not json_wanted:
            with naming(STANDARD_OUTPUT):
                print_result(unit, result)
