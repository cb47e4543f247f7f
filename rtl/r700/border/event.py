"""Events of a core's trace."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data


def event_layout(**fields: ShapeLike) -> data.StructLayout:
    """An event that happens in this cycle, if it is `valid`; its other fields are undefined if it is not."""
    return data.StructLayout({"valid": 1, **fields})
