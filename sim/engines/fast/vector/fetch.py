"""Fetches from an input at whole coordinates. Source: CTM Guide p. 6."""

from ctm.sim.engines.fast.vector.address import BufferParameters, Form, element_address
from ctm.sim.engines.fast.vector.elements import gather
from ctm.sim.engines.fast.vector.lanes import Lanes, Value
from ctm.sim.golden.mc.elements import NEIGHBOURS


def fetch(lanes: Lanes, form: Form, buffer: BufferParameters, x: Value, y: Value) -> list[Value]:
    """The elements (x, y), which exist, four floats; of an input in 2x2 mode the first channels of four neighbours.

    What is found is as wide as the wider one of the coordinates.
    """
    if not form.is_2x2:
        return gather(lanes, form, buffer.memory, element_address(lanes, form, buffer, x, y))
    fetched = []
    for right, up in NEIGHBOURS:
        at = _beside(lanes.of(x), x, right, buffer.width_limit), _beside(lanes.of(y), y, up, buffer.height_limit)
        fetched.append(gather(lanes, form, buffer.memory, element_address(lanes, form, buffer, *at))[0])
    return fetched


def clamped(lanes: Lanes, index: Value, limit: Value) -> Value:
    """Signed indices clamped to [0, limit - 1]; `limit` is a scalar."""
    last = lanes.builder.sub(lanes.splat(limit), lanes.integer(1))
    return lanes.apply("smax", lanes.apply("smin", index, last), lanes.none)


def _beside(lanes: Lanes, index: Value, distance: int, limit: Value) -> Value:
    """The next index, or the last one."""
    return clamped(lanes, lanes.builder.add(index, lanes.integer(distance)), limit) if distance else index
