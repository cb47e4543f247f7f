"""A machine that is compiled soon, for tests in which any will do: they share its models."""

from ctm.rtl.config import TINY, with_settings

BEATS = with_settings(TINY, {"array.rate": 1})
"""The smallest preset with the arithmetic of one lane, which takes half of the time."""
BEATS_OPTIONS = ("--preset", "tiny", "--set", "array.rate=1")
"""The same for a command."""
