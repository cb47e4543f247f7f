"""Machines that are compiled soon, for tests in which any will do: they share their models."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctm.rtl.config import (
    DEFAULT_PRESETS,
    DRAW_PRESET,
    PRESETS,
    R700_DRAW,
    TINY,
    ArrayConfig,
    MachineConfig,
    with_settings,
)
from ctm.rtl.isa.limits import ADDRESS_SPACE

BEATS = with_settings(TINY, {"array.rate": 1, "memory.split": ADDRESS_SPACE})
"""The smallest preset with the arithmetic of one lane, which takes half of the time, and one port, which has slices."""
BEATS_OPTIONS = ("--preset", "tiny", "--set", "array.rate=1", "--set", f"memory.split={ADDRESS_SPACE}")
"""The same for a command."""
DRAW_BEATS = with_settings(R700_DRAW, {"array.rate": 1})
"""An R700 machine with draws, likewise."""
_ORDINARY: Mapping[str, tuple[MachineConfig, tuple[str, ...]]] = {
    "r5xx": (BEATS, BEATS_OPTIONS),
    "r700": (DRAW_BEATS, ("--preset", DRAW_PRESET, "--set", "array.rate=1")),
    "traced r700": (DRAW_BEATS, ("--preset", DRAW_PRESET, "--set", "array.rate=1")),
    "draws": (DRAW_BEATS, ("--preset", DRAW_PRESET, "--set", "array.rate=1")),
}
_NAMES = {**DEFAULT_PRESETS, "traced r700": DEFAULT_PRESETS["r700"], "draws": DRAW_PRESET}
_LONG = {kind: (PRESETS[name], ("--preset", name)) for kind, name in _NAMES.items()}
_PRESETS = "CTM_TEST_PRESETS"


def share_traced() -> None:
    """Let this process run the machine that draws on the two models of its traced one: it is compiled once."""
    from ctm.sim.engines.rtl import supply

    supply(DRAW_BEATS, _untraced)


def _untraced() -> Path:
    """The models of the traced machine, whose events are not read."""
    from ctm.sim.compiled.halves import standard
    from ctm.sim.compiled.tools.separate import build_separately
    from ctm.sim.engines.model import hardware
    from ctm.sim.engines.rtl import cores_source, wrapper
    from ctm.sim.engines.tracing.engine import traced_models

    config = hardware(DRAW_BEATS)
    around = wrapper(config, *cores_source(config))
    return build_separately(traced_models(config), around, standard=standard(config), tell=lambda: None)


def take_presets() -> None:
    """Let `machine` and `options` give the default machines of users, here and in processes that are started."""
    os.environ[_PRESETS] = "1"


def _chosen(kind: str) -> tuple[MachineConfig, tuple[str, ...]]:
    return (_LONG if os.environ.get(_PRESETS) == "1" else _ORDINARY)[kind]


def machine(kind: str) -> MachineConfig:
    """The machine on which compiled hardware is tried: a preset with --long, else one that is compiled soon.

    `kind` is an instruction set, "draws", or "traced r700" for one that is observed. Without --long programs of the
    R700 run on the machine that draws, too, and that on the models of the traced one, see `share_traced`.
    """
    return _chosen(kind)[0]


def options(kind: str) -> tuple[str, ...]:
    """The same for a command."""
    return _chosen(kind)[1]


def r700_array(**settings: int) -> ArrayConfig:
    """An array of the R700 whose settings with numbers are these."""
    fields: dict[str, Any] = dict(settings)
    return ArrayConfig(instruction_set="r700", **fields)
