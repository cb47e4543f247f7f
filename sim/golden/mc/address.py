"""Address translation: an index pair to the byte address of its element.

Source: CTM Guide p. 6, tables 1 and 2. Pitch bit 13, which the tables use and no format word has, is 0.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from ctm.rtl.isa.formats import LINEAR_ROW_ALIGNMENT, TILE_LOG2
from ctm.rtl.isa.limits import ADDRESS_SPACE
from ctm.sim.golden.mc.buffer import Buffer

Integers = npt.NDArray[np.signedinteger]
TILE_BYTES = 2048


@cache
def _tile_offsets(element_bytes: int) -> Integers:
    """Byte offset inside a tile, by the low bits {y[Y:0], x[X:0]}.

    One bit more than the tile has matters in each direction: neighbouring tiles are mirrored, which the exclusive ORs
    of table 2 do.
    """
    width_log2, height_log2 = TILE_LOG2[element_bytes]
    size_log2 = element_bytes.bit_length() - 1
    y, x = np.mgrid[0 : 2 << height_log2, 0 : 2 << width_log2]

    def bit(value: Integers, index: int) -> Integers:
        return value >> index & 1

    low_x = x & (1 << width_log2 - 3) - 1
    low_y = y & (1 << height_log2 - 3) - 1
    offset = (low_y << width_log2 - 3 | low_x) << size_log2
    offset |= bit(x, width_log2 - 3) << 5
    offset |= bit(y, height_log2 - 3) << 6
    offset |= (bit(x, width_log2 - 2) ^ bit(y, height_log2 - 1)) << 7
    offset |= (bit(y, height_log2 - 2) ^ bit(x, width_log2 - 1)) << 8
    offset |= (bit(x, width_log2 - 1) ^ bit(y, height_log2)) << 9
    offset |= (bit(y, height_log2 - 1) ^ bit(x, width_log2)) << 10
    table: Integers = offset.astype(np.int64).ravel()
    return table


def element_address(buffer: Buffer, x: Integers, y: Integers) -> Integers:
    """Byte addresses of the elements (x, y), both inside the coordinate limit; they wrap at 4 GiB."""
    size = buffer.element.element_bytes
    x, y = x.astype(np.int64), y.astype(np.int64)
    if buffer.is_tiled:
        width_log2, height_log2 = TILE_LOG2[size]
        tile = (y >> height_log2) * (buffer.pitch >> width_log2) + (x >> width_log2)
        inside = (y & (2 << height_log2) - 1) << width_log2 + 1 | x & (2 << width_log2) - 1
        address = tile * TILE_BYTES + np.take(_tile_offsets(size), inside)
    else:
        row = buffer.pitch * size // LINEAR_ROW_ALIGNMENT * LINEAR_ROW_ALIGNMENT
        address = y * row + x * size
    address += buffer.base
    if buffer.base + (1 << 30) > ADDRESS_SPACE:
        address %= ADDRESS_SPACE
    return address


def extent(buffer: Buffer) -> int:
    """Bytes from the base to the end of the last element that exists, whole tiles counted; 0 where none exists."""
    size = buffer.element.element_bytes
    width, height = buffer.width_limit, buffer.height_limit
    if width == 0:
        return 0
    if buffer.is_tiled:
        width_log2, height_log2 = TILE_LOG2[size]
        last_row = (height - 1 >> height_log2) * (buffer.pitch >> width_log2)
        return (last_row + (width - 1 >> width_log2) + 1) * TILE_BYTES
    row = buffer.pitch * size // LINEAR_ROW_ALIGNMENT * LINEAR_ROW_ALIGNMENT
    return (height - 1) * row + width * size
