"""Events of a core's trace."""

from amaranth.hdl import ShapeLike
from amaranth.lib import data


def event_layout(**fields: ShapeLike) -> data.StructLayout:
    """An event of this cycle, if it is `valid`."""
    return data.StructLayout({"valid": 1, **fields})
