"""Reads and writes of whole arrays of elements, with the conversion of their format.

Source: CTM Guide pp. 5-7. Channel 0 sits at the lowest address; missing channels read 0, 0, 1;
docs/design/choices.md has the rules for conversion, clamping and dropping.
"""

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import DataFormat
from ctm.rtl.isa.limits import CHANNELS
from ctm.rtl.isa.status import BusClient
from ctm.sim.golden import fp
from ctm.sim.golden.mc.address import Integers, element_address
from ctm.sim.golden.mc.buffer import Buffer
from ctm.sim.memory import Memory

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

# A dtype of the element's size that moves bits and never interprets them.
_CARRIER = {2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}
_MISSING = (0.0, 0.0, 0.0, 1.0)

NEIGHBOURS = ((1, 0), (0, 1), (1, 1), (0, 0))
"""Offsets that a 2x2 fetch reads into channels 0 to 3; p. 6."""


def read(memory: Memory, buffer: Buffer, x: Integers, y: Integers) -> Floats:
    """Elements at (x, y), which exist, as float32 [4, n]; the bits of FLOAT32 formats pass unchanged."""
    return read_at(memory, buffer, element_address(buffer, x, y))


def read_at(memory: Memory, buffer: Buffer, address: Integers) -> Floats:
    """As `read`, by byte addresses."""
    element = buffer.element
    raw = np.take(memory.view(_CARRIER[element.element_bytes]), address // element.element_bytes)
    result = np.empty((CHANNELS, address.size), np.float32)
    if buffer.format is DataFormat.UINT16_1:
        result[0] = fp.from_unorm16(raw)
    elif buffer.format is DataFormat.UINT8_4:
        result[:] = fp.from_unorm8(raw.view(np.uint8)).reshape(-1, CHANNELS).T
    else:
        result[: element.channels] = raw.view(np.float32).reshape(-1, element.channels).T
    for channel in range(element.channels, CHANNELS):
        result[channel] = _MISSING[channel]
    return result


def clamp_index(index: Integers, limit: int) -> Integers:
    """Clamp to edge: the nearest index in [0, limit - 1]."""
    return np.minimum(np.maximum(index, 0), limit - 1)


def fetch_addresses(buffer: Buffer, x: Integers, y: Integers) -> list[Integers]:
    """Byte addresses that a fetch at (x, y) reads, one array, or four in 2x2 mode."""
    if not buffer.is_2x2:
        return [element_address(buffer, x, y)]
    return [
        element_address(buffer, clamp_index(x + right, buffer.width_limit), clamp_index(y + up, buffer.height_limit))
        for right, up in NEIGHBOURS
    ]


def write(memory: Memory, buffer: Buffer, x: Integers, y: Integers, values: Floats, mask: Mask) -> None:
    """Store `values` [4, n] where `mask` [4, n] says so; pairs outside the buffer are dropped.

    Formats with fewer channels store the leading ones. Two writes of one element: the later in the arrays wins.
    """
    element = buffer.element
    exists = (x < buffer.width_limit) & (y < buffer.height_limit)
    address = element_address(buffer, x, y)
    wanted = exists & mask[: element.channels].any(axis=0)
    exists = memory.keep(BusClient.OUTPUT, address, element.element_bytes, wanted)
    channel_type = {1: np.uint8, 2: np.uint16, 4: np.uint32}[element.channel_bytes]
    space = memory.view(channel_type)
    first = address // element.channel_bytes
    for channel in range(element.channels):
        chosen = exists & mask[channel]
        stored = channel_bits(buffer, values[channel])
        if chosen.all():
            space[first + channel] = stored
        else:
            space[first[chosen] + channel] = stored[chosen]


def channel_bits(buffer: Buffer, values: Floats) -> npt.NDArray[np.generic]:
    """What a channel of `buffer` stores for float32 `values`."""
    if buffer.element.is_float:
        return values.view(np.uint32)
    return fp.to_unorm16(values) if buffer.format is DataFormat.UINT16_1 else fp.to_unorm8(values)
