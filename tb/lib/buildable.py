"""Machines that can be built."""

from collections.abc import Mapping
from typing import Any

from ctm.rtl.config import MachineConfig, with_settings


def buildable(preset: MachineConfig, settings: Mapping[str, Any]) -> MachineConfig | None:
    """The preset with other settings; None if they do not fit together, or no hardware has them."""
    try:
        config = with_settings(preset, settings)
        config.check_hardware()
    except ValueError:
        return None
    return config
