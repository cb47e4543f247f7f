"""Events of a core's trace."""

from typing import Any

from amaranth.lib import data


def event_layout(**fields: Any) -> data.StructLayout:
    """An event of this cycle, if it is `valid`."""
    return data.StructLayout({"valid": 1, **fields})
