"""Arrays of the R700 with some settings."""

from typing import Any

from ctm.rtl.config import ArrayConfig


def r700_array(**settings: int) -> ArrayConfig:
    """An array of the R700 whose settings with numbers are these."""
    fields: dict[str, Any] = dict(settings)
    return ArrayConfig(instruction_set="r700", **fields)
