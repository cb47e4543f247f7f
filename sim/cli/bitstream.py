"""``ctm bitstream``: the bitstream of a board's FPGA."""

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ctm.rtl.isa.link import BAUD
from ctm.sim.boards.bitstream import HERTZ, Bitstream, BitstreamError, bitstream, require_packages
from ctm.sim.boards.design import design
from ctm.sim.boards.target import TARGETS, Target
from ctm.sim.cli.options.machine import Json, Settings, configuration, finite, one_of, preset_option
from ctm.sim.cli.outcome import BadInput, Outcome
from ctm.sim.cli.work import Work, work_folder
from ctm.sim.compiled import ToolchainError
from ctm.sim.files import STANDARD_OUTPUT, naming, try_files, write_file
from ctm.sim.synthesis.devices import DEVICES
from ctm.sim.synthesis.table import print_placements

_PRESETS = ", ".join(f"{target.preset} on {board}" for board, target in TARGETS.items())
"""The default preset of each board, for the help."""
_CLOCKS = ", ".join(f"{target.usual / HERTZ:g} on {board}" for board, target in TARGETS.items() if target.usual)
"""The default clock in MHz of each board with a clock to choose, likewise."""


def make_bitstream(
    board: Annotated[
        str,
        typer.Option("--board", metavar="B", help=f"The board: {', '.join(TARGETS)}.", autocompletion=one_of(TARGETS)),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The bitstream.")] = Path("ctm.bit"),
    seed: Annotated[int, typer.Option("--seed", min=0, metavar="N", help="First seed of the placement.")] = 1,
    seeds: Annotated[
        int, typer.Option("--seeds", min=1, metavar="K", help="Seeds to try, from --seed on, until one succeeds.")
    ] = 3,
    speed: Annotated[
        int, typer.Option("--serial-speed", min=1, metavar="BAUD", help="Bits per second of the serial line.")
    ] = BAUD,
    frequency: Annotated[
        float | None,
        typer.Option(
            "--frequency",
            metavar="MHz",
            help="The clock.",
            callback=finite,
            show_default=f"{_CLOCKS}, else the board's own",
        ),
    ] = None,
    preset: Annotated[str | None, preset_option(_PRESETS)] = None,
    settings: Settings = None,
    allow_slow: Annotated[
        bool, typer.Option("--allow-slow", help="Write the bitstream even if its clock is slower than the board's.")
    ] = False,
    work: Work = None,
    json_wanted: Json = False,
) -> None:
    """Make the bitstream of a board with the machine, its memory and a serial port; docs/fpga.md.

    Synthesis takes minutes, placing and routing half an hour or more for each seed.
    """
    outcome = Outcome(json_wanted=json_wanted)
    with outcome.reported():
        if board not in TARGETS:
            raise BadInput(f"--board: there is no board '{board}'; there are {', '.join(TARGETS)}")
        target = TARGETS[board]
        config = configuration(target.preset if preset is None else preset, settings)
        try_files({output: 0}, make_folders=True)
        with ExitStack() as stack:
            status = stack.enter_context(Console(stderr=True).status(board))
            folder = stack.enter_context(work_folder(work))
            status.update(f"{board}: writing the board")
            try:
                require_packages(target)
                config.check_hardware()
                wanted = design(target, config, baud=speed, frequency=_hertz(frequency))
                made = bitstream(
                    wanted, seeds=range(seed, seed + seeds), folder=folder, allow_slow=allow_slow,
                    progress=lambda text: status.update(f"{board}: {text}"),
                )  # fmt: skip
            except (BitstreamError, ToolchainError, ValueError) as error:
                raise BadInput(str(error)) from None
        write_file(output, made.content, make_folders=True)
        outcome.fields |= {
            "bitstream": str(output), "cells": asdict(made.cells), "frequency": made.placement.frequency,
            "wanted_frequency": made.wanted, "seed": made.placement.seed,
            "critical_path": asdict(made.placement.critical_path),
        }  # fmt: skip
        if not json_wanted:
            _print(made, target)
        outcome.say(f"{output}: load it with {target.loads} {output}")


def _print(made: Bitstream, target: Target) -> None:
    """Print cells, clock and critical path."""
    device = DEVICES[target.device]
    with naming(STANDARD_OUTPUT):
        console = Console()
        kinds = device.family.kinds.items()
        used = (f"{getattr(made.cells, kind):,} of {getattr(device.capacity, kind):,} {name}" for kind, name in kinds)
        console.print(", ".join(used))
        print_placements(console, (made.placement,))


def _hertz(frequency: float | None) -> int | None:
    return None if frequency is None else round(frequency * HERTZ)
