"""Options of the machine's configuration, and those that every subcommand may have: they need no engine."""

import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from ctm.rtl.config import (
    DEFAULT,
    DEFAULT_PRESETS,
    DRAW_PRESET,
    PRESETS,
    TEXT_SETTINGS,
    MachineConfig,
    settings_of,
    with_settings,
)
from ctm.sim.cli.outcome import BadInput

# Arguments of --set as completion has them, without their values.
_SETTINGS = [f"{name}=" for name in settings_of(DEFAULT)]


def one_of(names: Iterable[str]) -> Callable[[str], list[str]]:
    """Shell completion with these names."""
    return lambda incomplete: [name for name in names if name.startswith(incomplete)]


def preset_option(otherwise: str) -> Any:
    """The option of a machine's configuration; `otherwise` names the default in the help."""
    return typer.Option(
        "--preset",
        metavar="P",
        help=f"Configuration of the machine: {', '.join(PRESETS)}.",
        autocompletion=one_of(PRESETS),
        show_default=otherwise,
    )


Preset = Annotated[
    str | None,
    preset_option(", ".join(f"{preset} for {kind.capitalize()} cores" for kind, preset in DEFAULT_PRESETS.items())),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="a.b=V",
        help="Change one setting of the machine, such as array.rate=1; repeatable.",
        autocompletion=one_of(_SETTINGS),
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output and nothing else.")]
_INSTRUCTION_SET = "array.instruction_set"


def finite(value: float | None) -> float | None:
    """Reject what is no frequency: the callback of an option that takes one."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"it is a number of MHz, not {value}")
    return value


def number(text: str) -> int:
    """A decimal or 0x number.

    Raises
    ------
    ValueError
        It is none.
    """
    return int(text, 16 if text.lower().startswith("0x") else 10)


def configuration(
    preset: str | None, settings: list[str] | None, *, kind: str | None = None, draws: bool = False
) -> MachineConfig:
    """The configuration that ``--preset`` and ``--set`` give.

    Without a preset it is the default one of the instruction set that ``--set`` names, else of `kind`, which is that of
    the programs that will run; with `draws` it is the one that draws.
    """
    if preset is not None and preset not in PRESETS:
        raise BadInput(f"--preset: there is no preset '{preset}'; there are {', '.join(PRESETS)}")
    values = dict(map(_setting, settings or []))
    if preset is None:
        wanted = values.get(_INSTRUCTION_SET, kind or DEFAULT.array.instruction_set)
        # A wrong name is told below, as of any other setting.
        preset = DEFAULT_PRESETS.get(str(wanted), DEFAULT_PRESETS[DEFAULT.array.instruction_set])
        if draws and preset == DEFAULT_PRESETS["r700"]:
            preset = DRAW_PRESET
    try:
        return with_settings(PRESETS[preset], values)
    except ValueError as error:
        raise BadInput(f"--set {error}") from None


def _setting(text: str) -> tuple[str, int | str]:
    """Name and value of one ``--set``."""
    name, equals, value = text.partition("=")
    name = name.strip()
    if name in TEXT_SETTINGS:
        return name, value.strip()
    try:
        return name, number(value.strip())
    except ValueError:
        problem = "has no value" if not equals else f"'{value}' is no number"
        raise BadInput(f"--set {text}: {problem}; write it as a.b=V") from None
