"""``ctm synth``: what a unit takes of an FPGA, and how fast it runs there; what a whole machine takes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.options import Json, Preset, Settings, configuration, one_of
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.work import Work, work_folder
from ctm.sim.compiled import ToolchainError
from ctm.sim.files import STANDARD_OUTPUT, naming
from ctm.sim.synthesis import whole
from ctm.sim.synthesis.devices import DEFAULT_DEVICE, DEVICES
from ctm.sim.synthesis.flow import DEVICE, FREQUENCY, measure
from ctm.sim.synthesis.table import as_fields, machine_fields, print_machine, print_result
from ctm.sim.synthesis.units import UNITS, summary


def synth(
    unit: Annotated[
        str | None,
        typer.Option("--unit", metavar="NAME", help="The unit; --list lists them.", autocompletion=one_of(UNITS)),
    ] = None,
    list_wanted: Annotated[bool, typer.Option("--list", help="List the units and do nothing else.")] = False,
    preset: Preset = None,
    settings: Settings = None,
    device: Annotated[
        str,
        typer.Option(
            "--device",
            metavar="D",
            help=f"The FPGA that a machine is to fit: {', '.join(DEVICES)}. Cells only, but for an ECP5 (25k to 85k).",
            autocompletion=one_of(DEVICES),
        ),
    ] = DEFAULT_DEVICE,
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="First seed of the placement.")] = 1,
    seeds: Annotated[int, typer.Option("--seeds", min=1, metavar="K", help="Seeds to try, from --seed on.")] = 1,
    frequency: Annotated[
        float | None,
        typer.Option(
            "--frequency",
            min=1,
            metavar="MHz",
            help="Clock that is aimed at.",
            show_default=f"{FREQUENCY:.0f}, {whole.FREQUENCY:.0f} for machines",
        ),
    ] = None,
    area: Annotated[
        bool, typer.Option("--area", help="Of a machine the cells only: placing and routing one takes an hour or two.")
    ] = False,
    work: Work = None,
    json_wanted: Json = False,
) -> None:
    """What a unit (--unit) takes of an ECP5, or a machine (--preset) of an FPGA; docs/synthesis.md, docs/fpga.md.

    It is also placed and routed, a machine only where it fits an ECP5.
    """
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        is_machine = preset is not None or bool(settings)
        if work is not None and not is_machine:
            raise BadInput("--work is for a machine, with --preset or --set")
        if list_wanted:
            outcome.fields["units"] = units = {name: summary(name) for name in UNITS}
            if not json_wanted:
                typer.echo("\n".join(f"{name:{max(map(len, units))}}  {text}" for name, text in units.items()))
        elif is_machine:
            if unit is not None:
                raise BadInput("--unit is for a unit, --preset and --set are for a machine: not both")
            if device not in DEVICES:
                raise BadInput(f"--device: there is no device '{device}'; there are {', '.join(DEVICES)}")
            if seeds > 1 and (area or DEVICES[device].alone is None):
                raise BadInput("--seeds is for what is placed: an ECP5 (--device 25k to 85k), without --area")
            wanted = range(0) if area else range(seed, seed + seeds)
            config = configuration(preset, settings)
            with work_folder(work) as folder:
                _synthesise_machine(outcome, config, device, wanted, frequency or whole.FREQUENCY, folder)
        elif device != DEFAULT_DEVICE:
            raise BadInput(f"--device is for a machine, with --preset or --set; a unit is measured on an {DEVICE}")
        else:
            _synthesise_unit(outcome, unit, range(seed, seed + seeds), frequency or FREQUENCY)


def _synthesise_unit(outcome: Outcome, unit: str | None, seeds: range, frequency: float) -> None:
    if unit is None:
        raise BadInput("--unit or --preset is missing; --list lists the units")
    if unit not in UNITS:
        raise BadInput(f"--unit: there is no unit '{unit}'; there are {', '.join(UNITS)}")
    with _told(unit) as progress:
        result = measure(UNITS[unit](), seeds=seeds, frequency=frequency, progress=progress)
    outcome.fields |= {"unit": unit, "device": DEVICE, "target_frequency": frequency, **as_fields(result)}
    if not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            print_result(unit, result)


def _synthesise_machine(
    outcome: Outcome, config: MachineConfig, device: str, seeds: Sequence[int], frequency: float, folder: Path
) -> None:
    try:
        config.check_hardware()
    except ValueError as error:
        raise BadInput(str(error)) from None
    with _told("machine") as progress:
        found = whole.measure_machine(
            config, folder=folder, frequency=frequency, device=device, seeds=seeds, progress=progress
        )
    target = DEVICES[device]
    outcome.fields |= {"device": device, "target_frequency": frequency, **machine_fields(found, target)}
    if not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            print_machine(found, target)
    if found.unrouted and not found.placements:
        raise BadInput("the machine fits, but no seed is routed; try others with --seed, or a smaller machine")


@contextmanager
def _told(what: str) -> Iterator[Callable[[str], None]]:
    """A line that says what is being done; a tool that is missing, or fails, is bad input."""
    with Console(stderr=True).status(what) as status:
        try:
            yield lambda text: status.update(f"{what}: {text}")
        except ToolchainError as error:
            raise BadInput(str(error)) from None
