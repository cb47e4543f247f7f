"""``ctm synth``: cells and clock of a unit or a whole machine on an FPGA."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ctm.rtl.config import MachineConfig
from ctm.sim.cli.options.machine import Json, Preset, Settings, configuration, finite, one_of
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.work import Work, work_folder
from ctm.sim.compiled import ToolchainError
from ctm.sim.files import STANDARD_OUTPUT, naming
from ctm.sim.synthesis import whole
from ctm.sim.synthesis.devices import DEFAULT_DEVICE, DEVICES
from ctm.sim.synthesis.families.ecp5 import ECP5
from ctm.sim.synthesis.flow import DEVICE, FREQUENCY, measure
from ctm.sim.synthesis.levels.measuring import UnknownUnitError, measure_levels
from ctm.sim.synthesis.levels.table import levels_fields, print_levels
from ctm.sim.synthesis.table import as_fields, machine_fields, print_machine, print_result
from ctm.sim.synthesis.units import UNITS, summary


def synth(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="UNITS",
            help="With --levels: only these units of the machine, by the last components of their names.",
            show_default=False,
        ),
    ] = None,
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
            help=f"The FPGA of a machine: {', '.join(DEVICES)}. Only an ECP5 (25k to 85k) is placed and routed.",
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
            help="Target clock.",
            callback=finite,
            show_default=f"{FREQUENCY:.0f}, {whole.FREQUENCY:.0f} for machines",
        ),
    ] = None,
    area: Annotated[
        bool, typer.Option("--area", help="Only count a machine's cells: placing and routing takes an hour or two.")
    ] = False,
    levels: Annotated[
        bool,
        typer.Option(
            "--levels",
            help="Measure the levels of a machine's mapped units on an ECP5, and the chains of units that a signal "
            "passes in one cycle. A level is a LUT4 of a path, or a cell with about the same delay: a carry chain, a "
            "multiplexer's select, a read of distributed memory. A multiplier is three.",
        ),
    ] = False,
    work: Work = None,
    json_wanted: Json = False,
) -> None:
    """Measure a unit (--unit) on an ECP5, or a machine (--preset) on an FPGA; docs/synthesis.md, docs/fpga.md.

    Both are placed and routed; a machine only if it fits an ECP5.
    """
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        is_machine = preset is not None or bool(settings)
        _reject(
            (work is not None and not is_machine, "--work is for a machine, with --preset or --set"),
            (levels and not is_machine, "--levels is for a machine, with --preset or --set"),
            (area and not is_machine, "--area is for a machine, with --preset or --set"),
            (bool(names) and not levels, "UNITS are for --levels; --unit is one that is measured by itself"),
        )
        if list_wanted:
            _list(outcome)
        elif is_machine:
            _reject((unit is not None, "--unit is for a unit, --preset and --set are for a machine: not both"))
            wanted = _Wanted(
                device=device, seeds=range(seed, seed + seeds), frequency=frequency or whole.FREQUENCY, area=area,
                levels=levels, names=names or (),
            )  # fmt: skip
            wanted.check()
            config = configuration(preset, settings)
            with work_folder(work) as folder:
                (_measure_levels if levels else _synthesise_machine)(outcome, config, wanted, folder)
        elif device != DEFAULT_DEVICE:
            raise BadInput(f"--device is for a machine, with --preset or --set; a unit is measured on an {DEVICE}")
        else:
            _synthesise_unit(outcome, unit, range(seed, seed + seeds), frequency or FREQUENCY)


@dataclass(frozen=True, kw_only=True)
class _Wanted:
    """What is measured of a machine."""

    device: str
    seeds: range
    frequency: float
    """Target clock in MHz."""
    area: bool
    levels: bool
    names: Sequence[str]
    """Units whose levels are measured; empty: all."""

    @property
    def placements(self) -> range:
        """Seeds of the placements; without --area and --levels, else none."""
        return range(0) if self.area or self.levels else self.seeds

    def check(self) -> None:
        """Raise `BadInput` where the device is unknown, or the options exclude each other."""
        device = DEVICES.get(self.device)
        if device is None:
            raise BadInput(f"--device: there is no device '{self.device}'; there are {', '.join(DEVICES)}")
        _reject(
            (
                len(self.seeds) > 1 and (not self.placements or device.alone is None),
                "--seeds is for placement: an ECP5 (--device 25k to 85k), without --area and --levels",
            ),
            (self.levels and device.family is not ECP5, "--levels is for an ECP5 (--device 25k to 85k)"),
            (self.levels and self.area, "--levels and --area exclude each other"),
        )


def _reject(*cases: tuple[bool, str]) -> None:
    """Raise `BadInput` with the message of the first case that holds."""
    for is_so, message in cases:
        if is_so:
            raise BadInput(message)


def _list(outcome: Outcome) -> None:
    outcome.fields["units"] = units = {name: summary(name) for name in UNITS}
    if not outcome.json_wanted:
        outcome.say("\n".join(f"{name:{max(map(len, units))}}  {text}" for name, text in units.items()))


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


def _synthesise_machine(outcome: Outcome, config: MachineConfig, wanted: _Wanted, folder: Path) -> None:
    _check_hardware(config)
    with _told("machine") as progress:
        found = whole.measure_machine(
            config, folder=folder, frequency=wanted.frequency, device=wanted.device, seeds=wanted.placements,
            progress=progress,
        )  # fmt: skip
    target = DEVICES[wanted.device]
    fields = machine_fields(found, target)
    outcome.fields |= {"device": wanted.device, "target_frequency": wanted.frequency, **fields}
    if not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            print_machine(found, target)
    if found.unrouted and not found.placements:
        raise BadInput("the machine fits, but no seed is routed; try others with --seed, or a smaller machine")


def _measure_levels(outcome: Outcome, config: MachineConfig, wanted: _Wanted, folder: Path) -> None:
    _check_hardware(config)
    with _told("machine") as progress:
        try:
            found = measure_levels(
                config, folder=folder, frequency=wanted.frequency, names=wanted.names, progress=progress
            )
        except UnknownUnitError as error:
            raise BadInput(str(error)) from None
    outcome.fields |= {"target_frequency": wanted.frequency, **levels_fields(found)}
    if not outcome.json_wanted:
        with naming(STANDARD_OUTPUT):
            print_levels(found)


def _check_hardware(config: MachineConfig) -> None:
    try:
        config.check_hardware()
    except ValueError as error:
        raise BadInput(str(error)) from None


@contextmanager
def _told(what: str) -> Iterator[Callable[[str], None]]:
    """A line with the current step; a tool that is missing, or fails, is bad input."""
    with Console(stderr=True).status(what) as status:
        try:
            yield lambda text: status.update(f"{what}: {text}")
        except ToolchainError as error:
            raise BadInput(str(error)) from None
